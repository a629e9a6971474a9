package testxml

import (
	"io"
	"strconv"
	"time"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// detectQtTest reports whether the head is XML of Qt Test.
func detectQtTest(h sniff.Head) bool {
	return h.HasRoot("TestCase", "Environment") && (h.HasElements("QtVersion") || h.HasElements("TestFunction", "Incident"))
}

// qtReader reads the XML of Qt Test, which may be of several programs in one file. Its light
// XML has no root element.
type qtReader struct {
	xmlSet
	outcomes   parsed.QtOutcomes
	inLightXML bool // within a program in light XML
}

// parseQtTest reads the XML of Qt Test. It is an error if there are no tests, or if light XML
// has no end.
func parseQtTest(r io.Reader) (parsed.Report, error) {
	q := &qtReader{}
	x, err := readXML(r, "Qt Test XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "TestCase":
			err := q.readProgram(x, t.Value("name"))
			q.outcomes.MoveTo(&q.TestSet)
			return true, err
		case "TestFunction": // in light XML
			q.inLightXML = true
			return true, q.readFunction(x, "QtTest", t.Value("name"))
		case "Duration":
			q.inLightXML = false
			return true, nil
		}
		return t.Name == "Environment", nil
	})

	q.outcomes.MoveTo(&q.TestSet)
	switch {
	case err != nil:
	case q.inLightXML:
		err = &parsed.SyntaxError{Problem: "the report ends before the duration of the program: it crashed, or was cut off"}
	case len(q.Cases) == 0:
		err = &parsed.SyntaxError{Problem: "there are no test functions in it"}
	}
	return q.report(x, "qttest"), err
}

// readProgram reads the test functions of a program. Class is its test class.
func (q *qtReader) readProgram(x *xmlstream.Reader, class string) error {
	return x.EachChild(func(t xmlstream.Token) error {
		if t.Name == "TestFunction" {
			return q.readFunction(x, class, t.Value("name"))
		}
		return nil
	})
}

// readFunction reads the outcomes of a test function.
func (q *qtReader) readFunction(x *xmlstream.Reader, class, name string) error {
	before := len(q.outcomes.Cases)
	var took time.Duration
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "Incident", "Message":
			return q.readOutcome(x, t, class, name)
		case "Duration":
			ms, _ := strconv.ParseFloat(t.Value("msecs"), 64) // 0 if it is not a number
			took = parsed.Seconds(ms / 1000)
		}
		return nil
	})
	if err == nil && len(q.outcomes.Cases) == before {
		q.outcomes.TestFor(class, name, "") // it has no outcome
	}
	if len(q.outcomes.Cases) == before+1 { // otherwise it is the duration of all rows
		q.outcomes.Cases[before].Duration = took
	}
	return err
}

// readOutcome reads an incident, which is an outcome, or a message. Of messages only skips and
// fatal ones count.
func (q *qtReader) readOutcome(x *xmlstream.Reader, t xmlstream.Token, class, function string) error {
	e, err := readElement(x, t, "DataTag", "Description")
	if err != nil {
		return err
	}
	word, message := e.Value("type"), e.child("Description").text()
	if word == "qfatal" {
		q.outcomes.EarlyEnd = parsed.JoinReason("a fatal message ended the program", message)
	}
	s, known := q.outcomes.StatusOf(word)
	if t.Name == "Message" && word != "skip" {
		return nil
	}
	test := q.outcomes.TestFor(class, function, e.child("DataTag").text())
	if !known {
		s = metric.Errored
		q.Problems.Add("test %q has the unknown outcome %q: it counts as an error", test.Name, word)
	}
	q.outcomes.AddOutcome(test, s, message, e.Value("file"), parseNumber(e.Value("line")))
	return nil
}
