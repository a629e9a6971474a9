package testjson

import (
	"strings"
	"time"

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

// ctrfSummary has the sums of a report. It distinguishes pending, skipped and other tests,
// which are all skipped here.
type ctrfSummary struct {
	Tests  *parsed.AnyNumber `json:"tests"`
	Passed *parsed.AnyNumber `json:"passed"`
	Failed *parsed.AnyNumber `json:"failed"`
	Start  parsed.AnyNumber  `json:"start"` // milliseconds
	Stop   parsed.AnyNumber  `json:"stop"`
}

func readCTRF(d *document) error {
	var tool struct {
		Name parsed.AnyText `json:"name"`
	}
	var summary ctrfSummary
	d.Several = true
	listed := false
	err := parsed.Members(d.Reader, map[string]any{"results": func() error {
		return parsed.Members(d.Reader, map[string]any{"tool": &tool, "summary": &summary, "tests": func() error {
			listed = true
			return items(d, func(t ctrfTest) { d.Add(t.test()) })()
		}})
	}})
	if err == nil && !listed {
		err = d.otherShape("CTRF", "tests")
	}
	if err != nil {
		return err
	}
	*d.producer = string(tool.Name)
	n := d.counts()
	d.Stated("tests", summary.Tests, n.Tests)
	d.Stated("passed tests", summary.Passed, n.Passed)
	d.StatedFails("failed tests", summary.Failed, n.Failed, n.Failed+n.Errors)
	if summary.Start > 0 {
		d.Took += (summary.Stop - summary.Start).In(time.Millisecond)
	}
	return nil
}

func (t ctrfTest) test() metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: string(t.FilePath), Class: strings.ReplaceAll(string(t.Suite), "\n", " > "), Name: string(t.Name)},
		Duration: t.Duration.In(time.Millisecond), Message: parsed.JoinMessage(string(t.Message), string(t.Trace)),
		File: string(t.FilePath), Line: t.Line.Int(),
	}
	if t.Browser != "" {
		out.Class = parsed.GroupPath(string(t.Browser), out.Class)
	}
	setStatus(&out, ctrfStatuses, t.Status)
	if t.Status == "other" {
		out.Status = ctrfOther(t.RawStatus)
	}
	out.Flaky = out.Status == metric.Passed && (t.Flaky || t.Retries > 0)
	return out
}

var ctrfStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "skipped": metric.Skipped, "pending": metric.Skipped, "other": metric.Skipped,
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
