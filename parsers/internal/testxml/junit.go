package testxml

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// junitOutcomeElements maps the elements in a testcase to outcomes. A testcase without
// any of them passed. An element with the status 0 only adds to the failure next to it.
var junitOutcomeElements = map[string]struct {
	status metric.Status
	flaky  bool // the test failed, and passed in a rerun
}{
	"failure":      {status: metric.Failed},
	"error":        {status: metric.Errored},
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

// junitNeutral lists the words that mean that a test passed, or that say nothing about
// its outcome. With any other word it is unknown whether the test passed.
var junitNeutral = map[string]bool{
	"": true, "run": true, "ran": true, "completed": true, "complete": true, "executed": true, "finished": true, "done": true,
	"passed": true, "pass": true, "success": true, "successful": true, "succeeded": true, "ok": true, "true": true, "fixed": true,
	"warning": true, "expected": true, "flaky": true, "quarantined": true, "xfail": true, "xpass": true,
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
// It keeps one frame for every open element. At the end of a testcase the case is added, and at
// the end of a testsuite its totals are compared with its cases.
type junitReader struct {
	frames         []junitFrame   // the open elements; the first one represents the document
	cases          []metric.Test  // the tests, without cases that represent a suite
	broken         []metric.Suite // suites that could not run
	emptySuites    []metric.Suite // suites that state tests and list none
	totals         parsed.Totals  // of all cases
	suiteCases     int            // number of cases that represent a suite that could not run
	failedSuites   int            // number of suites with a failed case
	uncountedCases int            // number of cases that are not in the total of their suite
	unnamed        map[string]int // number of cases without a name, by suite
	spareCase      *junitCase     // memory for the next case
	producer       string         // the tool that wrote the report, "" until it is known
	problems       textstream.Problems
	contradiction  string         // the first contradiction, "" for none
	found          bool           // the file has an element of a test report
	nodeTotals     map[string]int // totals in the comments of node:test, by name
}

// junitFrame is an open element: what it belongs to, and where its text goes.
type junitFrame struct {
	name  string
	suite *junitSuite      // the innermost suite
	test  *junitCase       // the innermost case, nil outside of cases
	text  *textstream.Clip // nil to skip the text
}

// parseJUnit reads JUnit XML. If the report is truncated, it returns the complete cases with
// the error.
func parseJUnit(r io.Reader) (parsed.Report, error) {
	j := &junitReader{frames: []junitFrame{{suite: &junitSuite{}}}, unnamed: map[string]int{}}
	x := xmlstream.NewReader(r)
	err := j.read(x)
	for len(j.frames) > 1 { // a truncated report counts up to its end
		j.closeElement(err == nil)
	}
	if err == nil && !j.found {
		err = fmt.Errorf("%w: there is no testsuite in it", parsed.ErrUnknownFormat)
	}
	return j.report(x), err
}

// read reads all tokens of the document.
func (j *junitReader) read(x *xmlstream.Reader) error {
	for {
		x.SkipText(j.top().text == nil)
		t, err := x.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read JUnit XML: %w", err)
		}

		switch t.Kind {
		case xmlstream.Start:
			if len(j.frames) == 1 && !junitRoots[t.Name] && t.Name != "testrun" {
				x.UnknownRoot = t.Name
			}
			j.openElement(t)
		case xmlstream.End:
			j.closeElement(true)
		case xmlstream.Text:
			if clip := j.top().text; clip != nil {
				clip.Add(t.Text)
			}
		case xmlstream.Comment:
			if len(j.frames) == 2 && (j.producer == "" || j.producer == nodeTest) {
				j.readNodeComment(t.Text)
			}
		}
	}
}

// top returns the frame of the innermost open element.
func (j *junitReader) top() *junitFrame { return &j.frames[len(j.frames)-1] }

// openElement handles a start tag: it adds a frame that differs from the one around it by what
// the element is.
func (j *junitReader) openElement(t xmlstream.Token) {
	f := *j.top()
	f.name = t.Name
	j.found = j.found || junitRoots[t.Name]
	if j.producer == "" {
		j.producer = detectProducer(t)
	}
	switch t.Name {
	case "testsuites", "testsuite":
		f.suite, f.test, f.text = newSuite(t, f.suite, j.producer), nil, nil
	case "testcase":
		f.test, f.text = j.newCase(t, f.suite), nil
	case "property":
		j.readProperty(t, f)
	default:
		f.text = f.readOutcome(t)
	}
	j.frames = append(j.frames, f)
}

// newCase returns the case of a testcase element. It reuses the memory of a closed case.
func (j *junitReader) newCase(t xmlstream.Token, s *junitSuite) *junitCase {
	c := j.spareCase
	if j.spareCase = nil; c == nil {
		c = &junitCase{}
	}
	c.reset(t, s)
	return c
}

// readProperty reads the property of a suite that did not run, which only [WriteJUnit] writes.
func (j *junitReader) readProperty(t xmlstream.Token, f junitFrame) {
	if t.Value("name") == propertyBroken && f.test == nil {
		j.broken = append(j.broken, metric.Suite{Name: f.suite.id(), Why: textstream.CleanText(t.Value("value"))})
	}
}

// readOutcome handles an element in a testcase or, for a suite that could not run, in a suite.
// It returns where the text of the element goes, nil to skip it.
func (f junitFrame) readOutcome(t xmlstream.Token) *textstream.Clip {
	o, known := junitOutcomeElements[t.Name]
	if !known || f.text != nil { // an element within an outcome is a part of its text
		return f.text
	}
	message := t.Value("message")
	if f.test != nil {
		f.test.isTodo = f.test.isTodo || o.status == metric.Skipped && t.Value("type") == "todo"
		return f.test.addOutcome(o.status, o.flaky, message)
	}
	if o.status == metric.Failed || o.status == metric.Errored {
		return f.suite.addFailure(message)
	}
	return nil
}

// closeElement ends the innermost element. Complete is false if the report is truncated
// inside the element.
func (j *junitReader) closeElement(complete bool) {
	f := *j.top()
	j.frames = j.frames[:len(j.frames)-1]
	switch f.name {
	case "testcase":
		if complete { // otherwise its outcome may be missing
			j.finishCase(f)
			j.spareCase = f.test
		}
	case "testsuites", "testsuite":
		j.finishSuite(f.suite, complete)
	}
}

// finishCase adds the case of a testcase that was read completely.
func (j *junitReader) finishCase(f junitFrame) {
	t := f.test.toTest(f.suite, j.producer)
	j.addCase(f, t)
	for n := 2; n <= f.test.collectionSkips && j.producer == pytest; n++ { // pytest writes one case for a module that it collected twice
		repeated := t
		repeated.Name = fmt.Sprintf("%s[%d]", t.Name, n)
		j.addCase(f, repeated)
	}
}

// addCase adds a case of the element f.
func (j *junitReader) addCase(f junitFrame, t metric.Test) {
	j.totals.Add(t.Status)
	f.suite.own.Add(t.Status)
	f.suite.extraFailures += f.test.extraFailures(t.Status)
	if f.test.unknownStatus != "" && t.Status == metric.Passed {
		j.addUnknownStatus(t, f.test.unknownStatus)
	}
	f.suite.caseTime += t.Duration
	if j.addIfBrokenSuite(t) {
		f.suite.suiteCases++
		return
	}

	cleanIdentity(&t, j.producer)
	if t.Name == "" {
		j.unnamed[t.Suite]++
		t.Name = fmt.Sprintf("(unnamed %d)", j.unnamed[t.Suite])
	}

	if len(j.cases) == cap(j.cases) { // append grows by less and would copy more often
		j.cases = slices.Grow(j.cases, max(64, len(j.cases)))
	}
	j.cases = parsed.AppendLimited(j.cases, t)
}

// addUnknownStatus records a case with an unknown status as a contradiction.
func (j *junitReader) addUnknownStatus(t metric.Test, word string) {
	problem := fmt.Sprintf("test %q has the unknown status %q, so that it is not known whether it passed", t.Name, word)
	j.contradiction = cmp.Or(j.contradiction, problem)
	j.problems.Add("%s", problem)
}

// addIfBrokenSuite reports whether a case represents a suite that could not run, and
// records that suite as broken.
func (j *junitReader) addIfBrokenSuite(t metric.Test) bool {
	if !t.Failed() {
		return false
	}
	for _, n := range brokenSuiteCases {
		if (n.producer == j.producer || n.producer == "") && n.matches(t) {
			suite := t.Suite
			if n.suite != nil {
				suite = n.suite(t)
			}
			j.broken = append(j.broken, metric.Suite{Name: suite, Why: cmp.Or(t.Message, t.Name, "it could not run")})
			j.suiteCases++
			return true
		}
	}
	return false
}

// finishSuite checks the totals of a suite, and adds its counts to the suite around it. A suite
// with a failure outside of its cases is broken.
func (j *junitReader) finishSuite(s *junitSuite, complete bool) {
	if complete {
		j.contradiction = cmp.Or(j.contradiction, s.checkTotals(&j.problems))
		if s.hasTotals && len(s.name) > 0 {
			j.uncountedCases += max(0, s.own.Tests-s.suiteCases-s.stated.Tests)
		}
		if s.stated.Tests > 0 && s.own.Plus(s.inner).Tests == 0 {
			j.emptySuites = append(j.emptySuites, metric.Suite{Name: s.id(), Why: fmt.Sprintf("its report says that it has %d tests and names none", s.stated.Tests)})
		}
	}

	if all := s.own.Plus(s.inner); all.Unsuccessful() > 0 && s.name != "" {
		j.failedSuites++
	}
	if j.producer == nodeTest {
		s.parent.suites = s.parent.suites.Plus(s.totalsAsCase())
	}

	s.parent.inner = s.parent.inner.Plus(s.own).Plus(s.inner)
	s.parent.extraFailures += s.extraFailures
	s.parent.caseTime += cmp.Or(s.statedTime, s.caseTime)

	if s.failure != nil {
		j.broken = append(j.broken, metric.Suite{Name: s.id(), Why: cmp.Or(s.failure.String(), "the suite failed outside of its tests")})
	}
}

// report returns the report with the tests of all suites. x is the reader of the document.
func (j *junitReader) report(x *xmlstream.Reader) parsed.Report {
	if noise := textstream.FirstLine(textstream.CleanText(x.TextOutside())); noise != "" {
		j.problems.Add("text outside of the report: %s", noise)
	}
	if x.UnknownRoot != "" {
		j.contradiction = cmp.Or(fmt.Sprintf(secondDocument, x.UnknownRoot), j.contradiction)
		j.problems.Add("%s", j.contradiction)
	}

	if j.producer == jestJUnit && j.uncountedCases > 0 {
		j.problems.Add("%d cases are more than their suites say: each is a test.todo that reads as passed, as jest-junit does not mark it; the JSON of jest does", j.uncountedCases)
	}
	if j.producer == vitest {
		var broken []metric.Suite
		j.cases, broken = splitGroups(j.cases)
		j.broken = append(j.broken, broken...)
		j.suiteCases += len(broken)
	}

	j.compareNodeTotals()
	markReruns(j.cases, j.producer)
	if j.totals.Tests == 0 {
		j.broken = append(j.broken, j.emptySuites...)
	}

	t := parsed.MergeCases(j.cases, listsTestsOnce[j.producer])
	t.Broken = parsed.UniqueSuites(j.broken)
	t.Duration = j.frames[0].suite.caseTime
	if len(t.Broken) == 0 {
		t.Failure = j.contradiction
	}
	if same := j.totals.Tests - j.suiteCases - len(t.Cases); same > 0 {
		j.problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return parsed.Report{Producer: j.producer, Tests: t, Cases: j.totals, Problems: j.problems.All()}
}
