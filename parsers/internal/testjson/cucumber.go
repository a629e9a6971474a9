package testjson

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// cucumberFeature is one feature of the JSON that Cucumber writes in all its
// languages, and behave and others after it. It is read scenario by scenario,
// since pictures may be part of it.
type cucumberFeature struct {
	uri      parsed.AnyText
	location parsed.AnyText // of behave, file:line
	name     parsed.AnyText
	before   []cucumberStep
	after    []cucumberStep
	status   parsed.AnyText // of behave
	elements []cucumberElement
	listed   bool // it has elements
}

// cucumberElement is a scenario, or a background that belongs to the scenarios
// after it.
type cucumberElement struct {
	Type     string           `json:"type"`
	Keyword  string           `json:"keyword"`
	Name     parsed.AnyText   `json:"name"`
	ID       parsed.AnyText   `json:"id"`
	Line     parsed.AnyNumber `json:"line"`
	Location parsed.AnyText   `json:"location"`
	Status   string           `json:"status"` // of behave
	Before   []cucumberStep   `json:"before"`
	Steps    []cucumberStep   `json:"steps"`
	After    []cucumberStep   `json:"after"`
}

type cucumberStep struct {
	Keyword parsed.AnyText `json:"keyword"`
	Name    parsed.AnyText `json:"name"`
	Result  *struct {
		Status   string           `json:"status"`
		Duration parsed.AnyNumber `json:"duration"` // nanoseconds; of behave seconds
		Error    parsed.AnyText   `json:"error_message"`
	} `json:"result"`
	Before []cucumberStep `json:"before"`
	After  []cucumberStep `json:"after"`
}

// readCucumber reads scenarios as tests. An undefined or pending step skips its
// scenario, because it does not say that something is wrong; an ambiguous one fails it.
func readCucumber(d *document) error {
	return d.list("Cucumber", func() error {
		var f cucumberFeature
		if err := f.read(d.Reader); err != nil {
			return err
		}
		if f.uri == "" && f.location == "" && !f.listed {
			return d.Error("this is not a feature of Cucumber: it has no place and no elements")
		}
		if f.uri == "" && f.location != "" {
			*d.producer = "behave"
		}
		f.add(d.Outcomes)
		return nil
	})
}

func (f *cucumberFeature) read(j *jsonstream.Reader) error {
	return parsed.Members(j, map[string]any{
		"uri": &f.uri, "location": &f.location, "name": &f.name, "before": &f.before, "after": &f.after, "status": &f.status,
		"elements": func() error {
			f.listed = true
			return parsed.Items(j, func(e cucumberElement) { f.elements = append(f.elements, e) })()
		},
	})
}

func (f *cucumberFeature) add(s *parsed.Outcomes) {
	file, unit := string(f.uri), time.Nanosecond
	if file == "" {
		file, _ = splitLine(string(f.location))
		unit = time.Second
	}
	var background []cucumberStep
	var tests []metric.Test
	for _, e := range f.elements {
		steps := slices.Concat(e.Before, e.Steps, e.After)
		if e.Type == "background" || e.Type == "" && strings.HasPrefix(e.Keyword, "Background") {
			background = steps
			continue
		}
		tests = append(tests, e.test(file, string(f.name), slices.Concat(background, steps), unit))
		if f.uri != "" {
			background = nil // it is repeated before every scenario
		}
	}
	nameExamples(tests)
	for _, t := range tests {
		s.Add(t)
	}
	broken := worstStep(slices.Concat(f.before, f.after), unit)
	if broken.Status > metric.Skipped || f.status == "hook_error" || f.status == "cleanup_error" {
		s.Breaks(file, "a hook of the feature failed\n"+broken.Message)
	}
}

// nameExamples makes the names of scenarios unique: those of other lines are
// the examples of an outline, those of one line are attempts at the same.
func nameExamples(tests []metric.Test) {
	groups := map[metric.ID][]*metric.Test{}
	for i := range tests {
		groups[tests[i].ID] = append(groups[tests[i].ID], &tests[i])
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b *metric.Test) int { return cmp.Compare(a.Line, b.Line) })
		several := group[0].Line != group[len(group)-1].Line
		n := 0
		for i, t := range group {
			t.Rerun = i > 0 && group[i-1].Line == t.Line
			if !t.Rerun {
				n++
			}
			if several {
				t.Name += fmt.Sprintf("[%d]", n)
			}
		}
	}
}

func splitLine(place string) (file string, line int) {
	i := strings.LastIndexByte(place, ':')
	if i < 0 {
		return place, 0
	}
	n, err := strconv.Atoi(place[i+1:])
	if err != nil {
		return place, 0
	}
	return place[:i], n
}

// cucumberStatuses are the words for the result of a step or scenario, in any
// case.
var cucumberStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "ambiguous": metric.Failed,
	"skipped": metric.Skipped, "pending": metric.Skipped, "undefined": metric.Skipped, "untested": metric.Skipped,
	"error": metric.Errored, "hook_error": metric.Errored, "cleanup_error": metric.Errored,
	"pending_warn": metric.Passed, "untested_pending": metric.Skipped, "untested_undefined": metric.Skipped,
	"xfailed": metric.Skipped, "xpassed": metric.Failed, "unknown": metric.Errored,
}

// cucumberStatus returns what a word means: an unknown one is an error, and
// none is nothing.
func cucumberStatus(word string) metric.Status {
	if word == "" {
		return 0
	}
	if s, known := cucumberStatuses[strings.ToLower(word)]; known {
		return s
	}
	return metric.Errored
}

func (e cucumberElement) test(file, feature string, steps []cucumberStep, unit time.Duration) metric.Test {
	out := worstStep(steps, unit)
	out.ID = metric.ID{Suite: file, Class: feature, Name: string(e.Name)}
	out.File, out.Line = file, e.Line.Int()
	if e.Location != "" {
		out.File, out.Line = splitLine(string(e.Location))
	}
	if s := cucumberStatus(e.Status); s > out.Status {
		out.Status = s
	}
	if open := withoutResult(e.Steps); open != "" && out.Status <= metric.Passed {
		out.Status, out.Message = metric.Errored, "the report does not say how a step ended: "+open
	}
	if out.Status == 0 { // a scenario without steps
		out.Status = metric.Passed
	}
	return out
}

// withoutResult returns the first step without a result, "" if there is none. Those after
// a failure may have none.
func withoutResult(steps []cucumberStep) string {
	for _, s := range steps {
		if s.Result == nil || s.Result.Status == "" {
			return strings.TrimSpace(string(s.Keyword) + " " + string(s.Name))
		}
	}
	return ""
}

// worstStep returns the outcome of steps and the hooks around them.
func worstStep(steps []cucumberStep, unit time.Duration) metric.Test {
	var out metric.Test
	take := func(t metric.Test) {
		out.Duration += t.Duration
		if t.Status > out.Status {
			out.Status, out.Message = t.Status, t.Message
		}
	}
	for _, s := range steps {
		if r := s.Result; r != nil {
			why := string(r.Error)
			if why == "" && cucumberStatus(r.Status) > metric.Passed {
				why = strings.TrimSpace(string(s.Keyword)) + " " + string(s.Name) + ": " + r.Status
			}
			take(metric.Test{Status: cucumberStatus(r.Status), Message: why, Duration: r.Duration.In(unit)})
		}
		take(worstStep(s.Before, unit))
		take(worstStep(s.After, unit))
	}
	return out
}
