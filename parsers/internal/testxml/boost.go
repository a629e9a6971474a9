package testxml

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// detectBoost reports whether the head is a log or report of Boost.Test.
func detectBoost(h sniff.Head) bool {
	return h.HasRoot("TestLog") || h.HasRoot("TestResult") && h.HasElements("TestSuite")
}

// boostReader reads the log and the report of Boost.Test in XML, or both in one file. The
// log has messages: a test with an error in it failed. The report has outcomes, which count
// if both name a test. The suite of a test is its module, and the class the suites in it.
type boostReader struct {
	xmlSet
	cases        []metric.Test
	logged       map[metric.ID]int // index in cases of a test of the log, until the report has it too
	openSuites   []string          // names of the open suites; the first one is the module
	strayFailure string            // a failure of the log that belongs to no suite, "" for none
	statedCases  int               // number of test cases, as the report says
}

// parseBoost reads the log and the report of Boost.Test. It is an error if there are no test
// cases.
func parseBoost(r io.Reader) (parsed.Report, error) {
	b := &boostReader{logged: map[metric.ID]int{}}
	x, err := readXML(r, "Boost.Test XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "TestLog":
			return true, b.readLog(x)
		case "TestResult":
			return true, b.readResult(x)
		}
		return false, nil
	})
	for _, c := range b.cases {
		b.Add(c)
	}
	if err == nil {
		err = b.checkCases()
	}
	return b.report(x, "boost"), err
}

// checkCases returns an error that says which option is missing if the report has no test
// cases.
func (b *boostReader) checkCases() error {
	switch {
	case len(b.cases) > 0 || len(b.Broken) > 0:
		return nil
	case b.strayFailure != "":
		return &parsed.SyntaxError{Problem: "the log names no test cases, and an error outside of them: " + b.strayFailure + ": let the program write it with --log_level=test_suite or all"}
	case b.statedCases > 0:
		return &parsed.SyntaxError{Problem: fmt.Sprintf("the report counts %d test cases and names none: let the program write it with --report_level=detailed", b.statedCases)}
	}
	return &parsed.SyntaxError{Problem: "there are no test cases in it: let the program write it with --log_level=test_suite or all, or --report_level=detailed"}
}

// readLog reads a suite of the log, or the entire log.
func (b *boostReader) readLog(x *xmlstream.Reader) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestSuite":
			b.openSuites = append(b.openSuites, t.Value("name"))
			err := b.readLog(x)
			b.openSuites = b.openSuites[:len(b.openSuites)-1]
			return err
		case "TestCase":
			return b.readLogCase(x, t)
		case "TestResult": // the report of a program that writes both to one file
			return b.readResult(x)
		case "Error", "FatalError", "Exception":
			text, err := readText(x)
			if len(b.openSuites) == 0 {
				b.strayFailure = text
				return err
			}
			b.AddBroken(b.openSuites[0], text)
			return err
		}
		return nil
	})
}

// testID returns the identity of a test in the open suites.
func (b *boostReader) testID(name string) metric.ID {
	id := metric.ID{Name: name}
	if len(b.openSuites) > 0 {
		id.Suite, id.Class = b.openSuites[0], parsed.JoinGroups(b.openSuites[1:]...)
	}
	return id
}

// boostFailures maps the elements in a test of the log that mean that it failed.
var boostFailures = map[string]metric.Status{"Error": metric.Failed, "FatalError": metric.Failed, "Exception": metric.Errored}

// readLogCase adds a test of the log. It passed if no failure is in it.
func (b *boostReader) readLogCase(x *xmlstream.Reader, t xmlstream.Token) error {
	test := metric.Test{
		ID: b.testID(t.Value("name")), File: textstream.CleanName(t.Value("file")), Line: parseNumber(t.Value("line")), Status: metric.Passed,
	}
	if t.Value("skipped") == "yes" {
		test.Status, test.Message = metric.Skipped, textstream.ClipText(t.Value("reason"))
	}

	var why textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		status, failed := boostFailures[t.Name]
		switch {
		case failed:
			test.Status = max(test.Status, status)
			why.Add(textstream.CleanText(t.Value("file") + ":" + t.Value("line") + ": "))
			return addLine(x, &why)
		case t.Name == "TestingTime":
			text, err := readText(x)
			us, _ := strconv.ParseFloat(text, 64) // 0 if it is not a number
			test.Duration = parsed.Seconds(us / float64(time.Second/time.Microsecond))
			return err
		}
		return nil
	})
	if err != nil {
		return err // the outcome may be missing
	}
	if !why.Empty() {
		test.Message = why.String()
	}

	b.logged[test.ID] = len(b.cases)
	b.cases = parsed.AppendLimited(b.cases, test)
	return nil
}

// boostStatuses maps the results in the report.
var boostStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "aborted": metric.Errored, "timed-out": metric.Errored, "skipped": metric.Skipped,
}

// readResult reads a suite of the report, or the entire report.
func (b *boostReader) readResult(x *xmlstream.Reader) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestSuite":
			return b.readResultSuite(x, t)
		case "TestCase":
			b.addResultCase(t)
		}
		return nil
	})
}

// readResultSuite reads a suite of the report. At the end of a module, it compares the totals
// with the tests.
func (b *boostReader) readResultSuite(x *xmlstream.Reader, t xmlstream.Token) error {
	stated := t
	stated.Attrs = slices.Clone(t.Attrs) // the reader reuses the memory of t.Attrs
	module := t.Value("name")
	b.openSuites = append(b.openSuites, module)
	err := b.readResult(x)
	b.openSuites = b.openSuites[:len(b.openSuites)-1]
	if len(b.openSuites) > 0 || err != nil {
		return err
	}

	failed := 0
	for _, c := range b.cases {
		if c.Suite == module && c.Status > metric.NotRun {
			failed++
		}
	}

	for _, name := range []string{"test_cases_passed", "test_cases_failed", "test_cases_timed_out"} {
		b.statedCases += max(0, numberAttr(stated, name))
	}

	if word := stated.Value("result"); failed == 0 && boostStatuses[word] > metric.NotRun {
		b.AddContradiction("the report calls module %q %s and holds no test that failed", module, word)
	}
	if len(b.cases) > 0 {
		b.checkFailures(stated, "test cases failed or timed out", []int{failed}, "test_cases_failed", "test_cases_timed_out")
	}
	return nil
}

// addResultCase adds a test of the report, or sets the outcome of a test of the log.
func (b *boostReader) addResultCase(t xmlstream.Token) {
	word := t.Value("result")
	test := metric.Test{ID: b.testID(t.Value("name")), Status: boostStatuses[word]}
	if test.Status == 0 {
		test.Status = metric.Errored
		b.Problems.Add("test %q has the unknown result %q: it counts as an error", test.Name, word)
	}
	i, known := b.logged[test.ID]
	if !known {
		b.cases = parsed.AppendLimited(b.cases, test)
		return
	}
	delete(b.logged, test.ID)
	if b.cases[i].Status = test.Status; test.Status == metric.Passed {
		b.cases[i].Message = ""
	}
}
