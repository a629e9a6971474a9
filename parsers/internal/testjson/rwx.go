package testjson

import (
	"cmp"
	"io"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
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

func detectRWX(h sniff.Head) bool {
	return h.JSON("framework.kind", "summary", "tests") && h.JSON("summary.otherErrors")
}

func parseRWX(r io.Reader) (parsed.Report, error) {
	s, producer := &parsed.Outcomes{}, ""
	return s.DocumentsOf(r, &producer, func(j *jsonstream.Reader) error {
		var framework struct {
			Kind parsed.AnyText `json:"kind"`
		}
		var summary map[string]jsonstream.Raw
		before, listed := s.Totals, false
		err := parsed.Members(j, map[string]any{
			"framework": &framework, "summary": &summary,
			"tests": func() error {
				listed = true
				return parsed.Items(j, func(t rwxTest) { s.Add(t.test()) })()
			},
			"otherErrors": func() error { return j.Array(func() error { return readRWXError(j, s) }) },
		})
		if err := parsed.Shape(j, err, listed && summary != nil, "these are no test results of RWX: they have no tests or no summary"); err != nil {
			return err
		}
		producer = string(framework.Kind)
		checkRWXSums(s, summary, before)
		checkRWXFailures(s, summary, before)
		return nil
	})
}

func checkRWXSums(s *parsed.Outcomes, summary map[string]jsonstream.Raw, before parsed.Totals) {
	for _, c := range []struct {
		name    string
		counted int
	}{{"tests", s.Totals.Tests - before.Tests}, {"successful", s.Totals.Passed - before.Passed}} {
		var n parsed.AnyNumber
		if jsonstream.Unmarshal(summary[c.name], &n) == nil {
			s.Declares(c.name+" (of the summary)", float64(n), c.counted)
		}
	}
}

// checkRWXFailures compares what the summary says of failures; quarantined ones are
// none.
func checkRWXFailures(s *parsed.Outcomes, summary map[string]jsonstream.Raw, before parsed.Totals) {
	failed := s.Failed() - before.Failed - before.Errors
	var n, sum parsed.AnyNumber
	for _, name := range []string{"failed", "timedOut", "canceled"} {
		if jsonstream.Unmarshal(summary[name], &n) == nil {
			sum += n
		}
	}
	if sum.Whole() > failed {
		s.Fails("tests that failed (of the summary)", float64(sum), failed)
	}
	if jsonstream.Unmarshal(summary["otherErrors"], &n) == nil && s.Failure == "" {
		s.Fails("other errors (of the summary)", float64(n), len(s.Broken))
	}
	var status rwxStatus
	if jsonstream.Unmarshal(summary["status"], &status) == nil && status.Kind == "failed" && failed == 0 && s.Failure == "" {
		s.Contradicts("the summary says failed although no test failed")
	}
}

func readRWXError(j *jsonstream.Reader, s *parsed.Outcomes) error {
	var e struct {
		Message  parsed.AnyText `json:"message"`
		Location *rwxPlace      `json:"location"`
	}
	err := j.Value(&e)
	if e.Location != nil && e.Location.File != "" {
		s.Breaks(string(e.Location.File), string(e.Message))
	} else if err == nil {
		s.Failure = cmp.Or(s.Failure, string(e.Message))
	}
	return err
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
		ID:     metric.ID{Suite: string(t.Location.File), Name: string(t.Name)},
		Status: rwxStatuses[st.Kind], Duration: t.Attempt.Duration.In(time.Nanosecond),
		Message: parsed.JoinTexts([]parsed.AnyText{st.Exception, st.Message, parsed.AnyText(parsed.JoinTexts(st.Backtrace, "\n"))}, "\n"),
		File:    string(t.Location.File), Line: t.Location.Line.Whole(),
	}
	if n := len(t.Lineage); n > 0 {
		out.Class, out.Name = parsed.GroupPath(t.Lineage[:n-1:n-1]...), t.Lineage[n-1]
	}
	out.Class = parsed.GroupPath(string(t.Scope), out.Class)
	if out.Status == 0 {
		out.Status, out.Message = metric.Errored, "it has the unknown status "+st.Kind
	}
	for _, p := range t.Past {
		out.Flaky = out.Flaky || out.Status == metric.Passed && rwxStatuses[p.Status.Kind] != metric.Passed
	}
	return out
}
