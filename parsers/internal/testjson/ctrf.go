package testjson

import (
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// ctrfTest is one test of the Common Test Report Format: https://ctrf.io. RawStatus is the word
// of the test runner.
type ctrfTest struct {
	Name      parsed.AnyText   `json:"name"`
	Status    string           `json:"status"`
	RawStatus string           `json:"rawStatus"`
	Duration  parsed.AnyNumber `json:"duration"` // milliseconds
	Message   parsed.AnyText   `json:"message"`
	Trace     parsed.AnyText   `json:"trace"`
	Suite     parsed.AnyText   `json:"suite"` // a name, or a list of names, the outermost first
	FilePath  parsed.AnyText   `json:"filePath"`
	Line      parsed.AnyNumber `json:"line"`
	Retries   parsed.AnyNumber `json:"retries"`
	Flaky     bool             `json:"flaky"`
	Browser   parsed.AnyText   `json:"browser"`
}

// ctrfSummary has the totals that are checked. Those of pending, skipped and other tests are
// not, since all of these are skipped here.
type ctrfSummary struct {
	Tests  *parsed.AnyNumber `json:"tests"`
	Passed *parsed.AnyNumber `json:"passed"`
	Failed *parsed.AnyNumber `json:"failed"`
	Start  parsed.AnyNumber  `json:"start"` // milliseconds since 1970
	Stop   parsed.AnyNumber  `json:"stop"`
}

// readCTRF reads a report, and checks its totals.
func readCTRF(d *document) error {
	var tool struct {
		Name parsed.AnyText `json:"name"`
	}
	var summary ctrfSummary
	d.NumberRepeats = true
	listed := false

	err := parsed.ReadMembers(d.Reader, map[string]any{"results": func() error {
		return parsed.ReadMembers(d.Reader, map[string]any{"tool": &tool, "summary": &summary, "tests": func() error {
			listed = true
			return parsed.ItemReader(d.Reader, func(t ctrfTest) { d.Add(t.toTest()) })()
		}})
	}})

	if err == nil && !listed {
		err = d.shapeError("CTRF", "tests")
	}
	if err != nil {
		return err
	}

	*d.producer = string(tool.Name)
	n := d.documentTotals()
	d.CheckOptionalTotal("tests", summary.Tests, n.Tests)
	d.CheckOptionalTotal("passed tests", summary.Passed, n.Passed)
	d.CheckOptionalFailures("failed tests", summary.Failed, n.Failed, n.Unsuccessful())
	if summary.Start > 0 {
		d.Duration += (summary.Stop - summary.Start).In(time.Millisecond)
	}
	return nil
}

// toTest returns the test. A pass after a retry is flaky.
func (t ctrfTest) toTest() metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: string(t.FilePath), Class: strings.ReplaceAll(string(t.Suite), "\n", " > "), Name: string(t.Name)},
		Duration: t.Duration.In(time.Millisecond), Message: parsed.JoinMessage(string(t.Message), string(t.Trace)),
		File: string(t.FilePath), Line: t.Line.Int(),
	}
	if t.Browser != "" {
		out.Class = parsed.JoinGroups(string(t.Browser), out.Class)
	}
	setStatus(&out, ctrfStatuses, t.Status)
	if t.Status == "other" {
		out.Status = ctrfOtherStatus(t.RawStatus)
	}
	out.Flaky = out.Status == metric.Passed && (t.Flaky || t.Retries > 0)
	return out
}

// ctrfStatuses maps the statuses of the format. See also [ctrfOtherStatus].
var ctrfStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "skipped": metric.Skipped, "pending": metric.Skipped, "other": metric.Skipped,
}

// ctrfOtherStatus returns the status of a test with the status "other", by the word that
// the test runner has for it.
func ctrfOtherStatus(rawStatus string) metric.Status {
	switch strings.ToLower(rawStatus) {
	case "error", "errored", "broken", "crashed", "aborted", "timedout", "timeout", "interrupted":
		return metric.Errored
	}
	return metric.Skipped
}
