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

func detectQtTest(h sniff.Head) bool {
	return h.HasRoot("TestCase", "Environment") && (h.HasElements("QtVersion") || h.HasElements("TestFunction", "Incident"))
}

// qtReader reads the XML of Qt Test, also several programs in one file. The light XML has
// no root.
type qtReader struct {
	xmlSet
	qt    parsed.QtSet
	light bool // functions without a root, and no end yet
}

func parseQtTest(r io.Reader) (parsed.Report, error) {
	q := &qtReader{}
	x, err := readXML(r, "Qt Test XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		switch t.Name {
		case "TestCase":
			err := q.program(x, t.Value("name"))
			q.qt.AddTo(&q.TestSet)
			return true, err
		case "TestFunction": // of light XML
			q.light = true
			return true, q.function(x, "QtTest", t.Value("name"))
		case "Duration":
			q.light = false
			return true, nil
		}
		return t.Name == "Environment", nil
	})
	q.qt.AddTo(&q.TestSet)
	switch {
	case err != nil:
	case q.light:
		err = &parsed.SyntaxError{Problem: "the report ends before the duration of the program: it crashed, or was cut off"}
	case len(q.Cases) == 0:
		err = &parsed.SyntaxError{Problem: "there are no test functions in it"}
	}
	return q.report(x, "qttest"), err
}

func (q *qtReader) program(x *xmlstream.Reader, class string) error {
	return x.EachChild(func(t xmlstream.Token) error {
		if t.Name == "TestFunction" {
			return q.function(x, class, t.Value("name"))
		}
		return nil
	})
}

func (q *qtReader) function(x *xmlstream.Reader, class, name string) error {
	before := len(q.qt.Cases)
	var took time.Duration
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "Incident", "Message":
			return q.said(x, t, class, name)
		case "Duration":
			ms, _ := strconv.ParseFloat(t.Value("msecs"), 64) // 0 if it is not a number
			took = parsed.Seconds(ms / 1000)
		}
		return nil
	})
	if err == nil && len(q.qt.Cases) == before {
		q.qt.Test(class, name, "") // without outcome
	}
	if len(q.qt.Cases) == before+1 { // else it is that of all rows
		q.qt.Cases[before].Duration = took
	}
	return err
}

func (q *qtReader) said(x *xmlstream.Reader, t xmlstream.Token, class, function string) error {
	word, file, line := t.Value("type"), t.Value("file"), junitLine(t.Value("line"))
	incident := t.Name == "Incident"
	var row, message string
	if err := children(x, map[string]any{"DataTag": &row, "Description": &message}); err != nil {
		return err
	}
	if word == "qfatal" {
		q.qt.Why = parsed.Because("a fatal message ended the program", message)
	}
	s, known := q.qt.Outcome(word)
	if !incident && word != "skip" {
		return nil
	}
	test := q.qt.Test(class, function, row)
	if !known {
		s = metric.Errored
		q.Problems.Add("test %q has the unknown outcome %q: it counts as an error", test.Name, word)
	}
	q.qt.Say(test, s, message, file, line)
	return nil
}
