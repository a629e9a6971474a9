package testxml

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

func detectBoost(h sniff.Head) bool {
	return h.HasRoot("TestLog") || h.HasRoot("TestResult") && h.HasElements("TestSuite")
}

// boostReader reads the log and the report of Boost.Test in XML, also both in one file.
// The log has messages, and no word for an outcome: what failed is below its test. The
// report has the outcomes, which count where both name a test. The suite is the module,
// the class the suites in it.
type boostReader struct {
	xmlSet
	cases  []metric.Test
	logged map[metric.ID]int // which case the log has of a test, until the report has it too
	suites []string          // those that are open
	stray  string            // a failure of the log that belongs to no test
	stated int               // how many cases there are, as the report says
}

func parseBoost(r io.Reader) (parsed.Report, error) {
	b := &boostReader{logged: map[metric.ID]int{}}
	x, err := readXML(r, "Boost.Test XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "TestLog":
			return true, b.log(x)
		case "TestResult":
			return true, b.result(x)
		}
		return false, nil
	})
	for _, c := range b.cases {
		b.Add(c)
	}
	if err == nil {
		err = b.fault()
	}
	return b.report(x, "boost"), err
}

// fault is the error of a report without test cases.
func (b *boostReader) fault() error {
	switch {
	case len(b.cases) > 0 || len(b.Broken) > 0:
		return nil
	case b.stray != "":
		return &parsed.SyntaxError{Problem: "the log names no test cases, and an error outside of them: " + b.stray + ": let the program write it with --log_level=test_suite or all"}
	case b.stated > 0:
		return &parsed.SyntaxError{Problem: fmt.Sprintf("the report counts %d test cases and names none: let the program write it with --report_level=detailed", b.stated)}
	}
	return &parsed.SyntaxError{Problem: "there are no test cases in it: let the program write it with --log_level=test_suite or all, or --report_level=detailed"}
}

// log reads a suite of the log, or the log itself.
func (b *boostReader) log(x *xmlstream.Reader) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestSuite":
			b.suites = append(b.suites, t.Value("name"))
			err := b.log(x)
			b.suites = b.suites[:len(b.suites)-1]
			return err
		case "TestCase":
			return b.logCase(x, t)
		case "TestResult": // the report of a program that writes both to one place
			return b.result(x)
		case "Error", "FatalError", "Exception":
			text, err := clipped(x)
			if len(b.suites) == 0 {
				b.stray = text
				return err
			}
			b.Breaks(b.suites[0], text)
			return err
		}
		return nil
	})
}

func (b *boostReader) id(name string) metric.ID {
	id := metric.ID{Name: name}
	if len(b.suites) > 0 {
		id.Suite, id.Class = b.suites[0], parsed.GroupPath(b.suites[1:]...)
	}
	return id
}

// boostFailures are the elements below a test of the log that failed it.
var boostFailures = map[string]metric.Status{"Error": metric.Failed, "FatalError": metric.Failed, "Exception": metric.Errored}

func (b *boostReader) logCase(x *xmlstream.Reader, t xmlstream.Token) error {
	test := metric.Test{
		ID: b.id(t.Value("name")), File: textstream.CleanName(t.Value("file")), Line: junitLine(t.Value("line")), Status: metric.Passed,
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
			text, err := clipped(x)
			us, _ := strconv.ParseFloat(text, 64) // 0 if it is not a number
			test.Duration = parsed.Seconds(us / float64(time.Second/time.Microsecond))
			return err
		}
		return nil
	})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	if !why.Empty() {
		test.Message = why.String()
	}
	b.logged[test.ID] = len(b.cases)
	b.cases = parsed.Keep(b.cases, test)
	return nil
}

// boostOutcomes are the words of the report.
var boostOutcomes = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "aborted": metric.Errored, "timed-out": metric.Errored, "skipped": metric.Skipped,
}

// result reads a suite of the report, or the report itself.
func (b *boostReader) result(x *xmlstream.Reader) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestSuite":
			return b.resultSuite(x, t)
		case "TestCase":
			b.resultCase(t)
		}
		return nil
	})
}

func (b *boostReader) resultSuite(x *xmlstream.Reader, t xmlstream.Token) error {
	stated := t
	stated.Attrs = append([]xmlstream.Attr{}, t.Attrs...) // the reader uses them again
	module := t.Value("name")
	b.suites = append(b.suites, module)
	err := b.result(x)
	b.suites = b.suites[:len(b.suites)-1]
	if len(b.suites) > 0 || err != nil {
		return err
	}
	bad := 0
	for _, c := range b.cases {
		if c.Suite == module && c.Status > metric.NotRun {
			bad++
		}
	}
	for _, name := range []string{"test_cases_passed", "test_cases_failed", "test_cases_timed_out"} {
		b.stated += max(0, declaredNumber(stated, name))
	}
	if word := stated.Value("result"); bad == 0 && boostOutcomes[word] > metric.NotRun {
		b.Contradicts("the report calls module %q %s and holds no test that failed", module, word)
	}
	if len(b.cases) > 0 {
		b.fails(stated, "test cases failed or timed out", []int{bad}, "test_cases_failed", "test_cases_timed_out")
	}
	return nil
}

func (b *boostReader) resultCase(t xmlstream.Token) {
	word := t.Value("result")
	test := metric.Test{ID: b.id(t.Value("name")), Status: boostOutcomes[word]}
	if test.Status == 0 {
		test.Status = metric.Errored
		b.Problems.Add("test %q has the unknown result %q: it counts as an error", test.Name, word)
	}
	i, known := b.logged[test.ID]
	if !known {
		b.cases = parsed.Keep(b.cases, test)
		return
	}
	delete(b.logged, test.ID)
	if b.cases[i].Status = test.Status; test.Status == metric.Passed {
		b.cases[i].Message = ""
	}
}
