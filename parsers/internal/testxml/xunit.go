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
	kind, name := t.Value("type"), t.Value("name")
	if strings.HasSuffix(kind, "cleanup") && name != "" { // all tests of the fixture ran
		suite = name
	}
	message, err := readXUnitFailure(x)
	u.AddBroken(suite, textstream.CleanText(strings.TrimSpace(kind+" "+name)+": "+message))
	return err
}

// readXUnitFailure reads the message and stack trace in a failure or error.
func readXUnitFailure(x *xmlstream.Reader) (string, error) {
	var c textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "failure":
			why, err := readXUnitFailure(x)
			c.Add(why)
			return err
		case "message", "stack-trace":
			return addText(x, &c)
		}
		return nil
	})
	return c.String(), err
}

// readTest reads a test of the suite. Other elements are skipped.
func (u *xunitReader) readTest(x *xmlstream.Reader, t xmlstream.Token, suite string) error {
	if t.Name != "test" {
		return nil
	}
	class := t.Value("type")
	word := t.Value("result")
	c := metric.Test{
		ID:       metric.ID{Suite: suite, Class: class, Name: trimClass(t.Value("name"), class)},
		Status:   xunitStatuses[strings.ToLower(word)],
		Duration: parseTime(t.Value("time")),
		File:     textstream.CleanName(t.Value("source-file")),
	}

	line := t.Value("source-line")
	err := readElements(x, map[string]any{
		"source-file": &c.File, "source-line": &line,
		"failure": func(xmlstream.Token) (err error) {
			c.Status = max(c.Status, metric.Failed)
			c.Message, err = readXUnitFailure(x)
			return err
		},
		"reason": func(xmlstream.Token) error {
			why, err := readText(x)
			c.Message = cmp.Or(c.Message, why)
			return err
		},
	})
	if err != nil {
		return err // the outcome may be missing
	}

	c.Line = parseNumber(line)
	u.addKnown(c, "result", word)
	return nil
}
