package testtext

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var (
	exunitModule   = regexp.MustCompile(`^([A-Z][\pL\pN_.]*) \[(\S+\.exs?)\]$`)
	exunitTest     = regexp.MustCompile(`^  \* ((?:test|doctest|property|feature) .+?)(?: \(([0-9.]+ms|skipped|excluded|invalid)\))? \[L#(\d+)\]$`)
	exunitDetail   = regexp.MustCompile(`^ {1,4}\d+\) (.+) \(([A-Z][\pL\pN_.]*)\)$`)
	exunitSetup    = regexp.MustCompile(`^ {1,4}\d+\) ([A-Z][\pL\pN_.]*): failure on setup_all callback`)
	exunitTotals   = regexp.MustCompile(`^\d+ (?:tests?|doctests?|propert(?:y|ies)|features?)(?:, \d+ (?:tests?|propert(?:y|ies)|features?))*, (\d+) failures?\b(.*)$`)
	exunitFinished = regexp.MustCompile(`^Finished in [0-9.]+ seconds(?: \(|$)`)
	exunitNumber   = regexp.MustCompile(`(\d+) (tests?|doctests?|property|properties|features?|excluded|invalid|skipped)\b`)
)

func detectExUnit(h sniff.Head) bool {
	return h.MatchesLine(exunitFinished.MatchString) && h.MatchesLine(exunitTotals.MatchString) || h.MatchesLine(exunitModule.MatchString) && h.MatchesLine(func(l string) bool {
		return exunitTest.MatchString(lastPart(l))
	})
}

// lastPart returns what a terminal shows of a line that was written over.
func lastPart(line string) string { return line[strings.LastIndexByte(line, '\r')+1:] }

// exunit reads what mix test --trace prints.
type exunit struct {
	set    parsed.Outcomes
	cases  []metric.Test
	index  map[metric.ID]int
	file   string
	module string
	files  map[string]string // of the modules
	about  []int             // the tests that the lines belong to
	setup  string            // the module whose failed setup the lines belong to
	output textstream.Clip
	totals string
	failed int
}

func parseExUnit(r io.Reader) (parsed.Report, error) {
	e := &exunit{index: map[metric.ID]int{}, files: map[string]string{}, failed: -1}
	err := eachLine(r, "", func(s string) { e.line(lastPart(s)) })
	e.shown()
	for _, c := range e.cases {
		e.set.Add(c)
	}
	if err == nil {
		err = e.fault()
	}
	return e.set.Report("ExUnit"), err
}

// fault compares the totals with the recount.
func (e *exunit) fault() error {
	if e.failed < 0 {
		return &parsed.SyntaxError{Problem: "the report ends before its totals: mix test was stopped, or its output was cut off"}
	}
	stated := 0
	for _, m := range exunitNumber.FindAllStringSubmatch(e.totals, -1) {
		switch m[2] {
		case "excluded", "invalid", "skipped":
		default:
			stated += parsed.CountOf(m[1]).Int()
		}
	}
	switch {
	case len(e.cases) == 0 && stated > 0:
		return fmt.Errorf("%w: mix test names its tests with --trace only", parsed.ErrUnknownFormat)
	case len(e.cases) < stated:
		return &parsed.SyntaxError{Problem: fmt.Sprintf("%d tests ran, and %d are named: run mix test with --trace", stated, len(e.cases))}
	}
	e.set.Declares("tests", float64(stated), len(e.cases))
	e.set.Fails("failures", float64(e.failed), e.set.Totals.Failed, e.set.Failed())
	return nil
}

func (e *exunit) line(text string) {
	if m := exunitTotals.FindStringSubmatch(text); m != nil {
		e.shown()
		e.totals = text
		e.failed, _ = strconv.Atoi(m[1]) // digits
		return
	}
	if m := exunitModule.FindStringSubmatch(text); m != nil {
		e.shown()
		e.module, e.file = m[1], m[2]
		e.files[m[1]] = m[2]
		return
	}
	if m := exunitTest.FindStringSubmatch(text); m != nil {
		e.shown()
		e.test(m)
		return
	}
	if m := exunitSetup.FindStringSubmatch(text); m != nil {
		e.shown()
		e.invalid(m[1])
		return
	}
	if m := exunitDetail.FindStringSubmatch(text); m != nil {
		e.shown()
		if i, ok := e.index[metric.ID{Suite: e.files[m[2]], Class: m[2], Name: m[1]}]; ok {
			e.cases[i].Status = metric.Failed
			e.about = []int{i}
		}
		return
	}
	if e.about != nil || e.setup != "" {
		e.output.Add(strings.TrimPrefix(text, "     ") + "\n")
	}
}

// test takes the line of a test, which is passed until the report says that it
// failed.
func (e *exunit) test(m []string) {
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

// invalid takes back the outcomes of a module whose setup failed.
func (e *exunit) invalid(module string) {
	e.setup = module
	for i := range e.cases {
		if c := &e.cases[i]; c.Class == module && c.Status != metric.Skipped {
			c.Status = metric.Errored
			e.about = append(e.about, i)
		}
	}
}

func (e *exunit) shown() {
	message := e.output.String()
	for _, i := range e.about {
		e.cases[i].Message = message
	}
	if e.setup != "" {
		e.set.Breaks(e.files[e.setup], "setup_all of "+e.setup+" failed: "+textstream.FirstLine(message))
	}
	e.about, e.setup, e.output = nil, "", textstream.Clip{}
}
