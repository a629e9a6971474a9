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
	mismatch       string        // the path of the first mismatch; see [item]
}

// documentParser returns a function that parses a report by calling read for each of its
// documents. Producer is the name of the tool, "" if read sets it.
func documentParser(producer string, read func(*document) error) func(io.Reader) (parsed.Report, error) {
	return func(r io.Reader) (parsed.Report, error) {
		s, producer := &parsed.Outcomes{}, producer
		return s.ReadDocuments(r, &producer, func(j *jsonstream.Reader) error {
			d := &document{Reader: j, Outcomes: s, producer: &producer, previousTotals: s.Totals}
			return d.checkMismatch(read(d))
		})
	}
}

// checkMismatch returns err. If that is nil and a value was of a wrong kind, it returns an error
// that says so.
func (d *document) checkMismatch(err error) error {
	if err == nil && d.mismatch != "" {
		err = d.Error(mismatchProblem, d.mismatch)
	}
	return err
}

// shape says which members of a document a reader needs. All others are skipped.
type shape struct {
	tool     string                // named in errors
	outer    string                // the member that contains the others, "" if the document does
	required []string              // members that every report of the tool has
	kept     []string              // members to return
	lists    map[string]func(item) // functions to call with each item of a member that is a list
}

// readObject reads a document that is an object, and returns the members to keep. A list is
// returned as true. It is the error of shapeError if a required member is missing.
func (d *document) readObject(s shape) (item, error) {
	members := map[string]any{}
	readMembers := func() error {
		return d.Object(func(name string) (err error) {
			handle, isList := s.lists[name]
			switch {
			case isList:
				members[name] = true
				return d.eachItem(func(v item) error {
					handle(v)
					return nil
				})
			case slices.Contains(s.kept, name):
				members[name], err = decode(d.Reader)
				return err
			}
			return d.Skip()
		})
	}

	var err error
	if s.outer == "" {
		err = readMembers()
	} else {
		err = parsed.ReadMembers(d.Reader, map[string]any{s.outer: readMembers})
	}
	isMissing := func(name string) bool { return members[name] == nil }
	if err == nil && slices.ContainsFunc(s.required, isMissing) {
		err = d.shapeError(s.tool, s.required...)
	}
	return item{members, &d.mismatch}, err
}

// eachItem reads an array and calls handle with each item.
func (d *document) eachItem(handle func(item) error) error {
	return d.Array(func() error {
		value, err := decode(d.Reader)
		if err == nil {
			err = handle(item{value, &d.mismatch})
		}
		return d.checkMismatch(err)
	})
}

// readList reads a document that is an array. It calls handle with each item.
func (d *document) readList(tool string, handle func(item) error) error {
	if d.Kind() == '[' {
		return d.eachItem(handle)
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
