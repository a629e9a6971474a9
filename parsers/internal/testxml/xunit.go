package testxml

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// xunitStatuses maps the results of a test, in lower case. NotRun is an explicit test that
// was not selected.
var xunitStatuses = map[string]metric.Status{
	"pass": metric.Passed, "fail": metric.Failed, "error": metric.Errored,
	"skip": metric.Skipped, "notrun": metric.Skipped,
}

// detectXUnit reports whether the head is a report of xUnit.net.
func detectXUnit(h sniff.Head) bool {
	isRun := h.Root.Attr("test-framework") != "" || h.Root.Attr("run-date") != "" || h.HasElements("test")
	return h.HasRoot("assemblies") || h.HasRoot("assembly") && isRun
}

// xunitReader reads the XML of xUnit.net, versions 1 to 3, and of Fixie: assemblies with
// collections or classes of tests. The suite is the assembly.
type xunitReader struct {
	xmlSet
	producer string // the framework of the first assembly
}

// parseXUnit reads the XML of xUnit.net.
func parseXUnit(r io.Reader) (parsed.Report, error) {
	u := &xunitReader{}
	x, err := readXML(r, "xUnit.net XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "assemblies":
			return true, x.EachChild(func(t xmlstream.Token) error {
				if t.Name == "assembly" {
					return u.readAssembly(x, t)
				}
				return nil
			})
		case "assembly":
			return true, u.readAssembly(x, t)
		}
		return false, nil
	})
	return u.report(x, u.producer), err
}

// readAssembly reads the tests and errors of an assembly, and compares its totals with them.
func (u *xunitReader) readAssembly(x *xmlstream.Reader, t xmlstream.Token) error {
	name := assemblyName(t.Value("name"))
	if framework := strings.ToLower(t.Value("test-framework")); u.producer == "" {
		u.producer = "xunit.net"
		if !strings.Contains(framework, "xunit") && framework != "" {
			u.producer, _, _ = strings.Cut(framework, " ")
		}
	}
	t.Attrs = slices.Clone(t.Attrs)

	before, broken := u.Totals, len(u.Broken)
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "errors":
			return x.EachChild(func(t xmlstream.Token) error { return u.readError(x, t, name) })
		case "collection", "class":
			return x.EachChild(func(t xmlstream.Token) error { return u.readTest(x, t, name) })
		}
		return u.readTest(x, t, name)
	})

	if err == nil {
		u.checkNotEmpty(t, name, u.Totals.Tests-before.Tests)
	}
	u.checkTotal(t, "total", "tests ran in "+name, u.Totals.Tests-before.Tests)
	u.checkFailures(t, "tests failed in "+name, []int{u.Totals.Minus(before).Unsuccessful()}, "failed")
	u.checkFailures(t, "errors in "+name, []int{len(u.Broken) - broken}, "errors")
	return err
}

// readError reads an error outside of all tests: a fixture that could not be set up or
// cleaned up, or a crash.
func (u *xunitReader) readError(x *xmlstream.Reader, t xmlstream.Token, suite string) error {
	e, err := readElement(x, t, "message", "stack-trace")
	kind, name := e.Value("type"), e.Value("name")
	if strings.HasSuffix(kind, "cleanup") && name != "" { // all tests of the fixture ran
		suite = name
	}
	u.AddBroken(suite, textstream.CleanText(strings.TrimSpace(kind+" "+name)+": "+e.lines("message", "stack-trace")))
	return err
}

// readTest reads a test of the suite. Other elements are skipped.
func (u *xunitReader) readTest(x *xmlstream.Reader, t xmlstream.Token, suite string) error {
	if t.Name != "test" {
		return nil
	}
	e, err := readElement(x, t, "failure", "message", "stack-trace", "reason", "source-file", "source-line")
	if err != nil {
		return err // the outcome may be missing
	}
	class, word := e.Value("type"), e.Value("result")
	c := metric.Test{
		ID:       metric.ID{Suite: suite, Class: class, Name: trimClass(e.Value("name"), class)},
		Status:   xunitStatuses[strings.ToLower(word)],
		Duration: parseTime(e.Value("time")),
		File:     textstream.CleanName(cmp.Or(e.child("source-file").text(), e.Value("source-file"))),
		Line:     parseNumber(cmp.Or(e.child("source-line").text(), e.Value("source-line"))),
	}
	failure := e.child("failure")
	if failure.Name != "" {
		c.Status = max(c.Status, metric.Failed)
	}
	c.Message = cmp.Or(failure.lines("message", "stack-trace"), e.child("reason").text())
	u.addKnown(c, "result", word)
	return nil
}
