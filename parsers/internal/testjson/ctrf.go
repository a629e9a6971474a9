package testjson

import (
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// ctrfTest is one test of the Common Test Report Format: https://ctrf.io
type ctrfTest struct {
	Name      parsed.AnyText   `json:"name"`
	Status    string           `json:"status"`
	RawStatus string           `json:"rawStatus"`
	Duration  parsed.AnyNumber `json:"duration"` // milliseconds
	Message   parsed.AnyText   `json:"message"`
	Trace     parsed.AnyText   `json:"trace"`
	Suite     parsed.AnyText   `json:"suite"` // a text, or a list from the outside to the inside
	FilePath  parsed.AnyText   `json:"filePath"`
	Line      parsed.AnyNumber `json:"line"`
	Retries   parsed.AnyNumber `json:"retries"`
	Flaky     bool             `json:"flaky"`
	Browser   parsed.AnyText   `json:"browser"`
}

type ctrfResults struct {
	tool    parsed.AnyText
	summary map[string]jsonstream.Raw
	tests   bool
}

func detectCTRF(h sniff.Head) bool {
	return h.JSON("results.tests") && (h.JSON("reportFormat") || h.JSON("results.tool", "results.summary"))
}

func parseCTRF(r io.Reader) (parsed.Report, error) {
	s, producer := &parsed.Outcomes{}, ""
	s.Several = true
	return s.DocumentsOf(r, &producer, func(j *jsonstream.Reader) error {
		var c ctrfResults
		before := s.Totals
		err := parsed.Members(j, map[string]any{"results": func() error { return c.read(j, s) }})
		if err := parsed.Shape(j, err, c.tests, "this is no report in CTRF: it has no tests"); err != nil {
			return err
		}
		producer = string(c.tool)
		c.check(s, before)
		return nil
	})
}

func (c *ctrfResults) read(j *jsonstream.Reader, s *parsed.Outcomes) error {
	var tool struct {
		Name parsed.AnyText `json:"name"`
	}
	err := parsed.Members(j, map[string]any{"tool": &tool, "summary": &c.summary, "tests": func() error {
		c.tests = true
		return parsed.Items(j, func(t ctrfTest) { s.Add(t.test()) })()
	}})
	c.tool = tool.Name
	return err
}

// check compares the summary with the recount; it distinguishes pending, skipped and
// other tests, which are all skipped here.
func (c *ctrfResults) check(s *parsed.Outcomes, before parsed.Totals) {
	value := func(name string) float64 {
		var n parsed.AnyNumber
		if jsonstream.Unmarshal(c.summary[name], &n) != nil {
			return -1
		}
		return float64(n)
	}
	s.Declares("tests", value("tests"), s.Totals.Tests-before.Tests)
	s.Declares("passed tests", value("passed"), s.Totals.Passed-before.Passed)
	failed, errors := s.Totals.Failed-before.Failed, s.Totals.Errors-before.Errors
	s.Fails("failed tests", value("failed"), failed, failed+errors)
	if took := parsed.AnyNumber(value("stop") - value("start")); value("start") > 0 && took > 0 {
		s.Took += took.In(time.Millisecond)
	}
}

func (t ctrfTest) test() metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: string(t.FilePath), Class: strings.ReplaceAll(string(t.Suite), "\n", " > "), Name: string(t.Name)},
		Duration: t.Duration.In(time.Millisecond), Message: parsed.JoinMessage(string(t.Message), string(t.Trace)),
		File: string(t.FilePath), Line: t.Line.Whole(),
	}
	if t.Browser != "" {
		out.Class = parsed.GroupPath(string(t.Browser), out.Class)
	}
	switch t.Status {
	case "passed":
		out.Status = metric.Passed
		out.Flaky = t.Flaky || t.Retries > 0
	case "failed":
		out.Status = metric.Failed
	case "skipped", "pending":
		out.Status = metric.Skipped
	case "other":
		out.Status = ctrfOther(t.RawStatus)
	default:
		out.Status, out.Message = metric.Errored, "it has the unknown status "+t.Status
	}
	return out
}

// ctrfOther decides by the word of the tool whether a test that neither passed
// nor failed is an error.
func ctrfOther(word string) metric.Status {
	switch strings.ToLower(word) {
	case "error", "errored", "broken", "crashed", "aborted", "timedout", "timeout", "interrupted":
		return metric.Errored
	}
	return metric.Skipped
}
