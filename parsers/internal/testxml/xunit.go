package testxml

import (
	"cmp"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// xunitResults are the outcomes of a test. NotRun is an explicit test that
// was not asked for.
var xunitResults = map[string]metric.Status{
	"pass": metric.Passed, "fail": metric.Failed, "error": metric.Errored,
	"skip": metric.Skipped, "notrun": metric.Skipped,
}

func detectXUnit(h sniff.Head) bool {
	return h.HasRoot("assemblies") || h.HasRoot("assembly") && (h.Root.Attr("test-framework") != "" || h.Root.Attr("run-date") != "" || h.HasElements("test"))
}

// xunitReader reads the XML of xUnit.net, versions 1 to 3, and of Fixie:
// assemblies, with collections or classes of tests. The suite is the assembly.
type xunitReader struct {
	xmlSet
	producer string
}

func parseXUnit(r io.Reader) (parsed.Report, error) {
	u := &xunitReader{}
	x, err := readXML(r, "xUnit.net XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "assemblies":
			return true, x.EachChild(func(t xmlstream.Token) error {
				if t.Name == "assembly" {
					return u.assembly(x, t)
				}
				return nil
			})
		case "assembly":
			return true, u.assembly(x, t)
		}
		return false, nil
	})
	return u.report(x, u.producer), err
}

func (u *xunitReader) assembly(x *xmlstream.Reader, t xmlstream.Token) error {
	name := assembly(t.Value("name"))
	if framework := strings.ToLower(t.Value("test-framework")); u.producer == "" {
		u.producer = "xunit.net"
		if !strings.Contains(framework, "xunit") && framework != "" {
			u.producer, _, _ = strings.Cut(framework, " ")
		}
	}
	t.Attrs = append([]xmlstream.Attr{}, t.Attrs...)
	before, broken := u.Totals, len(u.Broken)
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "errors":
			return x.EachChild(func(t xmlstream.Token) error { return u.failed(x, t, name) })
		case "collection", "class":
			return x.EachChild(func(t xmlstream.Token) error { return u.test(x, t, name) })
		}
		return u.test(x, t, name)
	})
	if err == nil {
		u.hollow(t, name, u.Totals.Tests-before.Tests)
	}
	u.declared(t, "total", "tests ran in "+name, u.Totals.Tests-before.Tests)
	u.fails(t, "tests failed in "+name, []int{u.bad() - before.Failed - before.Errors}, "failed")
	u.fails(t, "errors in "+name, []int{len(u.Broken) - broken}, "errors")
	return err
}

// failed reads an error outside of all tests: a fixture that could not be set
// up or cleaned up, or a crash.
func (u *xunitReader) failed(x *xmlstream.Reader, t xmlstream.Token, suite string) error {
	kind, what := t.Value("type"), t.Value("name")
	if strings.HasSuffix(kind, "cleanup") && what != "" { // all of its tests ran
		suite = what
	}
	why, err := xunitFailure(x)
	u.Breaks(suite, textstream.CleanText(strings.TrimSpace(kind+" "+what)+": "+why))
	return err
}

// xunitFailure reads the message and stack trace in a failure or error.
func xunitFailure(x *xmlstream.Reader) (string, error) {
	var c textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "failure":
			why, err := xunitFailure(x)
			c.Add(why)
			return err
		case "message", "stack-trace":
			return content(x, &c)
		}
		return nil
	})
	return c.String(), err
}

func (u *xunitReader) test(x *xmlstream.Reader, t xmlstream.Token, suite string) error {
	if t.Name != "test" {
		return nil
	}
	class := t.Value("type")
	word := t.Value("result")
	c := metric.Test{
		ID:       metric.ID{Suite: suite, Class: class, Name: withoutClass(t.Value("name"), class)},
		Status:   xunitResults[strings.ToLower(word)],
		Duration: junitTime(t.Value("time")),
		File:     textstream.CleanName(t.Value("source-file")),
	}
	line := t.Value("source-line")
	err := children(x, map[string]any{
		"source-file": &c.File, "source-line": &line,
		"failure": func(xmlstream.Token) (err error) {
			c.Status = max(c.Status, metric.Failed)
			c.Message, err = xunitFailure(x)
			return err
		},
		"reason": func(xmlstream.Token) error {
			why, err := clipped(x)
			c.Message = cmp.Or(c.Message, why)
			return err
		},
	})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	c.Line = junitLine(line)
	u.addKnown(c, "result", word)
	return nil
}
