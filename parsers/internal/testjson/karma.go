package testjson

import (
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/internal/regexp"
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

func readKarma(d *document) error {
	var browsers map[string]karmaBrowser
	var results map[string][]karmaTest
	var summary struct {
		Success      *parsed.AnyNumber `json:"success"`
		Failed       *parsed.AnyNumber `json:"failed"`
		Skipped      *parsed.AnyNumber `json:"skipped"`
		Error        bool              `json:"error"`
		Disconnected bool              `json:"disconnected"`
	}
	d.Several = true
	err := d.members("karma", []string{"result", "summary"}, map[string]any{"browsers": &browsers, "result": &results, "summary": &summary})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		browsers[id].add(d.Outcomes, results[id])
	}
	n := d.counts()
	d.Stated("passed tests", summary.Success, n.Passed)
	d.StatedFails("failed tests", summary.Failed, n.Failed)
	d.Stated("skipped tests", summary.Skipped, n.Skipped)
	if (summary.Error || summary.Disconnected) && n.Failed == 0 && len(d.Broken) == 0 {
		d.Failure = "karma says that there was an error although no test failed"
	}
	return nil
}

func (b karmaBrowser) add(s *parsed.Outcomes, tests []karmaTest) {
	name, before := b.short(), s.Totals
	for _, t := range tests {
		s.Add(t.test(name))
	}
	if last := b.LastResult; last != nil {
		n := s.Totals.Minus(before)
		s.Stated("tests in "+name, last.Total, n.Tests)
		s.StatedFails("failed tests in "+name, last.Failed, n.Failed)
		if last.Disconnected {
			s.Breaks(name, "the browser was disconnected before its tests had run")
		}
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
