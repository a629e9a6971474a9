package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readRSpec reads a report of RSpec's JSON formatter, and checks its totals.
//
//	{"examples": [{"description": "adds", "full_description": "Calc adds", "status": "passed", "file_path": "./spec/a_spec.rb",
//	 "line_number": 3, "run_time": 0.01}], "summary": {"duration": 0.1, "example_count": 1, "failure_count": 0}}
func readRSpec(d *document) error {
	d.NumberRepeats = true
	root, err := d.readObject(shape{
		tool: "RSpec", required: []string{"examples", "summary"}, kept: []string{"summary", "messages"},
		lists: map[string]func(item){"examples": func(e item) { d.Add(rspecTest(e)) }},
	})
	if err != nil {
		return err
	}
	n, summary := d.documentTotals(), root.at("summary")
	d.CheckTotal("examples", summary.total("example_count"), n.Tests)
	d.CheckFailures("failures", summary.total("failure_count"), n.Unsuccessful())
	d.CheckTotal("pending examples", summary.total("pending_count"), n.Skipped)
	d.Duration += summary.number("duration").In(time.Second)
	if summary.number("errors_outside_of_examples_count") > 0 {
		addRSpecErrors(d.Outcomes, root.texts("messages"))
	}
	return nil
}

// addRSpecErrors adds the errors outside of examples. The messages name the file that
// could not be loaded, or the hook.
func addRSpecErrors(s *parsed.Outcomes, messages []string) {
	found := false
	for _, m := range messages {
		for _, part := range rspecErrorPattern.FindAllStringSubmatchIndex(m, -1) {
			found = true
			name, message := m[part[2]:part[3]], m[part[0]:]
			s.AddBroken(cmp.Or(rspecFilePattern.FindString(name+"\n"+message), name), message)
		}
	}
	if !found {
		s.AddBroken("rspec", cmp.Or(joinLines(messages...), "an error occurred outside of the examples"))
	}
}

var (
	// rspecErrorPattern matches the first words of an error, which name where it is, and the
	// white space after them: "An error occurred while loading ./spec/a_spec.rb. ", or "An
	// error occurred in a `before(:suite)` hook. "
	rspecErrorPattern = regexp.MustCompile(`An error occurred (?:while loading|in an?) (.+?)\.\s`)
	// rspecFilePattern matches a specification file, as examples name it: "./spec/a_spec.rb".
	rspecFilePattern = regexp.MustCompile(`\./\S+?_spec\.rb`)
)

// rspecTest returns the test of an example. Its class is the part of the full description
// before its own.
func rspecTest(e item) metric.Test {
	full, file := e.text("full_description"), e.text("file_path")
	name := cmp.Or(e.text("description"), full)
	out := metric.Test{
		ID:       metric.ID{Suite: file, Class: strings.TrimSpace(strings.TrimSuffix(full, name)), Name: name},
		Duration: e.number("run_time").In(time.Second), File: file, Line: e.integer("line_number"),
	}
	if e.has("exception") {
		message := e.text("exception.class") + ": " + strings.TrimSpace(e.text("exception.message"))
		out.Message = parsed.JoinMessage(message, e.text("exception.backtrace"))
	}
	if setStatus(&out, rspecStatuses, e.text("status")); out.Status == metric.Skipped {
		out.Message = e.text("pending_message")
	}
	return out
}

// rspecStatuses maps the statuses of RSpec.
var rspecStatuses = map[string]metric.Status{"passed": metric.Passed, "failed": metric.Failed, "pending": metric.Skipped}
