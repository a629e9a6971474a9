package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// rspecExample is one example of RSpec's JSON formatter.
type rspecExample struct {
	Description     parsed.AnyText   `json:"description"`
	FullDescription parsed.AnyText   `json:"full_description"`
	Status          string           `json:"status"`
	FilePath        parsed.AnyText   `json:"file_path"`
	Line            parsed.AnyNumber `json:"line_number"`
	RunTime         parsed.AnyNumber `json:"run_time"` // seconds
	PendingMessage  parsed.AnyText   `json:"pending_message"`
	Exception       *struct {
		Class     parsed.AnyText   `json:"class"`
		Message   parsed.AnyText   `json:"message"`
		Backtrace []parsed.AnyText `json:"backtrace"`
	} `json:"exception"`
}

// rspecSummary has the totals of a report. One that is nil is not stated. The duration is in
// seconds.
type rspecSummary struct {
	Duration parsed.AnyNumber  `json:"duration"`
	Examples *parsed.AnyNumber `json:"example_count"`
	Failures *parsed.AnyNumber `json:"failure_count"`
	Pending  *parsed.AnyNumber `json:"pending_count"`
	Errors   parsed.AnyNumber  `json:"errors_outside_of_examples_count"`
}

// readRSpec reads a report of RSpec, and checks its totals.
func readRSpec(d *document) error {
	var sum rspecSummary
	var messages []parsed.AnyText
	d.NumberRepeats = true
	err := d.readMembers("RSpec", []string{"examples", "summary"}, map[string]any{
		"summary": &sum, "messages": &messages, "examples": parsed.ItemReader(d.Reader, func(e rspecExample) { d.Add(e.toTest()) }),
	})
	if err != nil {
		return err
	}
	n := d.documentTotals()
	d.CheckOptionalTotal("examples", sum.Examples, n.Tests)
	d.CheckOptionalFailures("failures", sum.Failures, n.Unsuccessful())
	d.CheckOptionalTotal("pending examples", sum.Pending, n.Skipped)
	d.Duration += sum.Duration.In(time.Second)
	if sum.Errors > 0 {
		addRSpecErrors(d.Outcomes, messages)
	}
	return nil
}

// addRSpecErrors adds the errors outside of examples. The messages name the file that
// could not be loaded, or the hook.
func addRSpecErrors(s *parsed.Outcomes, messages []parsed.AnyText) {
	found := false
	for _, m := range messages {
		for _, part := range rspecErrorPattern.FindAllStringSubmatchIndex(string(m), -1) {
			found = true
			name, message := string(m)[part[2]:part[3]], string(m)[part[0]:]
			s.AddBroken(cmp.Or(rspecFilePattern.FindString(name+"\n"+message), name), message)
		}
	}
	if !found {
		s.AddBroken("rspec", cmp.Or(parsed.JoinTexts(messages, "\n"), "an error occurred outside of the examples"))
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

// toTest returns the test of an example. Its class is the part of the full description before
// its own.
func (e rspecExample) toTest() metric.Test {
	full, name := string(e.FullDescription), string(cmp.Or(e.Description, e.FullDescription))
	out := metric.Test{
		ID:       metric.ID{Suite: string(e.FilePath), Class: strings.TrimSpace(strings.TrimSuffix(full, name)), Name: name},
		Duration: e.RunTime.In(time.Second), File: string(e.FilePath), Line: e.Line.Int(),
	}
	if x := e.Exception; x != nil {
		out.Message = parsed.JoinMessage(string(x.Class)+": "+strings.TrimSpace(string(x.Message)), parsed.JoinTexts(x.Backtrace, "\n"))
	}
	if setStatus(&out, rspecStatuses, e.Status); out.Status == metric.Skipped {
		out.Message = string(e.PendingMessage)
	}
	return out
}

// rspecStatuses maps the statuses of RSpec.
var rspecStatuses = map[string]metric.Status{"passed": metric.Passed, "failed": metric.Failed, "pending": metric.Skipped}
