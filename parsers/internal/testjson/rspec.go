package testjson

import (
	"cmp"
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
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

type rspecSummary struct {
	Duration parsed.AnyNumber  `json:"duration"`
	Examples *parsed.AnyNumber `json:"example_count"`
	Failures *parsed.AnyNumber `json:"failure_count"`
	Pending  *parsed.AnyNumber `json:"pending_count"`
	Errors   parsed.AnyNumber  `json:"errors_outside_of_examples_count"`
}

func detectRSpec(h sniff.Head) bool {
	return h.JSON("examples", "summary_line") || h.JSON("examples.[].full_description", "examples.[].status")
}

func parseRSpec(r io.Reader) (parsed.Report, error) {
	s := &parsed.Outcomes{}
	s.Several = true
	return s.Documents(r, "rspec", func(j *jsonstream.Reader) error { return readRSpec(j, s) })
}

func readRSpec(j *jsonstream.Reader, s *parsed.Outcomes) error {
	var sum *rspecSummary
	var messages []parsed.AnyText
	before, listed := s.Totals, false
	err := parsed.Members(j, map[string]any{"summary": &sum, "messages": &messages, "examples": func() error {
		listed = true
		return parsed.Items(j, func(e rspecExample) { s.Add(e.test()) })()
	}})
	if err := parsed.Shape(j, err, listed && sum != nil, "this is no report of RSpec: it has no examples or no summary"); err != nil {
		return err
	}
	sum.check(s, before)
	if sum.Errors > 0 {
		rspecErrors(s, messages)
	}
	return nil
}

func (sum *rspecSummary) check(s *parsed.Outcomes, before parsed.Totals) {
	s.Stated("examples", sum.Examples, s.Totals.Tests-before.Tests)
	s.StatedFails("failures", sum.Failures, s.Failed()-before.Failed-before.Errors)
	s.Stated("pending examples", sum.Pending, s.Totals.Skipped-before.Skipped)
	s.Took += sum.Duration.In(time.Second)
}

// rspecErrors takes the errors outside of examples. The messages name the file
// that could not be loaded, or the hook.
func rspecErrors(s *parsed.Outcomes, messages []parsed.AnyText) {
	found := false
	for _, m := range messages {
		for _, part := range rspecError.FindAllStringSubmatchIndex(string(m), -1) {
			found = true
			name, why := string(m)[part[2]:part[3]], string(m)[part[0]:]
			if file := rspecFile.FindString(name + "\n" + why); file != "" {
				name = file
			}
			s.Breaks(name, why)
		}
	}
	if !found {
		s.Breaks("rspec", cmp.Or(parsed.JoinTexts(messages, "\n"), "an error occurred outside of the examples"))
	}
}

var rspecError = regexp.MustCompile(`An error occurred (?:while loading|in an?) (.+?)\.\s`)

// rspecFile is the file of a specification, as examples name it.
var rspecFile = regexp.MustCompile(`\./\S+?_spec\.rb`)

func (e rspecExample) test() metric.Test {
	full, name := string(e.FullDescription), string(cmp.Or(e.Description, e.FullDescription))
	out := metric.Test{
		ID:       metric.ID{Suite: string(e.FilePath), Class: strings.TrimSpace(strings.TrimSuffix(full, name)), Name: name},
		Duration: e.RunTime.In(time.Second), File: string(e.FilePath), Line: e.Line.Whole(),
	}
	if x := e.Exception; x != nil {
		out.Message = parsed.JoinMessage(string(x.Class)+": "+strings.TrimSpace(string(x.Message)), parsed.JoinTexts(x.Backtrace, "\n"))
	}
	switch e.Status {
	case "passed":
		out.Status = metric.Passed
	case "failed":
		out.Status = metric.Failed
	case "pending":
		out.Status, out.Message = metric.Skipped, string(e.PendingMessage)
	default:
		out.Status, out.Message = metric.Errored, "it has the unknown status "+e.Status
	}
	return out
}
