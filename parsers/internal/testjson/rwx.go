package testjson

import (
	"cmp"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// rwxTest is one test of RWX's test results:
// https://github.com/rwx-research/test-results-schema
type rwxTest struct {
	Scope    parsed.AnyText `json:"scope"`
	Name     parsed.AnyText `json:"name"`
	Lineage  []string       `json:"lineage"`
	Location rwxPlace       `json:"location"`
	Attempt  rwxAttempt     `json:"attempt"`
	Past     []struct {
		Status rwxStatus `json:"status"`
	} `json:"pastAttempts"`
}

type rwxAttempt struct {
	Duration parsed.AnyNumber `json:"durationInNanoseconds"`
	Status   rwxStatus        `json:"status"`
}

type rwxPlace struct {
	File parsed.AnyText   `json:"file"`
	Line parsed.AnyNumber `json:"line"`
}

type rwxStatus struct {
	Kind      string           `json:"kind"`
	Message   parsed.AnyText   `json:"message"`
	Exception parsed.AnyText   `json:"exception"`
	Backtrace []parsed.AnyText `json:"backtrace"`
}

// rwxError is one that belongs to no test.
type rwxError struct {
	Message  parsed.AnyText `json:"message"`
	Location rwxPlace       `json:"location"`
}

type rwxSummary struct {
	Status      jsonstream.Raw    `json:"status"`
	Tests       *parsed.AnyNumber `json:"tests"`
	Successful  *parsed.AnyNumber `json:"successful"`
	Failed      parsed.AnyNumber  `json:"failed"`
	TimedOut    parsed.AnyNumber  `json:"timedOut"`
	Canceled    parsed.AnyNumber  `json:"canceled"`
	OtherErrors *parsed.AnyNumber `json:"otherErrors"`
}

func readRWX(d *document) error {
	var framework struct {
		Kind parsed.AnyText `json:"kind"`
	}
	var summary rwxSummary
	err := d.members("RWX", []string{"tests", "summary"}, map[string]any{
		"framework": &framework, "summary": &summary,
		"tests":       items(d, func(t rwxTest) { d.Add(t.test()) }),
		"otherErrors": items(d, func(e rwxError) { e.add(d.Outcomes) }),
	})
	if err != nil {
		return err
	}
	*d.producer = string(framework.Kind)
	n := d.counts()
	d.Stated("tests (of the summary)", summary.Tests, n.Tests)
	d.Stated("successful (of the summary)", summary.Successful, n.Passed)
	if sum := summary.Failed + summary.TimedOut + summary.Canceled; sum.Int() > n.Bad() { // quarantined failures do not count
		d.Fails("tests that failed (of the summary)", float64(sum), n.Bad())
	}
	if d.Failure == "" {
		d.StatedFails("other errors (of the summary)", summary.OtherErrors, len(d.Broken))
		var status rwxStatus
		if jsonstream.Unmarshal(summary.Status, &status) == nil && status.Kind == "failed" && n.Bad() == 0 {
			d.Contradicts("the summary says failed although no test failed")
		}
	}
	return nil
}

func (e rwxError) add(s *parsed.Outcomes) {
	if file := string(e.Location.File); file != "" {
		s.Breaks(file, string(e.Message))
	} else {
		s.Failure = cmp.Or(s.Failure, string(e.Message))
	}
}

// rwxStatuses are the kinds of outcomes. A quarantined test does not count,
// whatever came out.
var rwxStatuses = map[string]metric.Status{
	"successful": metric.Passed, "failed": metric.Failed, "timedOut": metric.Failed, "canceled": metric.Errored,
	"skipped": metric.Skipped, "pended": metric.Skipped, "todo": metric.Skipped, "quarantined": metric.Skipped,
}

func (t rwxTest) test() metric.Test {
	st := t.Attempt.Status
	out := metric.Test{
		ID:       metric.ID{Suite: string(t.Location.File), Name: string(t.Name)},
		Duration: t.Attempt.Duration.In(time.Nanosecond),
		Message:  parsed.JoinTexts([]parsed.AnyText{st.Exception, st.Message, parsed.AnyText(parsed.JoinTexts(st.Backtrace, "\n"))}, "\n"),
		File:     string(t.Location.File), Line: t.Location.Line.Int(),
	}
	if n := len(t.Lineage); n > 0 {
		out.Class, out.Name = parsed.GroupPath(t.Lineage[:n-1:n-1]...), t.Lineage[n-1]
	}
	out.Class = parsed.GroupPath(string(t.Scope), out.Class)
	setStatus(&out, rwxStatuses, st.Kind)
	for _, p := range t.Past {
		out.Flaky = out.Flaky || out.Status == metric.Passed && rwxStatuses[p.Status.Kind] != metric.Passed
	}
	return out
}
