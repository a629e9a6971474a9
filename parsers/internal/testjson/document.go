package testjson

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// document is one JSON document of a report, and what was read of the report so far.
type document struct {
	*jsonstream.Reader
	*parsed.Outcomes
	producer *string       // the tool that wrote the report
	before   parsed.Totals // of the documents before this one
}

// documents returns a function that reads a report document by document. A document may
// name another producer.
func documents(producer string, read func(*document) error) func(io.Reader) (parsed.Report, error) {
	return func(r io.Reader) (parsed.Report, error) {
		s, producer := &parsed.Outcomes{}, producer
		return s.Documents(r, &producer, func(j *jsonstream.Reader) error {
			return read(&document{j, s, &producer, s.Totals})
		})
	}
}

// members reads an object; see [parsed.Members]. A document in which one of the needed
// members is missing is not a report of the tool.
func (d *document) members(tool string, need []string, members map[string]any) error {
	has := map[string]bool{}
	err := d.Object(func(name string) error {
		switch to := members[name].(type) {
		case nil:
			return d.Skip()
		case func() error:
			has[name] = true
			return to()
		default:
			has[name] = has[name] || d.Kind() != 'n'
			return d.Value(to)
		}
	})
	for _, name := range need {
		if err == nil && !has[name] {
			return d.otherShape(tool, need...)
		}
	}
	return err
}

// list reads a document that is a list.
func (d *document) list(tool string, read func() error) error {
	if d.Kind() == '[' {
		return d.Array(read)
	}
	if err := d.Skip(); err != nil {
		return err
	}
	return d.otherShape(tool, "list")
}

// otherShape is the error of a complete document that is not a report of the tool.
func (d *document) otherShape(tool string, need ...string) error {
	return parsed.OtherShape(d.Reader, fmt.Sprintf("this is not a report of %s: it has no %s", tool, strings.Join(need, " or no ")))
}

// counts returns the sums over the tests of this document.
func (d *document) counts() parsed.Totals { return d.Totals.Minus(d.before) }

// items reads an array item by item.
func items[T any](d *document, take func(T)) func() error { return parsed.Items(d.Reader, take) }

// setStatus sets the status of a test from the word that the tool has for it. A word that
// is not known is an error.
func setStatus(t *metric.Test, words map[string]metric.Status, word string) {
	if t.Status = words[word]; t.Status == 0 {
		t.Status, t.Message = metric.Errored, parsed.JoinMessage("it has the unknown status "+word, t.Message)
	}
}
