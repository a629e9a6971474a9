package testxml

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// nunitStatuses maps the results of NUnit 2 and 3, in lower case. For a test with an
// invalid signature, NUnit 2 writes NotRunnable and NUnit 3 writes Failed.
var nunitStatuses = map[string]metric.Status{
	"passed": metric.Passed, "success": metric.Passed, "warning": metric.Passed,
	"failed": metric.Failed, "failure": metric.Failed, "error": metric.Errored, "cancelled": metric.Errored,
	"skipped": metric.Skipped, "ignored": metric.Skipped, "inconclusive": metric.Skipped,
	"notrunnable": metric.Skipped, "explicit": metric.Skipped,
}

// detectNUnit reports whether the head is a report of NUnit.
func detectNUnit(h sniff.Head) bool {
	if h.HasElements("test-cases") { // Allure 1
		return false
	}
	return h.HasRoot("test-run", "test-results") || h.HasRoot("test-suite") && h.HasElements("test-case") ||
		h.HasRoot("test-suite") && h.Root.Attr("runstate")+h.Root.Attr("executed") != ""
}

// nunitReader reads the results of NUnit: "test-results" of version 2, "test-run" of
// version 3, or a "test-suite" alone.
type nunitReader struct {
	xmlSet
	isVersion2 bool // the report is of NUnit 2
}

// nunitSuite is an open test-suite.
type nunitSuite struct {
	outer    *nunitSuite // the suite around it, nil for none
	kind     string      // the attribute type, such as "Assembly" or "TestFixture"
	name     string      // the last part of its full name
	full     string      // its full name or class
	assembly string      // the assembly that has it, "" if it is not known
	cases    int         // number of cases in it, at any depth
	failed   int         // number of these that failed
}

// parseNUnit reads a report of NUnit 2 or 3.
func parseNUnit(r io.Reader) (parsed.Report, error) {
	n := &nunitReader{}
	x, err := readXML(r, "NUnit XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "test-run", "test-results":
			n.isVersion2 = n.isVersion2 || t.Name == "test-results"
			t.Attrs = slices.Clone(t.Attrs)
			top := &nunitSuite{}
			if n.isVersion2 { // its name is that of the assembly or project file
				top.assembly = assemblyName(t.Value("name"))
			}
			err := n.readChildren(x, top)
			if err == nil {
				n.compareTotals(t)
			}
			return true, err
		case "test-suite":
			return true, n.readSuite(x, t, &nunitSuite{})
		}
		return false, nil
	})
	return n.report(x, "nunit"), err
}

// compareTotals compares the totals of the report with the cases. The total of NUnit 2
// does not include tests that did not run.
func (n *nunitReader) compareTotals(t xmlstream.Token) {
	all := n.Totals
	notRun := 0
	for _, c := range n.Cases {
		if c.Status == metric.Skipped {
			notRun++
		}
	}
	if len(n.Broken) == 0 {
		n.checkNotEmpty(t, cmp.Or(assemblyName(t.Value("name")), "test run"), all.Tests)
	}
	n.checkTotal(t, "total", "tests ran", all.Tests, all.Tests-notRun, all.Tests-numberAttr(t, "not-run"))
	if n.isVersion2 {
		n.checkFailures(t, "tests failed", []int{n.Totals.Unsuccessful()}, "failures", "errors")
		return
	}
	n.checkFailures(t, "tests failed", []int{n.Totals.Unsuccessful()}, "failed")
	if statusOfNUnit(t) >= metric.Failed && n.Totals.Unsuccessful() == 0 {
		n.AddContradiction("the report says %s although no test failed", t.Value("result"))
	}
}

// numberAttr returns the number in an attribute, 0 if there is none.
func numberAttr(t xmlstream.Token, name string) int { return parseNumber(t.Value(name)) }

// readChildren reads the suites and cases in the open element, which belong to s.
func (n *nunitReader) readChildren(x *xmlstream.Reader, s *nunitSuite) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "results": // of NUnit 2
			return n.readChildren(x, s)
		case "test-suite":
			return n.readSuite(x, t, s)
		case "test-case":
			return n.readTest(x, t, s)
		}
		return nil
	})
}

// readSuite reads a suite and the cases in it, and marks it as broken if it failed by itself.
func (n *nunitReader) readSuite(x *xmlstream.Reader, t xmlstream.Token, outer *nunitSuite) error {
	s := &nunitSuite{
		outer: outer, kind: t.Value("type"), name: t.Value("name"), assembly: outer.assembly,
		full: cmp.Or(t.Value("classname"), t.Value("fullname"), t.Value("name")),
	}
	if s.kind == "Assembly" || isAssembly(s.name) {
		s.assembly = assemblyName(s.name)
	}

	result, site, why := statusOfNUnit(t), t.Value("site"), ""
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "failure", "reason":
			e, err := readElement(x, t, "message", "stack-trace")
			why = parsed.JoinMessage(why, e.lines("message", "stack-trace"))
			return err
		case "results":
			return n.readChildren(x, s)
		case "test-suite":
			return n.readSuite(x, t, s)
		case "test-case":
			return n.readTest(x, t, s)
		}
		return nil
	})

	outer.cases += s.cases
	outer.failed += s.failed
	if err != nil {
		return err
	}

	if result >= metric.Failed && s.failedByItself(site) {
		name := s.full
		if s.cases == 0 { // it is unknown which tests of the assembly are missing
			name = cmp.Or(s.assembly, s.full)
		}
		n.AddBroken(name, s.full+": "+cmp.Or(why, "it failed outside of its tests"))
	}
	return nil
}

// failedByItself reports whether a failed suite did not fail because of its tests: its
// tear-down failed, or its assembly could not be loaded. If its set-up failed, its tests
// are in the report and failed as well. Site is the attribute that says what failed.
func (s *nunitSuite) failedByItself(site string) bool {
	switch site {
	case "TearDown":
		return true
	case "Child":
		return s.cases == 0
	}
	return s.failed == 0
}

// isAssembly reports whether the name is that of a .NET assembly: "shop.dll" or "shop.exe".
func isAssembly(name string) bool {
	switch strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]) {
	case "dll", "exe":
		return true
	}
	return false
}

// statusOfNUnit returns the outcome of a suite or case, 0 for an unknown word. The word may
// be followed by a label or site: "Failed(Child)". NUnit before 2.5 has the attributes
// executed and success in place of it.
func statusOfNUnit(t xmlstream.Token) metric.Status {
	word := strings.ToLower(t.Value("result"))
	if i := strings.IndexAny(word, "(:"); i >= 0 {
		word = word[:i]
	}
	executed, success := t.Value("executed"), t.Value("success")
	switch {
	case word != "" || executed+success == "":
		return nunitStatuses[word]
	case strings.EqualFold(executed, "false"):
		return metric.Skipped
	case strings.EqualFold(success, "false"):
		return metric.Failed
	}
	return metric.Passed
}

// readTest reads a case of the suite s.
func (n *nunitReader) readTest(x *xmlstream.Reader, t xmlstream.Token, s *nunitSuite) error {
	e, err := readElement(x, t, "failure", "reason", "message", "stack-trace")
	if err != nil {
		return err // the outcome may be missing
	}
	c := metric.Test{Status: statusOfNUnit(e.Token), Duration: parseTime(cmp.Or(e.Value("duration"), e.Value("time")))}
	c.Suite = s.assembly
	c.Class, c.Name = s.classAndName(e.Token)

	word, failure := e.Value("result"), e.child("failure")
	if word == "" && failure.Name != "" {
		c.Status = max(c.Status, metric.Failed)
	}
	c.Message = parsed.JoinMessage(failure.lines("message", "stack-trace"), e.child("reason").lines("message", "stack-trace"))
	s.cases++
	if c.Status == 0 || c.Failed() {
		s.failed++
	}
	n.addKnown(c, "result", word)
	return nil
}

// classAndName returns the class and name of a case in s. NUnit 3 has attributes for both,
// and the arguments of the fixture only in the full name. NUnit 2 has one full name, whose
// class is that of the enclosing fixture.
func (s *nunitSuite) classAndName(t xmlstream.Token) (class, name string) {
	name = t.Value("name")
	full := cmp.Or(t.Value("fullname"), name)
	if class = t.Value("classname"); class != "" {
		if withArguments, ok := strings.CutSuffix(full, "."+name); ok && strings.HasPrefix(withArguments, class) {
			class = withArguments
		}
		return class, trimClass(name, class)
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
	if i := classEnd(full); i > 0 {
		return full[:i], full[i+1:]
	}
	return s.fixture(), name
}

// fixture returns the full name of the innermost suite that is a fixture, not an assembly or a
// parameterized method, "" if there is none.
func (s *nunitSuite) fixture() string {
	for o := s; o != nil; o = o.outer {
		if o.name != "" && o.kind != "Assembly" && !isAssembly(o.name) && !strings.HasPrefix(o.kind, "Parameterized") {
			return o.full
		}
	}
	return ""
}
