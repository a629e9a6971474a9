package testxml

import (
	"io"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var ctestStatuses = map[string]metric.Status{"passed": metric.Passed, "failed": metric.Failed, "notrun": metric.Skipped}

func detectCTest(h sniff.Head) bool { return h.HasRoot("Site") && h.HasElements("Testing") }

// ctestReader reads the Test.xml of CTest. The suite is the build's name, as in
// its JUnit XML.
type ctestReader struct {
	xmlSet
	listed []string        // the tests that were to run
	ran    map[string]bool // by full name
}

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
			return c.testing(x, build)
		})
		return found || err != nil, err
	})
	return c.report(x, ctest), err
}

func (c *ctestReader) testing(x *xmlstream.Reader, build string) error {
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestList":
			return x.EachChild(func(xmlstream.Token) error {
				name, err := clipped(x)
				c.listed = append(c.listed, name)
				return err
			})
		case "Test":
			return c.test(x, t, build)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range c.listed {
		if !c.ran[name] {
			c.Breaks(build, name+" was listed and has no result: the run broke off")
			break
		}
	}
	return nil
}

func (c *ctestReader) test(x *xmlstream.Reader, t xmlstream.Token, build string) error {
	word := t.Value("Status")
	test := metric.Test{ID: metric.ID{Suite: build}, Status: ctestStatuses[word]}
	full, measured := "", map[string]string{}
	results := func(xmlstream.Token) error {
		return x.EachChild(func(t xmlstream.Token) error { return ctestMeasurement(x, t, measured) })
	}
	err := children(x, map[string]any{"Name": &test.Name, "FullName": &full, "Results": results})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	c.ran[full] = true
	test.Duration = junitTime(measured["Execution Time"])
	why := measured["Completion Status"]
	switch test.Status {
	case metric.Failed:
		test.Message = textstream.ClipText(measured["Exit Code"] + "\n" + measured[""])
	case metric.Skipped:
		test.Message = why
		if notStarted(why) {
			test.Status = metric.Errored
		}
	default:
	}
	c.addKnown(test, "status", word)
	return nil
}

// ctestMeasurement reads one value; the output of the test has no name.
func ctestMeasurement(x *xmlstream.Reader, t xmlstream.Token, into map[string]string) error {
	name := t.Value("name")
	return x.EachChild(func(t xmlstream.Token) (err error) {
		if t.Name == "Value" {
			into[name], err = clipped(x)
		}
		return err
	})
}
