package testxml

import (
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// ctestStatuses maps the statuses of CTest.
var ctestStatuses = map[string]metric.Status{"passed": metric.Passed, "failed": metric.Failed, "notrun": metric.Skipped}

func detectCTest(h sniff.Head) bool { return h.HasRoot("Site") && h.HasElements("Testing") }

// ctestReader reads the Test.xml of CTest. The suite of a test is the name of the build, as
// in its JUnit XML.
type ctestReader struct {
	xmlSet
	listed []string        // full names of the planned tests
	ran    map[string]bool // by full name
}

// parseCTest reads the Test.xml of CTest.
func parseCTest(r io.Reader) (parsed.Report, error) {
	c := &ctestReader{ran: map[string]bool{}}
	x, err := readXML(r, "CTest results", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		if t.Name != "Site" {
			return false, nil
		}
		build, found := t.Value("BuildName"), false
		err := x.EachChild(func(t xmlstream.Token) error {
			if t.Name != "Testing" {
				return nil
			}
			found = true
			return c.readTesting(x, build)
		})
		return found || err != nil, err
	})
	return c.report(x, ctest), err
}

// readTesting reads the tests of a build. The build is broken if a planned test has no result.
func (c *ctestReader) readTesting(x *xmlstream.Reader, build string) error {
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestList":
			return x.EachChild(func(xmlstream.Token) error {
				name, err := readText(x)
				c.listed = append(c.listed, name)
				return err
			})
		case "Test":
			return c.readTest(x, t, build)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range c.listed {
		if !c.ran[name] {
			c.AddBroken(build, name+" was listed and has no result: the run broke off")
			break
		}
	}
	return nil
}

// readTest reads a test with its measurements.
func (c *ctestReader) readTest(x *xmlstream.Reader, t xmlstream.Token, build string) error {
	e, err := readElement(x, t, "Name", "FullName", "NamedMeasurement", "Measurement", "Value")
	if err != nil {
		return err // the outcome may be missing
	}
	measured := map[string]string{} // by name; the output of the test has the name ""
	for _, m := range e.children {
		if strings.HasSuffix(m.Name, "Measurement") {
			measured[m.Value("name")] = m.child("Value").text()
		}
	}
	word := e.Value("Status")
	test := metric.Test{
		ID:     metric.ID{Suite: build, Name: e.child("Name").text()},
		Status: ctestStatuses[word], Duration: parseTime(measured["Execution Time"]),
	}
	c.ran[e.child("FullName").text()] = true
	completion := measured["Completion Status"]
	switch test.Status {
	case metric.Failed:
		test.Message = textstream.ClipText(measured["Exit Code"] + "\n" + measured[""])
	case metric.Skipped:
		test.Message = completion
		if isNotStarted(completion) {
			test.Status = metric.Errored
		}
	default:
	}

	c.addKnown(test, "status", word)
	return nil
}
