package parsers

import (
	"cmp"
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/metric"
)

// rspecExample is one example of RSpec's JSON formatter.
type rspecExample struct {
	Description     text   `json:"description"`
	FullDescription text   `json:"full_description"`
	Status          string `json:"status"`
	FilePath        text   `json:"file_path"`
	Line            number `json:"line_number"`
	RunTime         number `json:"run_time"` // seconds
	PendingMessage  text   `json:"pending_message"`
	Exception       *struct {
		Class     text   `json:"class"`
		Message   text   `json:"message"`
		Backtrace []text `json:"backtrace"`
	} `json:"exception"`
}

type rspecSummary struct {
	Duration number  `json:"duration"`
	Examples *number `json:"example_count"`
	Failures *number `json:"failure_count"`
	Pending  *number `json:"pending_count"`
	Errors   number  `json:"errors_outside_of_examples_count"`
}

func detectRSpec(h sniff.Head) bool {
	return h.JSON("examples", "summary_line") || h.JSON("examples.[].full_description", "examples.[].status")
}

func parseRSpec(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "rspec", func(j *jsonstream.Reader) error { return readRSpec(j, s) })
}

func readRSpec(j *jsonstream.Reader, s *outcomes) error {
	var sum *rspecSummary
	var messages []text
	before, listed := s.totals, false
	err := j.Object(func(name string) error {
		switch name {
		case "examples":
			listed = true
			return j.Array(func() error {
				var e rspecExample
				if err := j.Value(&e); err != nil {
					return err
				}
				s.add(e.test())
				return nil
			})
		case "summary":
			return j.Value(&sum)
		case "messages":
			return j.Value(&messages)
		}
		return j.Skip()
	})
	switch {
	case err != nil:
		return err
	case !listed || sum == nil:
		return otherShape(j, "this is no report of RSpec: it has no examples or no summary")
	}
	sum.check(s, before)
	if sum.Errors > 0 {
		rspecErrors(s, messages)
	}
	return nil
}

func (sum *rspecSummary) check(s *outcomes, before Totals) {
	for _, c := range []struct {
		what    string
		stated  *number
		counted int
	}{
		{"examples", sum.Examples, s.totals.Tests - before.Tests},
		{"failures", sum.Failures, s.failed() - before.Failed - before.Errors},
		{"pending examples", sum.Pending, s.totals.Skipped - before.Skipped},
	} {
		if c.stated != nil {
			s.declares(c.what, float64(*c.stated), c.counted)
		}
	}
	s.took += sum.Duration.in(time.Second)
}

// rspecErrors takes the errors outside of examples. The messages name the file
// that could not be loaded, or the hook.
func rspecErrors(s *outcomes, messages []text) {
	found := false
	for _, m := range messages {
		for _, part := range rspecError.FindAllStringSubmatchIndex(string(m), -1) {
			found = true
			name, why := string(m)[part[2]:part[3]], string(m)[part[0]:]
			if file := rspecFile.FindString(name + "\n" + why); file != "" {
				name = file
			}
			s.breaks(name, why)
		}
	}
	if !found {
		s.breaks("rspec", cmp.Or(joinTexts(messages, "\n"), "an error occurred outside of the examples"))
	}
}

var rspecError = regexp.MustCompile(`An error occurred (?:while loading|in an?) (.+?)\.\s`)

// rspecFile is the file of a specification, as examples name it.
var rspecFile = regexp.MustCompile(`\./\S+?_spec\.rb`)

func (e rspecExample) test() metric.Test {
	full, name := string(e.FullDescription), string(cmp.Or(e.Description, e.FullDescription))
	out := metric.Test{
		ID:       metric.ID{Suite: string(e.FilePath), Class: strings.TrimSpace(strings.TrimSuffix(full, name)), Name: name},
		Duration: e.RunTime.in(time.Second), File: string(e.FilePath), Line: e.Line.whole(),
	}
	if x := e.Exception; x != nil {
		out.Message = joinedMessage(string(x.Class)+": "+strings.TrimSpace(string(x.Message)), joinTexts(x.Backtrace, "\n"))
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
