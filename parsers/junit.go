package parsers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// junitOutcomes are the elements in a testcase that say how it ended. A
// testcase without any passed. An element with a status of 0 says nothing more
// than the failure beside it.
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
// or result of a testcase, beside the outcome or instead of it. Other words,
// like "run" or "completed", say nothing.
var junitStatuses = map[string]metric.Status{
	"fail": metric.Failed, "failed": metric.Failed, "failure": metric.Failed, "timeout": metric.Failed,
	"error": metric.Errored, "errored": metric.Errored, "broken": metric.Errored,
	"skipped": metric.Skipped, "skip": metric.Skipped, "ignored": metric.Skipped, "disabled": metric.Skipped,
	"notrun": metric.Skipped, "pending": metric.Skipped, "suppressed": metric.Skipped, "todo": metric.Skipped,
}

// junitProducers tell the tool that wrote a report by an attribute of one of
// its elements; the first that fits counts.
var junitProducers = []struct{ element, attr, contains, name string }{
	{"testsuite", "noNamespaceSchemaLocation", "surefire", "surefire"},
	{"testsuite", "name", "pytest", "pytest"},
	{"testsuites", "name", "pytest tests", "pytest"},
	{"testsuites", "name", "jest tests", "jest-junit"},
	{"testsuites", "name", "vitest tests", "vitest"},
	{"testsuites", "name", "nextest-run", "nextest"},
	{"testsuites", "name", "Mocha Tests", "mocha"},
	{"testsuites", "name", "AllTests", "googletest"},
	{"testsuites", "name", "supervise", "supervise"},
	{"testsuites", "name", "bun test", "bun"},
	{"testsuite", "name", "rspec", "rspec"},
	{"property", "name", "go.version", "gotestsum"},
	{"property", "name", "surefire.", "surefire"},
}

var junitRoots = map[string]bool{"testsuites": true, "testsuite": true, "testcase": true}

func detectJUnit(h sniff.Head) bool { return junitRoots[h.Root.Name] }

// junitReader reads one report. It keeps one frame for every open element.
type junitReader struct {
	frames   []junitFrame
	cases    []metric.Test
	broken   []metric.Suite
	totals   Totals
	noTests  int            // cases that stand for a suite
	unnamed  map[string]int // how many cases without a name each suite has
	producer string
	problems textstream.Problems
	noise    string
	found    bool // there is an element of a test report
}

// junitFrame is what an open element belongs to, and where its text goes.
type junitFrame struct {
	name  string
	suite *junitSuite
	test  *junitCase
	text  *textstream.Clip // nil where text means nothing
}

func parseJUnit(r io.Reader) (Report, error) {
	j := &junitReader{frames: []junitFrame{{suite: &junitSuite{}}}, unnamed: map[string]int{}}
	err := j.read(xmlstream.NewReader(r))
	for len(j.frames) > 1 { // what a cut off report began counts as far as it goes
		j.close(err == nil)
	}
	if err == nil && !j.found {
		err = fmt.Errorf("%w: there is no testsuite in it", ErrUnknownFormat)
	}
	return j.report(), err
}

func (j *junitReader) read(x *xmlstream.Reader) error {
	for {
		t, err := x.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read JUnit XML: %w", err)
		}
		switch t.Kind {
		case xmlstream.Start:
			j.open(t)
		case xmlstream.End:
			j.close(true)
		case xmlstream.Text:
			j.text(t)
		case xmlstream.Comment:
			if j.producer == "" && strings.HasPrefix(t.Text, " suites ") { // one of its totals
				j.producer = "node:test"
			}
		}
	}
}

func (j *junitReader) open(t xmlstream.Token) {
	f := j.frames[len(j.frames)-1]
	f.name = t.Name
	j.found = j.found || junitRoots[t.Name]
	switch t.Name {
	case "testsuites", "testsuite":
		f.suite, f.test, f.text = newSuite(t, f.suite), nil, nil
	case "testcase":
		f.test, f.text = newCase(t, f.suite), nil
	case "property":
		j.property(t, f)
	default:
		f.text = f.outcome(t)
	}
	if j.producer == "" {
		j.producer = junitProducer(t)
	}
	j.frames = append(j.frames, f)
}

// property knows one property: the one that [WriteJUnit] writes.
func (j *junitReader) property(t xmlstream.Token, f junitFrame) {
	if name, _ := t.Attr("name"); name == propertyBroken && f.test == nil {
		why, _ := t.Attr("value")
		j.broken = append(j.broken, metric.Suite{Name: f.suite.id(), Why: textstream.CleanText(why)})
	}
}

func junitProducer(t xmlstream.Token) string {
	for _, p := range junitProducers {
		if p.element != t.Name {
			continue
		}
		v, ok := t.Attr(p.attr)
		if !ok || !strings.Contains(v, p.contains) {
			continue
		}
		return p.name
	}
	return ""
}

// outcome takes an element in a testcase or, for a suite that could not run,
// directly in a suite. It returns where its text goes.
func (f junitFrame) outcome(t xmlstream.Token) *textstream.Clip {
	o, known := junitOutcomes[t.Name]
	if !known || f.text != nil { // an element within an outcome is a part of its text
		return f.text
	}
	message, _ := t.Attr("message")
	if f.test != nil {
		why, _ := t.Attr("type")
		f.test.todo = f.test.todo || o.status == metric.Skipped && why == "todo"
		return f.test.ended(o.status, o.flaky, message)
	}
	if o.status == metric.Failed || o.status == metric.Errored {
		return f.suite.failed(message)
	}
	return nil
}

func (j *junitReader) text(t xmlstream.Token) {
	f := j.frames[len(j.frames)-1]
	switch {
	case f.text != nil:
		f.text.Add(t.Text)
	case t.Depth == 0 && j.noise == "":
		j.noise = textstream.FirstLine(textstream.CleanText(t.Text))
	}
}

// close ends the innermost element; whole is false where the report broke off
// in it.
func (j *junitReader) close(whole bool) {
	f := j.frames[len(j.frames)-1]
	j.frames = j.frames[:len(j.frames)-1]
	switch f.name {
	case "testcase":
		if whole { // else its outcome may still have been to come
			j.endCase(f)
		}
	case "testsuites", "testsuite":
		j.endSuite(f.suite, whole)
	}
}

func (j *junitReader) endCase(f junitFrame) {
	t := f.test.result(f.suite)
	j.totals.add(t.Status)
	f.suite.own.add(t.Status)
	f.suite.sum += t.Duration
	if j.producer == "pytest" && t.File == "" { // all stand in one suite called "pytest"
		t.Suite = pytestModule(cmp.Or(f.test.test.Class, t.Name))
	}
	if j.noTest(t) {
		return
	}
	if t.Name == "" {
		j.unnamed[t.Suite]++
		t.Name = fmt.Sprintf("(unnamed %d)", j.unnamed[t.Suite])
	}
	j.cases = append(j.cases, t)
}

// junitNoTests are the cases that are no tests: they say that a file could not
// be loaded, so that none of its tests ran.
var junitNoTests = []struct {
	producer string
	is       func(metric.Test) bool
}{
	{"pytest", func(t metric.Test) bool {
		return t.Status == metric.Errored && strings.HasPrefix(t.Message, "collection failure")
	}},
	{"vitest", func(t metric.Test) bool { return t.Failed() && t.Name == t.Class && t.Name == t.Suite }},
	{"jest-junit", func(t metric.Test) bool { return t.Class == "Test suite failed to run" }},
}

// noTest lists the suite of such a case as broken, and reports whether t is one.
func (j *junitReader) noTest(t metric.Test) bool {
	for _, n := range junitNoTests {
		if n.producer == j.producer && n.is(t) {
			j.broken = append(j.broken, metric.Suite{Name: t.Suite, Why: t.Message})
			j.noTests++
			return true
		}
	}
	return false
}

// pytestModule cuts the classes off a classname like "tests.test_a.TestB":
// modules are written in lower case.
func pytestModule(classname string) string {
	parts := strings.Split(classname, ".")
	for i, p := range parts {
		if i > 0 && p != "" && p[0] >= 'A' && p[0] <= 'Z' {
			return strings.Join(parts[:i], ".")
		}
	}
	return classname
}

func (j *junitReader) endSuite(s *junitSuite, whole bool) {
	if whole {
		s.check(&j.problems)
	}
	s.parent.inner = s.parent.inner.plus(s.own).plus(s.inner)
	s.parent.sum += cmp.Or(s.took, s.sum)
	if s.why != nil {
		j.broken = append(j.broken, metric.Suite{Name: s.id(), Why: cmp.Or(s.why.String(), "the suite failed outside of its tests")})
	}
}

func (j *junitReader) report() Report {
	if j.noise != "" {
		j.problems.Add("text outside of the report: %s", j.noise)
	}
	t := metric.NewTests(j.cases)
	t.Broken = uniqueSuites(j.broken)
	t.Duration = j.frames[0].suite.sum
	if same := j.totals.Tests - j.noTests - len(t.Cases); same > 0 {
		j.problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return Report{Producer: j.producer, Tests: t, Cases: j.totals, Problems: j.problems.All()}
}
