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

// junitOutcomes are the elements in a testcase that say how it ended. A
// testcase without any passed. An element with a status of 0 says nothing more
// than the failure next to it.
var junitOutcomes = map[string]struct {
	status metric.Status
	flaky  bool // it failed, and passed when it was run again
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

// junitStatuses are the words that some writers put into the attribute status
// or result of a testcase, in addition to the outcome or instead of it. The words of
// junitNeutral say nothing; of others it is not known whether the test passed.
var junitStatuses = map[string]metric.Status{
	"fail": metric.Failed, "failed": metric.Failed, "failure": metric.Failed, "timeout": metric.Failed,
	"error": metric.Errored, "errored": metric.Errored, "broken": metric.Errored,
	"ko": metric.Failed, "nok": metric.Failed, "not ok": metric.Failed, "unsuccessful": metric.Failed, "false": metric.Failed,
	"crashed": metric.Errored, "panicked": metric.Errored, "killed": metric.Errored,
	"skipped": metric.Skipped, "skip": metric.Skipped, "ignored": metric.Skipped, "disabled": metric.Skipped,
	"notrun": metric.Skipped, "pending": metric.Skipped, "suppressed": metric.Skipped, "undefined": metric.Skipped, "inconclusive": metric.Skipped, "todo": metric.Skipped,
}

// junitNeutral are words that do not say how a test ended, or that it passed.
var junitNeutral = map[string]bool{
	"": true, "run": true, "ran": true, "completed": true, "complete": true, "executed": true, "finished": true, "done": true,
	"passed": true, "pass": true, "success": true, "successful": true, "succeeded": true, "ok": true, "true": true, "fixed": true,
	"warning": true, "expected": true, "flaky": true, "quarantined": true, "xfail": true, "xpass": true,
}

var junitRoots = map[string]bool{"testsuites": true, "testsuite": true, "testcase": true}

// detectJUnit leaves out what has the root element and other tests within it,
// such as the XML of Check.
func detectJUnit(h sniff.Head) bool {
	if h.HasRoot("testrun") { // Eclipse; others have the root as well
		return h.HasElements("testcase")
	}
	return junitRoots[h.Root.Name] && (h.HasElements("testcase") || !h.HasElements("test"))
}

// junitReader reads one report. It keeps one frame for every open element.
type junitReader struct {
	frames   []junitFrame
	cases    []metric.Test
	broken   []metric.Suite
	hollow   []metric.Suite // suites with tests that are not there
	totals   parsed.Totals
	noTests  int            // cases that represent a suite
	failing  int            // suites with a case that failed
	more     int            // cases that a suite does not count itself
	unnamed  map[string]int // how many cases without a name each suite has
	spare    *junitCase     // for the next case
	producer string
	problems textstream.Problems
	denied   string         // the first contradiction
	found    bool           // there is an element of a test report
	node     map[string]int // the totals of node:test
}

// junitFrame is what an open element belongs to, and where its text goes.
type junitFrame struct {
	name  string
	suite *junitSuite
	test  *junitCase
	text  *textstream.Clip // nil where text means nothing
}

func parseJUnit(r io.Reader) (parsed.Report, error) {
	j := &junitReader{frames: []junitFrame{{suite: &junitSuite{}}}, unnamed: map[string]int{}}
	x := xmlstream.NewReader(r)
	err := j.read(x)
	for len(j.frames) > 1 { // what a cut off report began counts as far as it goes
		j.close(err == nil)
	}
	if err == nil && !j.found {
		err = fmt.Errorf("%w: there is no testsuite in it", parsed.ErrUnknownFormat)
	}
	return j.report(x), err
}

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
			j.open(t)
		case xmlstream.End:
			j.close(true)
		case xmlstream.Text:
			if clip := j.top().text; clip != nil {
				clip.Add(t.Text)
			}
		case xmlstream.Comment:
			if len(j.frames) == 2 && (j.producer == "" || j.producer == nodeTest) {
				j.comment(t.Text)
			}
		}
	}
}

// top returns the frame of the innermost open element.
func (j *junitReader) top() *junitFrame { return &j.frames[len(j.frames)-1] }

func (j *junitReader) open(t xmlstream.Token) {
	f := *j.top()
	f.name = t.Name
	j.found = j.found || junitRoots[t.Name]
	if j.producer == "" {
		j.producer = junitProducer(t)
	}
	switch t.Name {
	case "testsuites", "testsuite":
		f.suite, f.test, f.text = newSuite(t, f.suite, j.producer), nil, nil
	case "testcase":
		f.test, f.text = j.newCase(t, f.suite), nil
	case "property":
		j.property(t, f)
	default:
		f.text = f.outcome(t)
	}
	j.frames = append(j.frames, f)
}

// newCase returns a case, in the memory of one that is closed.
func (j *junitReader) newCase(t xmlstream.Token, s *junitSuite) *junitCase {
	c := j.spare
	if j.spare = nil; c == nil {
		c = &junitCase{}
	}
	c.begin(t, s)
	return c
}

// property knows one property: the one that [WriteJUnit] writes.
func (j *junitReader) property(t xmlstream.Token, f junitFrame) {
	if name := t.Value("name"); name == propertyBroken && f.test == nil {
		why := t.Value("value")
		j.broken = append(j.broken, metric.Suite{Name: f.suite.id(), Why: textstream.CleanText(why)})
	}
}

// outcome takes an element in a testcase or, for a suite that could not run,
// directly in a suite. It returns where its text goes.
func (f junitFrame) outcome(t xmlstream.Token) *textstream.Clip {
	o, known := junitOutcomes[t.Name]
	if !known || f.text != nil { // an element within an outcome is a part of its text
		return f.text
	}
	message := t.Value("message")
	if f.test != nil {
		why := t.Value("type")
		f.test.todo = f.test.todo || o.status == metric.Skipped && why == "todo"
		return f.test.ended(o.status, o.flaky, message)
	}
	if o.status == metric.Failed || o.status == metric.Errored {
		return f.suite.failed(message)
	}
	return nil
}

// close ends the innermost element; complete is false if the report broke off
// in it.
func (j *junitReader) close(complete bool) {
	f := *j.top()
	j.frames = j.frames[:len(j.frames)-1]
	switch f.name {
	case "testcase":
		if complete { // else its outcome may still have been to come
			j.endCase(f)
			j.spare = f.test
		}
	case "testsuites", "testsuite":
		j.endSuite(f.suite, complete)
	}
}

func (j *junitReader) endCase(f junitFrame) {
	t := f.test.result(f.suite, j.producer)
	j.add(f, t)
	for n := 2; n <= f.test.skips && j.producer == pytest; n++ { // a module that is collected twice, with its doctests, is one case
		again := t
		again.Name = fmt.Sprintf("%s[%d]", t.Name, n)
		j.add(f, again)
	}
}

// add takes a case, or another one in the same element.
func (j *junitReader) add(f junitFrame, t metric.Test) {
	j.totals.Add(t.Status)
	f.suite.own.Add(t.Status)
	f.suite.more += f.test.more(t.Status)
	if f.test.word != "" && t.Status == metric.Passed {
		j.unclear(t, f.test.word)
	}
	f.suite.sum += t.Duration
	if j.noTest(t) {
		f.suite.noTests++
		return
	}
	identify(&t, j.producer)
	if t.Name == "" {
		j.unnamed[t.Suite]++
		t.Name = fmt.Sprintf("(unnamed %d)", j.unnamed[t.Suite])
	}
	if len(j.cases) == cap(j.cases) { // doubling copies less than append does
		j.cases = slices.Grow(j.cases, max(64, len(j.cases)))
	}
	j.cases = parsed.Keep(j.cases, t)
}

// unclear takes a case whose status is a word that is not known.
func (j *junitReader) unclear(t metric.Test, word string) {
	why := fmt.Sprintf("test %q has the unknown status %q, so that it is not known whether it passed", t.Name, word)
	j.denied = cmp.Or(j.denied, why)
	j.problems.Add("%s", why)
}

// noTest lists the suite of a case that is not a test as broken, and reports
// whether t is one.
func (j *junitReader) noTest(t metric.Test) bool {
	if !t.Failed() {
		return false
	}
	for _, n := range junitNoTests {
		if (n.producer == j.producer || n.producer == "") && n.is(t) {
			suite := t.Suite
			if n.suite != nil {
				suite = n.suite(t)
			}
			j.broken = append(j.broken, metric.Suite{Name: suite, Why: cmp.Or(t.Message, t.Name, "it could not run")})
			j.noTests++
			return true
		}
	}
	return false
}

func (j *junitReader) endSuite(s *junitSuite, complete bool) {
	if complete {
		j.denied = cmp.Or(j.denied, s.check(&j.problems))
		if s.declares && len(s.name) > 0 {
			j.more += max(0, s.own.Tests-s.noTests-s.declared.Tests)
		}
		if s.declared.Tests > 0 && s.own.Plus(s.inner).Tests == 0 {
			j.hollow = append(j.hollow, metric.Suite{Name: s.id(), Why: fmt.Sprintf("its report says that it has %d tests and names none", s.declared.Tests)})
		}
	}
	if all := s.own.Plus(s.inner); all.Failed+all.Errors > 0 && s.name != "" {
		j.failing++
	}
	if j.producer == nodeTest {
		s.parent.suites = s.parent.suites.Plus(s.asOne())
	}
	s.parent.inner = s.parent.inner.Plus(s.own).Plus(s.inner)
	s.parent.more += s.more
	s.parent.sum += cmp.Or(s.took, s.sum)
	if s.why != nil {
		j.broken = append(j.broken, metric.Suite{Name: s.id(), Why: cmp.Or(s.why.String(), "the suite failed outside of its tests")})
	}
}

func (j *junitReader) report(x *xmlstream.Reader) parsed.Report {
	if noise := textstream.FirstLine(textstream.CleanText(x.TextOutside())); noise != "" {
		j.problems.Add("text outside of the report: %s", noise)
	}
	if x.UnknownRoot != "" {
		j.denied = cmp.Or(fmt.Sprintf(unreadDocument, x.UnknownRoot), j.denied)
		j.problems.Add("%s", j.denied)
	}
	if j.producer == jestJUnit && j.more > 0 {
		j.problems.Add("%d cases are more than their suites say: each is a test.todo that reads as passed, as jest-junit does not mark it; the JSON of jest does", j.more)
	}
	if j.producer == vitest {
		var broken []metric.Suite
		j.cases, broken = splitGroups(j.cases)
		j.broken = append(j.broken, broken...)
		j.noTests += len(broken)
	}
	j.compare()
	markReruns(j.cases, j.producer)
	if j.totals.Tests == 0 {
		j.broken = append(j.broken, j.hollow...)
	}
	t := parsed.Distinct(j.cases, junitSeveral[j.producer])
	t.Broken = parsed.UniqueSuites(j.broken)
	t.Duration = j.frames[0].suite.sum
	if len(t.Broken) == 0 {
		t.Failure = j.denied
	}
	if same := j.totals.Tests - j.noTests - len(t.Cases); same > 0 {
		j.problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return parsed.Report{Producer: j.producer, Tests: t, Cases: j.totals, Problems: j.problems.All()}
}
