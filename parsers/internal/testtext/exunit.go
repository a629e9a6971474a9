package testtext

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var (
	// exunitModulePattern matches the heading of a module: "ShopTest [test/shop_test.exs]".
	exunitModulePattern = regexp.MustCompile(`^([A-Z][\pL\pN_.]*) \[(\S+\.exs?)\]$`)
	// exunitTestPattern matches the line of a test, which starts without a time: "  * test adds
	// (0.1ms) [L#5]".
	exunitTestPattern = regexp.MustCompile(`^  \* ((?:test|doctest|property|feature) .+?)(?: \(([0-9.]+ms|skipped|excluded|invalid)\))? \[L#(\d+)\]$`)
	// exunitDetailPattern matches the heading of a failure: "  1) test adds (ShopTest)".
	exunitDetailPattern = regexp.MustCompile(`^ {1,4}\d+\) (.+) \(([A-Z][\pL\pN_.]*)\)$`)
	// exunitSetupPattern matches the heading of a failed set-up: "  1) ShopTest: failure on
	// setup_all callback".
	exunitSetupPattern = regexp.MustCompile(`^ {1,4}\d+\) ([A-Z][\pL\pN_.]*): failure on setup_all callback`)
	// exunitTotalsPattern matches the totals: "3 doctests, 2 tests, 1 failure, 1 skipped".
	exunitTotalsPattern = regexp.MustCompile(`^\d+ (?:tests?|doctests?|propert(?:y|ies)|features?)(?:, \d+ (?:tests?|propert(?:y|ies)|features?))*, (\d+) failures?\b(.*)$`)
	// exunitFinishedPattern matches the line before the totals: "Finished in 0.1 seconds (0.0s
	// async, 0.1s sync)".
	exunitFinishedPattern = regexp.MustCompile(`^Finished in [0-9.]+ seconds(?: \(|$)`)
	// exunitNumberPattern matches one of the totals: "2 tests".
	exunitNumberPattern = regexp.MustCompile(`(\d+) (tests?|doctests?|property|properties|features?|excluded|invalid|skipped)\b`)
)

// detectExUnit reports whether the head has the totals of ExUnit, or a module with a test.
func detectExUnit(h sniff.Head) bool {
	isTest := func(l string) bool { return exunitTestPattern.MatchString(visiblePart(l)) }
	return h.MatchesLine(exunitFinishedPattern.MatchString) && h.MatchesLine(exunitTotalsPattern.MatchString) ||
		h.MatchesLine(exunitModulePattern.MatchString) && h.MatchesLine(isTest)
}

// visiblePart returns the part of a line that a terminal shows: after the last carriage return.
func visiblePart(line string) string { return line[strings.LastIndexByte(line, '\r')+1:] }

// exunitReader reads the output of mix test --trace.
type exunitReader struct {
	set            parsed.Outcomes
	cases          []metric.Test
	index          map[metric.ID]int // of the tests in cases
	file           string            // of the module
	module         string            // the module whose tests are read
	files          map[string]string // the files of the modules
	outputTests    []int             // indexes of the tests whose details are read, nil for none
	failedSetup    string            // the module whose failed set-up is read, "" for none
	output         textstream.Clip   // the details that were read
	totals         string            // the line with the totals
	statedFailures int               // -1 before the totals
}

// parseExUnit reads the output of mix test --trace. It is an error if it names fewer tests than
// its totals count.
func parseExUnit(r io.Reader) (parsed.Report, error) {
	e := &exunitReader{index: map[metric.ID]int{}, files: map[string]string{}, statedFailures: -1}
	err := eachLine(r, "", func(s string) { e.readLine(visiblePart(s)) })
	e.flushOutput()
	for _, c := range e.cases {
		e.set.Add(c)
	}
	if err == nil {
		err = e.checkTotals()
	}
	return e.set.Report("ExUnit"), err
}

// checkTotals compares the totals with the tests, and returns an error if tests are missing.
func (e *exunitReader) checkTotals() error {
	if e.statedFailures < 0 {
		return &parsed.SyntaxError{Problem: "the report ends before its totals: mix test was stopped, or its output was cut off"}
	}
	stated := 0
	for _, m := range exunitNumberPattern.FindAllStringSubmatch(e.totals, -1) {
		if !slices.Contains([]string{"excluded", "invalid", "skipped"}, m[2]) {
			stated += parsed.ParseNumber(m[1]).Int()
		}
	}
	if err := namesError(len(e.cases), stated, "mix test names its tests with --trace only", "run mix test with --trace"); err != nil {
		return err
	}
	e.set.CheckTotal("tests", float64(stated), len(e.cases))
	e.set.CheckFailures("failures", float64(e.statedFailures), e.set.Totals.Failed, e.set.Totals.Unsuccessful())
	return nil
}

// readLine handles a line: a heading, a test, the totals, or a detail of a failure.
func (e *exunitReader) readLine(text string) {
	if m := exunitTotalsPattern.FindStringSubmatch(text); m != nil {
		e.flushOutput()
		e.totals = text
		e.statedFailures, _ = strconv.Atoi(m[1]) // digits
		return
	}

	if m := exunitModulePattern.FindStringSubmatch(text); m != nil {
		e.flushOutput()
		e.module, e.file = m[1], m[2]
		e.files[m[1]] = m[2]
		return
	}

	if m := exunitTestPattern.FindStringSubmatch(text); m != nil {
		e.flushOutput()
		e.addTest(m)
		return
	}

	if m := exunitSetupPattern.FindStringSubmatch(text); m != nil {
		e.flushOutput()
		e.failModule(m[1])
		return
	}

	if m := exunitDetailPattern.FindStringSubmatch(text); m != nil {
		e.flushOutput()
		if i, ok := e.index[metric.ID{Suite: e.files[m[2]], Class: m[2], Name: m[1]}]; ok {
			e.cases[i].Status = metric.Failed
			e.outputTests = []int{i}
		}
		return
	}

	if e.outputTests != nil || e.failedSetup != "" {
		e.output.Add(strings.TrimPrefix(text, "     ") + "\n")
	}
}

// addTest handles the line of a test, which has the parts m of exunitTestPattern. mix test
// prints the line without a time when the test starts. A test with a time counts as passed
// until the details of a failure follow.
func (e *exunitReader) addTest(m []string) {
	id := metric.ID{Suite: e.file, Class: e.module, Name: m[1]}
	i, known := e.index[id]
	if !known {
		i = len(e.cases)
		e.index[id] = i
		e.cases = append(e.cases, metric.Test{ID: id, File: e.file})
	}
	c := &e.cases[i]
	c.Line, _ = strconv.Atoi(m[3]) // digits
	switch m[2] {
	case "": // it began
		c.Status, c.Message = metric.Errored, "it began and did not end"
	case "skipped", "excluded":
		c.Status, c.Message = metric.Skipped, m[2]
	case "invalid":
		c.Status, c.Message = metric.Errored, m[2]
	default:
		took, _ := strconv.ParseFloat(strings.TrimSuffix(m[2], "ms"), 64) // digits
		c.Status, c.Message, c.Duration = metric.Passed, "", parsed.Seconds(took/1000)
	}
}

// failModule marks the tests of a module whose setup_all failed as errors.
func (e *exunitReader) failModule(module string) {
	e.failedSetup = module
	for i := range e.cases {
		if c := &e.cases[i]; c.Class == module && c.Status != metric.Skipped {
			c.Status = metric.Errored
			e.outputTests = append(e.outputTests, i)
		}
	}
}

// flushOutput sets the collected output as the message of the tests that it is about.
func (e *exunitReader) flushOutput() {
	message := e.output.String()
	for _, i := range e.outputTests {
		e.cases[i].Message = message
	}
	if e.failedSetup != "" {
		e.set.AddBroken(e.files[e.failedSetup], "setup_all of "+e.failedSetup+" failed: "+textstream.FirstLine(message))
	}
	e.outputTests, e.failedSetup, e.output = nil, "", textstream.Clip{}
}
