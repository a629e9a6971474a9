package testjson

import (
	"cmp"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// rwxTest is one test of RWX's test results:
// https://github.com/rwx-research/test-results-schema. The lineage has the names of its groups
// and of the test.
type rwxTest struct {
	Scope    parsed.AnyText `json:"scope"`
	Name     parsed.AnyText `json:"name"`
	Lineage  []string       `json:"lineage"`
	Location rwxLocation    `json:"location"`
	Attempt  rwxAttempt     `json:"attempt"`
	Past     []struct {
		Status rwxStatus `json:"status"`
	} `json:"pastAttempts"`
}

// rwxAttempt is the last attempt at a test.
type rwxAttempt struct {
	Duration parsed.AnyNumber `json:"durationInNanoseconds"`
	Status   rwxStatus        `json:"status"`
}

// rwxLocation is a place in a file, "" if it is not known.
type rwxLocation struct {
	File parsed.AnyText   `json:"file"`
	Line parsed.AnyNumber `json:"line"`
}

// rwxStatus is an outcome with its reason.
type rwxStatus struct {
	Kind      string           `json:"kind"`
	Message   parsed.AnyText   `json:"message"`
	Exception parsed.AnyText   `json:"exception"`
	Backtrace []parsed.AnyText `json:"backtrace"`
}

// rwxError is an error outside of all tests.
type rwxError struct {
	Message  parsed.AnyText `json:"message"`
	Location rwxLocation    `json:"location"`
}

// rwxSummary has the totals of a report. One that is nil is not stated.
type rwxSummary struct {
	Status      jsonstream.Raw    `json:"status"`
	Tests       *parsed.AnyNumber `json:"tests"`
	Successful  *parsed.AnyNumber `json:"successful"`
	Failed      parsed.AnyNumber  `json:"failed"`
	TimedOut    parsed.AnyNumber  `json:"timedOut"`
	Canceled    parsed.AnyNumber  `json:"canceled"`
	OtherErrors *parsed.AnyNumber `json:"otherErrors"`
}

// readRWX reads test results of RWX, and checks their totals.
func readRWX(d *document) error {
	var framework struct {
		Kind parsed.AnyText `json:"kind"`
	}
	var summary rwxSummary
	err := d.readMembers("RWX", []string{"tests", "summary"}, map[string]any{
		"framework": &framework, "summary": &summary,
		"tests":       parsed.ItemReader(d.Reader, func(t rwxTest) { d.Add(t.toTest()) }),
		"otherErrors": parsed.ItemReader(d.Reader, func(e rwxError) { e.addTo(d.Outcomes) }),
	})
	if err != nil {
		return err
	}

	*d.producer = string(framework.Kind)
	n := d.documentTotals()
	d.CheckOptionalTotal("tests (of the summary)", summary.Tests, n.Tests)
	d.CheckOptionalTotal("successful (of the summary)", summary.Successful, n.Passed)
	if sum := summary.Failed + summary.TimedOut + summary.Canceled; sum.Int() > n.Unsuccessful() { // quarantined failures do not count
		d.CheckFailures("tests that failed (of the summary)", float64(sum), n.Unsuccessful())
	}

	if d.Failure == "" {
		d.CheckOptionalFailures("other errors (of the summary)", summary.OtherErrors, len(d.Broken))
		var status rwxStatus
		if jsonstream.Unmarshal(summary.Status, &status) == nil && status.Kind == "failed" && n.Unsuccessful() == 0 {
			d.AddContradiction("the summary says failed although no test failed")
		}
	}
	return nil
}

// addTo breaks the file of the error. Without a file, the run failed.
func (e rwxError) addTo(s *parsed.Outcomes) {
	if file := string(e.Location.File); file != "" {
		s.AddBroken(file, string(e.Message))
	} else {
		s.Failure = cmp.Or(s.Failure, string(e.Message))
	}
}

// rwxStatuses maps the kinds of outcomes. A quarantined test is skipped, whatever its
// outcome is.
var rwxStatuses = map[string]metric.Status{
	"successful": metric.Passed, "failed": metric.Failed, "timedOut": metric.Failed, "canceled": metric.Errored,
	"skipped": metric.Skipped, "pended": metric.Skipped, "todo": metric.Skipped, "quarantined": metric.Skipped,
}

// toTest returns the test. A pass after another outcome is flaky.
func (t rwxTest) toTest() metric.Test {
	st := t.Attempt.Status
	out := metric.Test{
		ID:       metric.ID{Suite: string(t.Location.File), Name: string(t.Name)},
		Duration: t.Attempt.Duration.In(time.Nanosecond),
		Message:  parsed.JoinTexts([]parsed.AnyText{st.Exception, st.Message, parsed.AnyText(parsed.JoinTexts(st.Backtrace, "\n"))}, "\n"),
		File:     string(t.Location.File), Line: t.Location.Line.Int(),
	}
	if n := len(t.Lineage); n > 0 {
		out.Class, out.Name = parsed.JoinGroups(t.Lineage[:n-1:n-1]...), t.Lineage[n-1]
	}
	out.Class = parsed.JoinGroups(string(t.Scope), out.Class)

	setStatus(&out, rwxStatuses, st.Kind)
	for _, p := range t.Past {
		out.Flaky = out.Flaky || out.Status == metric.Passed && rwxStatuses[p.Status.Kind] != metric.Passed
	}
	return out
}
