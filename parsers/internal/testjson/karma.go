package testjson

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// karmaTest is one test in one browser of karma-json-reporter and its kin.
type karmaTest struct {
	Description parsed.AnyText   `json:"description"`
	Suite       []string         `json:"suite"`
	Log         []parsed.AnyText `json:"log"`
	Skipped     bool             `json:"skipped"`
	Disabled    bool             `json:"disabled"`
	Pending     bool             `json:"pending"`
	Success     bool             `json:"success"`
	Time        parsed.AnyNumber `json:"time"` // milliseconds
}

type karmaBrowser struct {
	Name       parsed.AnyText `json:"name"`
	LastResult *struct {
		Total        *parsed.AnyNumber `json:"total"`
		Failed       *parsed.AnyNumber `json:"failed"`
		Error        bool              `json:"error"`
		Disconnected bool              `json:"disconnected"`
	} `json:"lastResult"`
}

type karmaReport struct {
	browsers map[string]karmaBrowser
	results  map[string][]karmaTest
	summary  *struct {
		Success      *parsed.AnyNumber `json:"success"`
		Failed       *parsed.AnyNumber `json:"failed"`
		Skipped      *parsed.AnyNumber `json:"skipped"`
		Error        bool              `json:"error"`
		Disconnected bool              `json:"disconnected"`
	}
}

func detectKarma(h sniff.Head) bool {
	return h.JSON("browsers", "result", "summary") || h.JSON("browsers.*.lastResult", "result")
}

func parseKarma(r io.Reader) (parsed.Report, error) {
	s := &parsed.Outcomes{}
	s.Several = true
	return s.Documents(r, "karma", func(j *jsonstream.Reader) error {
		var k karmaReport
		err := parsed.Members(j, map[string]any{"browsers": &k.browsers, "result": &k.results, "summary": &k.summary})
		if err := parsed.Shape(j, err, k.results != nil && k.summary != nil, "this is no report of karma: it has no result or no summary"); err != nil {
			return err
		}
		k.add(s)
		return nil
	})
}

func (k karmaReport) add(s *parsed.Outcomes) {
	before := s.Totals
	for _, id := range slices.Sorted(maps.Keys(k.results)) {
		name, count, failed := k.browsers[id].short(), s.Totals.Tests, s.Totals.Failed
		for _, t := range k.results[id] {
			s.Add(t.test(name))
		}
		last := k.browsers[id].LastResult
		if last == nil {
			continue
		}
		s.Stated("tests in "+name, last.Total, s.Totals.Tests-count)
		s.StatedFails("failed tests in "+name, last.Failed, s.Totals.Failed-failed)
		if last.Disconnected {
			s.Breaks(name, "the browser was disconnected before its tests had run")
		}
	}
	s.Stated("passed tests", k.summary.Success, s.Totals.Passed-before.Passed)
	s.StatedFails("failed tests", k.summary.Failed, s.Totals.Failed-before.Failed)
	s.Stated("skipped tests", k.summary.Skipped, s.Totals.Skipped-before.Skipped)
	if (k.summary.Error || k.summary.Disconnected) && s.Totals.Failed == before.Failed && len(s.Broken) == 0 {
		s.Failure = "karma says that there was an error although no test failed"
	}
}

var karmaVersion = regexp.MustCompile(`\s+\d.*$`)

// short is the name of the browser without its version, which changes more
// often than the tests do.
func (b karmaBrowser) short() string { return karmaVersion.ReplaceAllString(string(b.Name), "") }

func (t karmaTest) test(browser string) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: browser, Class: parsed.GroupPath(t.Suite...), Name: string(t.Description)},
		Duration: t.Time.In(time.Millisecond), Message: strings.TrimSpace(parsed.JoinTexts(t.Log, "\n")),
	}
	switch {
	case t.Skipped || t.Disabled || t.Pending:
		out.Status = metric.Skipped
	case t.Success:
		out.Status, out.Message = metric.Passed, ""
	default:
		out.Status = metric.Failed
	}
	return out
}
