package testxml

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"supervise/internal/textstream"
	"supervise/metric"
)

// Extensions of JUnit XML that only supervise writes. The reader understands them.
const (
	propertyBroken = "supervise.did_not_run" // of a suite, with the reason
	statusNotRun   = "not_run"               // of a test whose suite did not run
	statusFlaky    = "flaky"                 // of a test that passed in a rerun
)

// WriteJUnit writes t as JUnit XML, grouped by the Suite of the tests. A suite that did not
// run has the property "supervise.did_not_run". A test that did not run is written as a
// failure, so that other readers count it as one. It is an error if t is nil.
func WriteJUnit(w io.Writer, t *metric.Tests) error {
	if t == nil {
		return errors.New("write JUnit XML: no tests were measured")
	}
	all := junit.Testsuites{Name: "supervise", Time: formatSeconds(t.Duration)}
	broken := map[string]string{} // reasons by suite
	for _, s := range t.Broken {
		broken[s.Name] = s.Why
	}

	for first := 0; first < len(t.Cases); {
		name, last := t.Cases[first].Suite, first
		for last < len(t.Cases) && t.Cases[last].Suite == name {
			last++
		}
		suite := toJUnitSuite(name, t.Cases[first:last])
		if why, ok := broken[name]; ok {
			suite.AddProperty(propertyBroken, why)
			delete(broken, name)
		}
		suite.ID = len(all.Suites)
		all.AddSuite(suite)
		first = last
	}

	for _, name := range slices.Sorted(maps.Keys(broken)) {
		suite := junit.Testsuite{Name: name, ID: len(all.Suites), Time: formatSeconds(0)}
		suite.AddProperty(propertyBroken, broken[name])
		all.AddSuite(suite)
	}

	if err := all.WriteXML(w); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	return nil
}

// toJUnitSuite returns the testsuite element for the cases. Its time is the sum of theirs.
func toJUnitSuite(name string, cases []metric.Test) junit.Testsuite {
	suite := junit.Testsuite{Name: name}
	var sum time.Duration
	for _, c := range cases {
		suite.AddTestcase(toJUnitCase(c))
		sum += c.Duration
	}
	suite.Time = formatSeconds(sum)
	return suite
}

// toJUnitCase returns the testcase element for a test. The first line of its message is the
// attribute; a longer message is the text as well.
func toJUnitCase(c metric.Test) junit.Testcase {
	out := junit.Testcase{Name: c.Name, Classname: c.Class, Time: formatSeconds(c.Duration)}
	result := &junit.Result{Message: textstream.FirstLine(c.Message)}
	if strings.Contains(c.Message, "\n") {
		result.Data = textstream.CleanText(c.Message)
	}
	switch c.Status {
	case metric.Passed:
		if c.Flaky {
			out.Status = statusFlaky
		}
	case metric.Skipped:
		out.Skipped = result
	case metric.NotRun:
		out.Status, out.Failure = statusNotRun, result
	case metric.Failed:
		out.Failure = result
	case metric.Errored:
		out.Error = result
	}
	return out
}

// formatSeconds returns a duration in seconds: "0.250000".
func formatSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }
