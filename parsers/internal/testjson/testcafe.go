package testjson

import (
	"time"

	"supervise/internal/textstream"
	"supervise/metric"
)

// readTestCafe reads a report of TestCafe's JSON reporter, and checks its totals.
//
//	{"total": 1, "passed": 1, "warnings": [], "fixtures": [{"name": "Calc", "path": "a.js",
//	 "tests": [{"name": "adds", "errs": [], "durationMs": 5, "unstable": false, "skipped": false}]}]}
func readTestCafe(d *document) error {
	root, err := d.readObject(shape{
		tool: "TestCafe", required: []string{"fixtures"}, kept: []string{"total", "passed"},
		lists: map[string]func(item){
			"fixtures": func(fixture item) {
				for _, t := range fixture.list("tests") {
					d.Add(testcafeTest(t, fixture))
				}
			},
			"warnings": func(w item) {
				d.Problems.Add("testcafe warns: %s", textstream.FirstLine(textstream.CleanText(w.text(""))))
			},
		},
	})
	if err != nil {
		return err
	}
	n := d.documentTotals()
	total, passed := root.total("total"), root.total("passed")
	d.CheckTotal("tests that ran", total, n.Passed+n.Unsuccessful())
	d.CheckTotal("passed tests", passed, n.Passed)
	if total >= 0 && passed >= 0 && int(total-passed) > n.Unsuccessful() {
		d.CheckFailures("tests that did not pass", total-passed, n.Unsuccessful())
	}
	return nil
}

// testcafeTest returns a test of the fixture.
func testcafeTest(t, fixture item) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: fixture.text("path"), Class: fixture.text("name"), Name: t.text("name")},
		Duration: t.number("durationMs").In(time.Millisecond), Message: t.text("errs"), File: fixture.text("path"),
	}
	switch {
	case t.isTrue("skipped"):
		out.Status, out.Message = metric.Skipped, t.text("skippedReason")
	case len(t.list("errs")) > 0:
		out.Status = metric.Failed
	default:
		out.Status, out.Flaky = metric.Passed, t.isTrue("unstable")
	}
	return out
}
