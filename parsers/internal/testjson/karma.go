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

// karmaTest is one test in one browser, of karma-json-reporter and similar reporters.
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

// karmaBrowser is a browser with its totals, nil if it has none.
type karmaBrowser struct {
	Name       parsed.AnyText `json:"name"`
	LastResult *struct {
		Total        *parsed.AnyNumber `json:"total"`
		Failed       *parsed.AnyNumber `json:"failed"`
		Error        bool              `json:"error"`
		Disconnected bool              `json:"disconnected"`
	} `json:"lastResult"`
}

// readKarma reads a report with the tests of each browser, and checks its totals.
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
	d.NumberRepeats = true
	err := d.readMembers("karma", []string{"result", "summary"}, map[string]any{"browsers": &browsers, "result": &results, "summary": &summary})
	if err != nil {
		return err
	}

	for _, id := range slices.Sorted(maps.Keys(results)) {
		browsers[id].addTo(d.Outcomes, results[id])
	}

	n := d.documentTotals()
	d.CheckOptionalTotal("passed tests", summary.Success, n.Passed)
	d.CheckOptionalFailures("failed tests", summary.Failed, n.Failed)
	d.CheckOptionalTotal("skipped tests", summary.Skipped, n.Skipped)
	if (summary.Error || summary.Disconnected) && n.Failed == 0 && len(d.Broken) == 0 {
		d.Failure = "karma says that there was an error although no test failed"
	}
	return nil
}

// addTo adds the tests that ran in the browser, and checks its totals.
func (b karmaBrowser) addTo(s *parsed.Outcomes, tests []karmaTest) {
	name, before := b.nameWithoutVersion(), s.Totals
	for _, t := range tests {
		s.Add(t.toTest(name))
	}
	if last := b.LastResult; last != nil {
		n := s.Totals.Minus(before)
		s.CheckOptionalTotal("tests in "+name, last.Total, n.Tests)
		s.CheckOptionalFailures("failed tests in "+name, last.Failed, n.Failed)
		if last.Disconnected {
			s.AddBroken(name, "the browser was disconnected before its tests had run")
		}
	}
}

// karmaVersionPattern matches the version after the name of a browser: "Chrome 120.0 (Linux)".
var karmaVersionPattern = regexp.MustCompile(`\s+\d.*$`)

// nameWithoutVersion returns the browser without its version, which changes more often
// than the tests.
func (b karmaBrowser) nameWithoutVersion() string {
	return karmaVersionPattern.ReplaceAllString(string(b.Name), "")
}

// toTest returns the test in the browser. Its groups are the class.
func (t karmaTest) toTest(browser string) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: browser, Class: parsed.JoinGroups(t.Suite...), Name: string(t.Description)},
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
