package testjson

import (
	"cmp"
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
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

// jestAbout is what the report says of itself.
type jestAbout struct {
	total, failed, failedFiles, runtimeErrors parsed.AnyNumber // -1 where it says nothing

	success     bool
	interrupted bool
	files       bool
}

func detectJest(h sniff.Head) bool {
	return h.JSON("testResults", "numTotalTests") || h.JSON("testResults.[].assertionResults")
}

func parseJest(r io.Reader) (parsed.Report, error) {
	s, producer := &parsed.Outcomes{}, "vitest"
	s.Several = true
	return s.DocumentsOf(r, &producer, func(j *jsonstream.Reader) error {
		about, before := jestAbout{total: -1, failed: -1, failedFiles: -1, runtimeErrors: -1, success: true}, len(s.Broken)
		counted := s.Totals
		if err := about.read(j, s); err != nil {
			return err
		}
		switch {
		case !about.files:
			return parsed.OtherShape(j, "this is no report of jest or vitest: it has no testResults")
		case about.interrupted:
			return j.Error("jest says that it was interrupted before its tests had run")
		}
		if about.runtimeErrors >= 0 {
			producer = "jest"
		}
		s.Declares("tests", float64(about.total), s.Totals.Tests-counted.Tests)
		failed := s.Failed() - counted.Failed - counted.Errors
		s.Fails("failed tests", float64(about.failed), failed)
		if failed == 0 && len(s.Broken) == before {
			s.Fails("test files that failed", float64(max(about.failedFiles, about.runtimeErrors)), 0)
			if !about.success {
				s.Contradicts("%s says that the run failed although no test did", producer)
			}
		}
		return nil
	})
}

func (a *jestAbout) read(j *jsonstream.Reader, s *parsed.Outcomes) error {
	return parsed.Members(j, map[string]any{
		"numTotalTests": &a.total, "numFailedTests": &a.failed, "numFailedTestSuites": &a.failedFiles, "numRuntimeErrorTestSuites": &a.runtimeErrors,
		"success": &a.success, "wasInterrupted": &a.interrupted,
		"testResults": func() error {
			a.files = true
			return parsed.Items(j, func(f jestFile) { f.add(s) })()
		},
	})
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
		if i > 0 || !strings.HasSuffix(strings.ReplaceAll(file, `\`, "/"), "/"+string(title)) { // vitest names the file of a test of types once more
			groups = append(groups, string(title))
		}
	}
	out := metric.Test{
		ID:       metric.ID{Suite: file, Class: parsed.GroupPath(groups...), Name: string(t.Title)},
		Status:   metric.Errored,
		Duration: t.Duration.In(time.Millisecond),
		Message:  parsed.JoinTexts(t.FailureMessages, "\n"),
		File:     file,
	}
	if s, known := jestStatuses[t.Status]; known {
		out.Status = s
	} else {
		out.Message = parsed.JoinMessage("it has the unknown status "+t.Status, out.Message)
	}
	if t.Location != nil {
		out.Line = t.Location.Line.Whole()
	}
	if out.Status == metric.Skipped && t.Status != "skipped" {
		out.Message = t.Status
	}
	out.Flaky = out.Status == metric.Passed && (t.Invocations > 1 || len(t.FailureMessages) > 0)
	return out
}
