package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// jestFile is one test file in the JSON of jest and vitest. The results that jest passes
// to its reporters have other names for the same members.
type jestFile struct {
	Name             parsed.AnyText `json:"name"`
	TestFilePath     parsed.AnyText `json:"testFilePath"`
	Status           string         `json:"status"`
	Message          parsed.AnyText `json:"message"`
	FailureMessage   parsed.AnyText `json:"failureMessage"`
	AssertionResults []jestTest     `json:"assertionResults"`
	TestResults      []jestTest     `json:"testResults"`
	TestExecError    jestError      `json:"testExecError"`
}

// jestError is an error of a file: an object or a string. Its message may be empty.
type jestError struct {
	isSet   bool
	message parsed.AnyText
}

// UnmarshalJSON decodes any JSON value. It never fails.
func (e *jestError) UnmarshalJSON(raw []byte) error {
	e.isSet = string(raw) != "null" && string(raw) != "false"
	return e.message.UnmarshalJSON(raw)
}

// jestTest is one test. AncestorTitles are the groups around it, the outermost first.
// Invocations is the number of attempts.
type jestTest struct {
	AncestorTitles  []jestTitle      `json:"ancestorTitles"`
	Title           jestTitle        `json:"title"`
	Status          string           `json:"status"`
	Duration        parsed.AnyNumber `json:"duration"` // milliseconds
	FailureMessages []parsed.AnyText `json:"failureMessages"`
	Invocations     parsed.AnyNumber `json:"invocations"`
	Location        *struct {
		Line parsed.AnyNumber `json:"line"`
	} `json:"location"`
}

// jestTitle is a title, for which old versions of jest take any value: a text, a number, a
// list of them.
type jestTitle string

// UnmarshalJSON reads what it can and never fails.
func (t *jestTitle) UnmarshalJSON(raw []byte) error {
	text := parsed.TextOf(raw)
	if raw[0] == '[' {
		text = strings.ReplaceAll(text, "\n", ",") // as JavaScript writes one
	} else if raw[0] != '"' {
		text = cmp.Or(text, string(raw))
	}
	*t = jestTitle(text)
	return nil
}

// readJest reads a report of jest or vitest. An interrupted run is an error.
func readJest(d *document) error {
	total, failed, failedFiles, runtimeErrors := parsed.AnyNumber(-1), parsed.AnyNumber(-1), parsed.AnyNumber(-1), parsed.AnyNumber(-1)
	success, interrupted, broken := true, false, len(d.Broken)
	d.NumberRepeats = true
	err := d.readMembers("jest or vitest", []string{"testResults"}, map[string]any{
		"numTotalTests": &total, "numFailedTests": &failed, "numFailedTestSuites": &failedFiles, "numRuntimeErrorTestSuites": &runtimeErrors,
		"success": &success, "wasInterrupted": &interrupted,
		"testResults": parsed.ItemReader(d.Reader, func(f jestFile) { f.addTo(d.Outcomes) }),
	})

	switch {
	case err != nil:
		return err
	case interrupted:
		return d.Error("jest says that it was interrupted before its tests had run")
	}
	if runtimeErrors >= 0 {
		*d.producer = "jest"
	}

	n := d.documentTotals()
	d.CheckTotal("tests", float64(total), n.Tests)
	d.CheckFailures("failed tests", float64(failed), n.Unsuccessful())
	if n.Unsuccessful() == 0 && len(d.Broken) == broken {
		d.CheckFailures("test files that failed", float64(max(failedFiles, runtimeErrors)), 0)
		if !success {
			d.AddContradiction("%s says that the run failed although no test did", *d.producer)
		}
	}
	return nil
}

// jestNotLoaded is the message of jest for a file that failed outside of its tests.
const jestNotLoaded = "Test suite failed to run"

// addTo adds the tests of the file. The file is broken if it has an error, or if it failed
// although none of its tests did.
func (f jestFile) addTo(s *parsed.Outcomes) {
	file := string(cmp.Or(f.Name, f.TestFilePath))
	message := string(cmp.Or(f.Message, f.FailureMessage))
	failed, before := f.Status == "failed", s.Totals.Unsuccessful()
	for _, t := range append(f.AssertionResults, f.TestResults...) {
		s.Add(t.toTest(file))
	}
	switch {
	case f.TestExecError.isSet:
		s.AddBroken(file, parsed.JoinMessage(string(f.TestExecError.message), message))
	case strings.Contains(message, jestNotLoaded), failed && s.Totals.Unsuccessful() == before:
		s.AddBroken(file, message)
	}
}

// jestStatuses maps the statuses of jest and vitest.
var jestStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed,
	"pending": metric.Skipped, "skipped": metric.Skipped, "todo": metric.Skipped, "disabled": metric.Skipped, "focused": metric.Skipped,
}

// toTest returns the test. A pass after several attempts, or with the messages of a failed
// attempt, is flaky.
func (t jestTest) toTest(file string) metric.Test {
	var groups []string
	for i, title := range t.AncestorTitles {
		isFile := i == 0 && strings.HasSuffix(strings.ReplaceAll(file, `\`, "/"), "/"+string(title))
		if !isFile { // vitest repeats the file for a test of types
			groups = append(groups, string(title))
		}
	}
	out := metric.Test{
		ID:       metric.ID{Suite: file, Class: parsed.JoinGroups(groups...), Name: string(t.Title)},
		Duration: t.Duration.In(time.Millisecond), Message: parsed.JoinTexts(t.FailureMessages, "\n"), File: file,
	}
	setStatus(&out, jestStatuses, t.Status)
	if t.Location != nil {
		out.Line = t.Location.Line.Int()
	}
	if out.Status == metric.Skipped && t.Status != "skipped" {
		out.Message = t.Status
	}
	out.Flaky = out.Status == metric.Passed && (t.Invocations > 1 || len(t.FailureMessages) > 0)
	return out
}
