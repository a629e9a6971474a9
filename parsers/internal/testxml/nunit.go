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

// nunitResults are the outcomes of a test in the words of NUnit 2 and 3. A test
// that cannot be run because of its signature is not run in NUnit 2; NUnit 3
// calls it failed.
var nunitResults = map[string]metric.Status{
	"passed": metric.Passed, "success": metric.Passed, "warning": metric.Passed,
	"failed": metric.Failed, "failure": metric.Failed, "error": metric.Errored, "cancelled": metric.Errored,
	"skipped": metric.Skipped, "ignored": metric.Skipped, "inconclusive": metric.Skipped,
	"notrunnable": metric.Skipped, "explicit": metric.Skipped,
}

func detectNUnit(h sniff.Head) bool {
	if h.HasElements("test-cases") { // Allure 1
		return false
	}
	return h.HasRoot("test-run", "test-results") || h.HasRoot("test-suite") && h.HasElements("test-case") ||
		h.HasRoot("test-suite") && h.Root.Attr("runstate")+h.Root.Attr("executed") != ""
}

// nunitReader reads the results of NUnit: "test-results" of version 2 and of
// those who write like it, "test-run" of version 3, or a test-suite alone.
type nunitReader struct {
	xmlSet
	old bool // NUnit 2
}

// nunitSuite is an open test-suite.
type nunitSuite struct {
	outer    *nunitSuite
	kind     string
	name     string // the last part
	full     string
	assembly string
	cases    int // within it, at any depth
	failed   int
}

func parseNUnit(r io.Reader) (parsed.Report, error) {
	n := &nunitReader{}
	x, err := readXML(r, "NUnit XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "test-run", "test-results":
			n.old = n.old || t.Name == "test-results"
			t.Attrs = append([]xmlstream.Attr{}, t.Attrs...)
			top := &nunitSuite{}
			if n.old { // it names the assembly, or the file of a project
				top.assembly = assembly(t.Value("name"))
			}
			err := n.inside(x, top)
			if err == nil {
				n.compare(t)
			}
			return true, err
		case "test-suite":
			return true, n.suite(x, t, &nunitSuite{})
		}
		return false, nil
	})
	return n.report(x, "nunit"), err
}

// compare looks at what the report says of itself. NUnit 2 leaves out of its
// total what did not run.
func (n *nunitReader) compare(t xmlstream.Token) {
	all := n.Totals
	notRun := 0
	for _, c := range n.Cases {
		if c.Status == metric.Skipped {
			notRun++
		}
	}
	if len(n.Broken) == 0 {
		n.hollow(t, cmp.Or(assembly(t.Value("name")), "test run"), all.Tests)
	}
	n.declared(t, "total", "tests ran", all.Tests, all.Tests-notRun, all.Tests-declaredNumber(t, "not-run"))
	if n.old {
		n.fails(t, "tests failed", []int{n.bad()}, "failures", "errors")
		return
	}
	n.fails(t, "tests failed", []int{n.bad()}, "failed")
	if nunitStatus(t) >= metric.Failed && n.bad() == 0 {
		n.Contradicts("the report says %s although no test failed", t.Value("result"))
	}
}

func declaredNumber(t xmlstream.Token, name string) int { return junitLine(t.Value(name)) }

// inside reads the suites and cases in the open element.
func (n *nunitReader) inside(x *xmlstream.Reader, s *nunitSuite) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "results": // of NUnit 2
			return n.inside(x, s)
		case "test-suite":
			return n.suite(x, t, s)
		case "test-case":
			return n.test(x, t, s)
		}
		return nil
	})
}

func (n *nunitReader) suite(x *xmlstream.Reader, t xmlstream.Token, outer *nunitSuite) error {
	s := &nunitSuite{
		outer: outer, kind: t.Value("type"), name: t.Value("name"), assembly: outer.assembly,
		full: cmp.Or(t.Value("classname"), t.Value("fullname"), t.Value("name")),
	}
	if s.kind == "Assembly" || isAssembly(s.name) {
		s.assembly = assembly(s.name)
	}
	result, site := nunitStatus(t), t.Value("site")
	var why textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "failure", "reason":
			return nunitMessage(x, &why)
		case "results":
			return n.inside(x, s)
		case "test-suite":
			return n.suite(x, t, s)
		case "test-case":
			return n.test(x, t, s)
		}
		return nil
	})
	outer.cases += s.cases
	outer.failed += s.failed
	if err != nil {
		return err
	}
	if result >= metric.Failed && s.alone(site) {
		name := s.full
		if s.cases == 0 { // tests of the assembly are missing
			name = cmp.Or(s.assembly, s.full)
		}
		n.Breaks(name, s.full+": "+cmp.Or(why.String(), "it failed outside of its tests"))
	}
	return nil
}

// alone reports whether a suite that failed did so by itself, and not because
// one of its tests did: its tear down failed, or its assembly could not be
// loaded. Where its set up failed its tests are there, and failed as well.
func (s *nunitSuite) alone(site string) bool {
	switch site {
	case "TearDown":
		return true
	case "Child":
		return s.cases == 0
	}
	return s.failed == 0
}

func isAssembly(name string) bool {
	switch strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]) {
	case "dll", "exe":
		return true
	}
	return false
}

// nunitStatus returns the outcome of a suite or case, 0 for an unknown
// word. A word may be followed by a label or site: "Failed(Child)". NUnit before
// 2.5 says only whether a test was executed, and whether with success: what
// was executed and did not fail passed.
func nunitStatus(t xmlstream.Token) metric.Status {
	word := strings.ToLower(t.Value("result"))
	if i := strings.IndexAny(word, "(:"); i >= 0 {
		word = word[:i]
	}
	executed, success := t.Value("executed"), t.Value("success")
	switch {
	case word != "" || executed+success == "":
		return nunitResults[word]
	case strings.EqualFold(executed, "false"):
		return metric.Skipped
	case strings.EqualFold(success, "false"):
		return metric.Failed
	}
	return metric.Passed
}

// nunitMessage reads the message and stack trace in a failure or reason.
func nunitMessage(x *xmlstream.Reader, c *textstream.Clip) error {
	return x.EachChild(func(t xmlstream.Token) error {
		if t.Name == "message" || t.Name == "stack-trace" {
			return content(x, c)
		}
		return nil
	})
}

func (n *nunitReader) test(x *xmlstream.Reader, t xmlstream.Token, s *nunitSuite) error {
	word := t.Value("result")
	c := metric.Test{Status: nunitStatus(t), Duration: junitTime(cmp.Or(t.Value("duration"), t.Value("time")))}
	c.Suite = s.assembly
	c.Class, c.Name = s.names(t)
	var why textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "failure":
			if word == "" {
				c.Status = max(c.Status, metric.Failed)
			}
			return nunitMessage(x, &why)
		case "reason":
			return nunitMessage(x, &why)
		}
		return nil
	})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	c.Message = why.String()
	s.cases++
	if c.Status == 0 || c.Failed() {
		s.failed++
	}
	n.addKnown(c, "result", word)
	return nil
}

// names returns the class and name of a case. NUnit 3 says both, the arguments
// of a fixture in the full name alone; NUnit 2 gives one full name, whose class
// is that of the fixture around it.
func (s *nunitSuite) names(t xmlstream.Token) (class, name string) {
	name = t.Value("name")
	full := cmp.Or(t.Value("fullname"), name)
	if class = t.Value("classname"); class != "" {
		if long, ok := strings.CutSuffix(full, "."+name); ok && strings.HasPrefix(long, class) {
			class = long
		}
		return class, withoutClass(name, class)
	}
	for o := s; o != nil; o = o.outer {
		if o.name == "" || strings.HasPrefix(o.kind, "Parameterized") {
			continue
		}
		if at := strings.LastIndex("."+full, "."+o.name+"."); at >= 0 {
			end := at + len(o.name)
			return full[:end], full[end+1:]
		}
	}
	if i := lastDot(full); i > 0 {
		return full[:i], full[i+1:]
	}
	return s.fixture(), name
}

// fixture returns the name of the innermost suite that is not an assembly.
func (s *nunitSuite) fixture() string {
	for o := s; o != nil; o = o.outer {
		if o.name != "" && o.kind != "Assembly" && !isAssembly(o.name) && !strings.HasPrefix(o.kind, "Parameterized") {
			return o.full
		}
	}
	return ""
}
