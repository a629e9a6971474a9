package testxml

import (
	"io"

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
	word := t.Value("Status")
	test := metric.Test{ID: metric.ID{Suite: build}, Status: ctestStatuses[word]}

	full, measured := "", map[string]string{}
	results := func(xmlstream.Token) error {
		return x.EachChild(func(t xmlstream.Token) error { return readCTestMeasurement(x, t, measured) })
	}
	err := readElements(x, map[string]any{"Name": &test.Name, "FullName": &full, "Results": results})
	if err != nil {
		return err // the outcome may be missing
	}

	c.ran[full] = true
	test.Duration = parseTime(measured["Execution Time"])
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

// readCTestMeasurement adds a measurement to values, by its name, such as "Execution Time". The
// output of the test has the name "".
func readCTestMeasurement(x *xmlstream.Reader, t xmlstream.Token, values map[string]string) error {
	name := t.Value("name")
	return x.EachChild(func(t xmlstream.Token) (err error) {
		if t.Name == "Value" {
			values[name], err = readText(x)
		}
		return err
	})
}
