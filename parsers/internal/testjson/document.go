package testjson

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// document reads one JSON document of a report. It adds the tests to those of the report, which
// may have several documents.
type document struct {
	*jsonstream.Reader
	*parsed.Outcomes
	producer       *string       // name of the tool that wrote the report; read may change it
	previousTotals parsed.Totals // the totals of the documents before this one
}

// documentParser returns a function that parses a report by calling read for each of its
// documents. Producer is the name of the tool, "" if read sets it.
func documentParser(producer string, read func(*document) error) func(io.Reader) (parsed.Report, error) {
	return func(r io.Reader) (parsed.Report, error) {
		s, producer := &parsed.Outcomes{}, producer
		return s.ReadDocuments(r, &producer, func(j *jsonstream.Reader) error {
			return read(&document{j, s, &producer, s.Totals})
		})
	}
}

// readMembers reads an object as [parsed.ReadMembers] does. An object without one of the
// required members is not a report of the tool, and the error is that of shapeError.
func (d *document) readMembers(tool string, required []string, members map[string]any) error {
	found := map[string]bool{}
	err := d.Object(func(name string) error {
		switch target := members[name].(type) {
		case nil:
			return d.Skip()
		case func() error:
			found[name] = true
			return target()
		default:
			found[name] = found[name] || d.Kind() != 'n'
			return d.Value(target)
		}
	})
	isMissing := func(name string) bool { return !found[name] }
	if err == nil && slices.ContainsFunc(required, isMissing) {
		return d.shapeError(tool, required...)
	}
	return err
}

// readList reads a document that is an array. It calls read for each item.
func (d *document) readList(tool string, read func() error) error {
	if d.Kind() == '[' {
		return d.Array(read)
	}
	if err := d.Skip(); err != nil {
		return err
	}
	return d.shapeError(tool, "list")
}

// shapeError returns the error for a complete document that is not a report of the tool, since
// a required member is missing.
func (d *document) shapeError(tool string, required ...string) error {
	return parsed.ShapeError(d.Reader, fmt.Sprintf("this is not a report of %s: it has no %s", tool, strings.Join(required, " or no ")))
}

// documentTotals returns the totals of this document alone.
func (d *document) documentTotals() parsed.Totals { return d.Totals.Minus(d.previousTotals) }

// setStatus sets the status of a test from the word in the report. An unknown word is an error
// of the test.
func setStatus(t *metric.Test, statuses map[string]metric.Status, word string) {
	if t.Status = statuses[word]; t.Status == 0 {
		t.Status, t.Message = metric.Errored, parsed.JoinMessage("it has the unknown status "+word, t.Message)
	}
}
