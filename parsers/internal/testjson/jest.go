package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// jestFile is one test file of the JSON that jest, and vitest after it, write.
// The results that jest hands to its reporters have other names for the same.
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

// jestError is an error of a file, an object or a mere text. Its message may be
// empty.
type jestError struct {
	is  bool
	why parsed.AnyText
}

// UnmarshalJSON reads what it can and never fails.
func (e *jestError) UnmarshalJSON(raw []byte) error {
	e.is = string(raw) != "null" && string(raw) != "false"
	return e.why.UnmarshalJSON(raw)
}

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

func readJest(d *document) error {
	total, failed, failedFiles, runtimeErrors := parsed.AnyNumber(-1), parsed.AnyNumber(-1), parsed.AnyNumber(-1), parsed.AnyNumber(-1)
	success, interrupted, broken := true, false, len(d.Broken)
	d.Several = true
	err := d.members("jest or vitest", []string{"testResults"}, map[string]any{
		"numTotalTests": &total, "numFailedTests": &failed, "numFailedTestSuites": &failedFiles, "numRuntimeErrorTestSuites": &runtimeErrors,
		"success": &success, "wasInterrupted": &interrupted,
		"testResults": items(d, func(f jestFile) { f.add(d.Outcomes) }),
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
	n := d.counts()
	d.Declares("tests", float64(total), n.Tests)
	d.Fails("failed tests", float64(failed), n.Bad())
	if n.Bad() == 0 && len(d.Broken) == broken {
		d.Fails("test files that failed", float64(max(failedFiles, runtimeErrors)), 0)
		if !success {
			d.Contradicts("%s says that the run failed although no test did", *d.producer)
		}
	}
	return nil
}

// jestUnloaded is how jest words that a file failed outside of its tests.
const jestUnloaded = "Test suite failed to run"

func (f jestFile) add(s *parsed.Outcomes) {
	file := string(cmp.Or(f.Name, f.TestFilePath))
	message := string(cmp.Or(f.Message, f.FailureMessage))
	failed, before := f.Status == "failed", s.Failed()
	for _, t := range append(f.AssertionResults, f.TestResults...) {
		s.Add(t.test(file))
	}
	switch {
	case f.TestExecError.is:
		s.Breaks(file, parsed.JoinMessage(string(f.TestExecError.why), message))
	case strings.Contains(message, jestUnloaded), failed && s.Failed() == before:
		s.Breaks(file, message)
	}
}

// jestStatuses are the words of jest and vitest. Unknown ones are errors.
var jestStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed,
	"pending": metric.Skipped, "skipped": metric.Skipped, "todo": metric.Skipped, "disabled": metric.Skipped, "focused": metric.Skipped,
}

// test returns the case. A pass that took several attempts, or left messages of
// a failed one, is flaky.
func (t jestTest) test(file string) metric.Test {
	var groups []string
	for i, title := range t.AncestorTitles {
		if i > 0 || !strings.HasSuffix(strings.ReplaceAll(file, `\`, "/"), "/"+string(title)) { // vitest names the file of a test of types again
			groups = append(groups, string(title))
		}
	}
	out := metric.Test{
		ID:       metric.ID{Suite: file, Class: parsed.GroupPath(groups...), Name: string(t.Title)},
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
