package testxml

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"supervise/internal/framework"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// junitOutcomeElements maps the elements in a testcase to outcomes. A testcase without any of them
// and without an unknown element passed. An element with the status 0 only adds to the failure next
// to it.
var junitOutcomeElements = map[string]struct {
	status metric.Status
	flaky  bool // the test failed, and passed in a rerun
}{
	"failure":      {status: metric.Failed},
	"error":        {status: metric.Errored},
	"warning":      {status: metric.Failed}, // PHPUnit up to version 9
	"skipped":      {status: metric.Skipped},
	"skip":         {status: metric.Skipped},
	"ignored":      {status: metric.Skipped},
	"disabled":     {status: metric.Skipped},
	"pending":      {status: metric.Skipped},
	"flakyFailure": {status: metric.Passed, flaky: true},
	"flakyError":   {status: metric.Passed, flaky: true},
	"rerunFailure": {},
	"rerunError":   {},
}

// junitDetails are the elements in a testcase that say nothing about its outcome.
var junitDetails = map[string]bool{
	"system-out": true, "system-err": true, "stdout": true, "stderr": true, "output": true, "attachment": true, "attachments": true,
	"properties": true, "property": true, "testcase": true, "testsuite": true, "testsuites": true,
}

// junitStatuses maps the words in the attribute status or result of a testcase, which
// some tools write in addition to an outcome element or in place of it.
var junitStatuses = map[string]metric.Status{
	"fail": metric.Failed, "failed": metric.Failed, "failure": metric.Failed, "timeout": metric.Failed,
	"error": metric.Errored, "errored": metric.Errored, "broken": metric.Errored,
	"ko": metric.Failed, "nok": metric.Failed, "not ok": metric.Failed, "unsuccessful": metric.Failed, "false": metric.Failed,
	"crashed": metric.Errored, "panicked": metric.Errored, "killed": metric.Errored,
	"skipped": metric.Skipped, "skip": metric.Skipped, "ignored": metric.Skipped, "disabled": metric.Skipped,
	"notrun": metric.Skipped, "pending": metric.Skipped, "suppressed": metric.Skipped, "undefined": metric.Skipped, "inconclusive": metric.Skipped, "todo": metric.Skipped,
}

// junitNeutral lists the words that mean that a test passed, with true, or that say nothing about
// its outcome. With any other word it is unknown whether the test passed.
var junitNeutral = map[string]bool{
	"": false, "run": false, "ran": false, "completed": false, "complete": false, "executed": false, "finished": false, "done": false,
	"passed": true, "pass": true, "success": true, "successful": true, "succeeded": true, "ok": true, "true": true, "fixed": true,
	"warning": false, "expected": true, "flaky": true, "quarantined": true, "xfail": true, "xpass": true,
}

// junitRoots are the elements with which a report can begin, without the one of Eclipse.
var junitRoots = map[string]bool{"testsuites": true, "testsuite": true, "testcase": true}

// detectJUnit reports whether the head is JUnit XML. It excludes formats with the same root and
// other elements for tests, such as the XML of Check.
func detectJUnit(h sniff.Head) bool {
	if h.HasRoot("testrun") { // Eclipse; others have the root as well
		return h.HasElements("testcase")
	}
	return junitRoots[h.Root.Name] && (h.HasElements("testcase") || !h.HasElements("test"))
}

// junitReader reads one report, such as
//
//	<testsuite name="shop" tests="2" failures="1">
//	  <testcase classname="TestCalc" name="test_add" time="0.1"/>
//	  <testcase classname="TestCalc" name="test_sub"><failure message="1 != 2">…</failure></testcase>
//	</testsuite>
//
// At the end of a testcase the case is added, and at the end of a testsuite its totals are
// compared with its cases.
type junitReader struct {
	xmlSet                        // Totals has all cases, and Cases those that do not represent a suite
	root           junitSuite     // represents the document
	testCase       junitCase      // the case that is being read; its memory is used again
	producer       string         // the tool that wrote the report, "" until it is known
	found          bool           // the file has an element of a test report
	emptySuites    []metric.Suite // suites that state tests and list none
	suiteCases     int            // number of cases that represent a suite that could not run
	failedSuites   int            // number of suites with a failed case
	uncountedCases int            // number of cases that are not in the total of their suite
	unnamed        int            // number of cases without a name that did not fail
	nodeTotals     map[string]int // totals in the comments of node:test, by name
}

// parseJUnit reads JUnit XML. If the report is truncated, it returns the complete cases with
// the error.
func parseJUnit(r io.Reader) (parsed.Report, error) {
	j := &junitReader{nodeTotals: map[string]int{}}
	x := xmlstream.NewReader(r)
	x.OnComment = j.readComment
	err := j.readChildren(x, &j.root, nil)
	switch {
	case err != nil:
		err = fmt.Errorf("read JUnit XML: %w", err)
	case !j.found:
		err = fmt.Errorf("%w: there is no testsuite in it", parsed.ErrUnknownFormat)
	}
	return j.report(x), err
}

// readChildren reads the elements in the open element, which is in the suite and, if c is not
// nil, in the case c.
func (j *junitReader) readChildren(x *xmlstream.Reader, s *junitSuite, c *junitCase) error {
	return x.EachChild(func(t xmlstream.Token) error {
		j.found = j.found || junitRoots[t.Name]
		if t.Depth == 0 && !junitRoots[t.Name] && t.Name != "testrun" {
			x.UnknownRoot = t.Name
		}
		j.producer = cmp.Or(j.producer, detectProducer(t))
		switch t.Name {
		case "testsuites", "testsuite":
			inner := newSuite(t, s, j.producer)
			err := j.readChildren(x, inner, nil)
			j.finishSuite(inner, err == nil) // a truncated report counts up to its end
			return err
		case "testcase":
			inner := &j.testCase
			if c != nil { // a case within a case
				inner = new(junitCase)
			}
			inner.begin(t, s)
			err := j.readChildren(x, s, inner)
			if err == nil { // otherwise its outcome may be missing
				j.finishCase(s, inner)
			}
			return err
		case "property":
			if t.Value("name") == propertyBroken && c == nil { // only [WriteJUnit] writes it
				j.AddBroken(s.id(), textstream.CleanText(t.Value("value")))
			}
		}
		if text := readOutcome(t, s, c); text != nil {
			return x.EachText(text.Add)
		}
		return j.readChildren(x, s, c)
	})
}

// readOutcome handles an element in a testcase or, for a suite that could not run, in a suite.
// It returns where the text of the element goes, nil to skip it.
func readOutcome(t xmlstream.Token, s *junitSuite, c *junitCase) *textstream.Clip {
	outcome, known := junitOutcomeElements[t.Name]
	message := t.Value("message")
	switch {
	case !known && c != nil:
		c.noteUnknown(t)
	case !known:
	case c != nil:
		c.isTodo = c.isTodo || outcome.status == metric.Skipped && t.Value("type") == "todo"
		return c.addOutcome(outcome.status, outcome.flaky, message)
	case t.Name != "warning" && (outcome.status == metric.Failed || outcome.status == metric.Errored):
		return s.addFailure(message)
	}
	return nil
}

// finishCase adds a case of the suite that was read completely.
func (j *junitReader) finishCase(s *junitSuite, c *junitCase) {
	t := c.toTest(s, j.producer)
	j.addCase(s, c, t)
	for n := 2; n <= c.collectionSkips && j.producer == pytest; n++ { // pytest writes one case for a module that it collected twice
		repeated := t
		repeated.Name = fmt.Sprintf("%s[%d]", t.Name, n)
		j.addCase(s, c, repeated)
	}
}

// addCase adds the test of a case of the suite. A case without a name is none.
func (j *junitReader) addCase(s *junitSuite, c *junitCase, t metric.Test) {
	s.own.Add(t.Status)
	s.caseTime += t.Duration
	if t.Name == "" && !t.Failed() {
		j.unnamed++
		return
	}
	j.Totals.Add(t.Status)
	s.extraFailures += c.extraFailures(t.Status)
	if c.unknown != "" && t.Status == metric.Passed {
		j.AddContradiction("test %q has the unknown %s, so that it is not known whether it passed", t.Name, c.unknown)
	}
	if j.addIfPlaceholder(s, c.test.Class, t) {
		s.suiteCases++
		return
	}

	cleanIdentity(&t, j.producer)
	if len(j.Cases) == cap(j.Cases) { // append grows by less and would copy more often
		j.Cases = slices.Grow(j.Cases, max(64, len(j.Cases)))
	}
	j.Cases = parsed.AppendLimited(j.Cases, t)
}

// addIfPlaceholder reports whether a case represents something that could not run, and records its
// suite as broken if it failed. Class is the one in the report.
func (j *junitReader) addIfPlaceholder(s *junitSuite, class string, t metric.Test) bool {
	if t.Status == metric.Passed {
		return false
	}
	var row framework.Placeholder
	isRow := false
	if t.Failed() {
		row, isRow = framework.PlaceholderFor(cmp.Or(class, s.name), t.Name, t.Message)
	}
	if !isRow && t.Name != "" && !s.isNamedBy(t, class, j.producer) {
		return false
	}
	j.suiteCases++
	if t.Failed() {
		suite := cmp.Or(t.Suite, t.Name)
		if row.InModule {
			suite = failedPythonModule(t)
		}
		j.AddBroken(suite, cmp.Or(t.Message, t.Name, "it could not run"))
		j.Broken[len(j.Broken)-1].StoppedRun = row.StopsRun
	}
	return true
}

// finishSuite checks the totals of a suite, and adds its counts to the suite around it. A suite
// with a failure outside of its cases is broken.
func (j *junitReader) finishSuite(s *junitSuite, complete bool) {
	all := s.own.Plus(s.inner)
	if complete {
		s.checkTotals(&j.xmlSet)
		if s.hasTotals && s.name != "" {
			j.uncountedCases += max(0, s.own.Tests-s.suiteCases-s.stated.Tests)
		}
		if s.stated.Tests > 0 && all.Tests == 0 {
			j.emptySuites = append(j.emptySuites, metric.Suite{Name: s.id(), Why: fmt.Sprintf("its report says that it has %d tests and names none", s.stated.Tests)})
		}
	}

	if all.Unsuccessful() > 0 && s.name != "" {
		j.failedSuites++
	}
	if j.producer == nodeTest {
		s.parent.suites = s.parent.suites.Plus(s.totalsAsCase())
	}

	s.parent.inner = s.parent.inner.Plus(all)
	s.parent.extraFailures += s.extraFailures
	s.parent.caseTime += cmp.Or(s.statedTime, s.caseTime)

	if s.failure != nil {
		j.AddBroken(s.id(), cmp.Or(s.failure.String(), "the suite failed outside of its tests"))
	}
}

// report returns the report with the tests of all suites. x is the reader of the document.
func (j *junitReader) report(x *xmlstream.Reader) parsed.Report {
	if j.producer == jestJUnit && j.uncountedCases > 0 {
		j.Problems.Add("%d cases are more than their suites say: each is a test.todo that reads as passed, as jest-junit does not mark it; the JSON of jest does", j.uncountedCases)
	}
	if j.producer == vitest {
		var broken []metric.Suite
		j.Cases, broken = splitGroups(j.Cases)
		j.Broken = append(j.Broken, broken...)
		j.suiteCases += len(broken)
	}

	if j.unnamed > 0 {
		j.Problems.Add("%d cases have no name and are no tests", j.unnamed)
	}
	j.compareNodeTotals()
	markReruns(j.Cases, j.producer)
	if j.Totals.Tests == 0 {
		j.Broken = append(j.Broken, j.emptySuites...)
	}

	all := j.Totals
	j.Totals.Tests -= j.suiteCases // the others are tests
	j.NumberRepeats = listsTestsOnce[j.producer]
	report := j.xmlSet.report(x, j.producer)
	report.Cases, report.Tests.Duration = all, j.root.caseTime
	return report
}
