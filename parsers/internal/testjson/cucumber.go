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

// cucumberFeature is one feature in the JSON of Cucumber, in all its languages, and of
// behave. It is read scenario by scenario, since scenarios may contain screenshots.
type cucumberFeature struct {
	uri      parsed.AnyText // the file, "" in reports of behave
	location parsed.AnyText // of behave, file:line
	name     parsed.AnyText
	before   []cucumberStep
	after    []cucumberStep
	status   parsed.AnyText // of behave, "" in other reports
	elements []cucumberElement
	listed   bool // the member elements exists
}

// cucumberElement is a scenario, or the background of the scenarios after it.
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

// cucumberStep is a step or a hook, with the hooks around it. A step that did not run may have
// no result.
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

// readCucumber reads a list of features and adds their scenarios as tests. An undefined or
// pending step skips its scenario, because nothing is known to be wrong. An ambiguous step
// fails it.
func readCucumber(d *document) error {
	return d.readList("Cucumber", func() error {
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
		f.addTo(d.Outcomes)
		return nil
	})
}

// read reads the next feature.
func (f *cucumberFeature) read(j *jsonstream.Reader) error {
	return parsed.ReadMembers(j, map[string]any{
		"uri": &f.uri, "location": &f.location, "name": &f.name, "before": &f.before, "after": &f.after, "status": &f.status,
		"elements": func() error {
			f.listed = true
			return parsed.ItemReader(j, func(e cucumberElement) { f.elements = append(f.elements, e) })()
		},
	})
}

// addTo adds the scenarios as tests. The steps of a background count for each scenario after
// it. A failed hook of the feature breaks its file.
func (f *cucumberFeature) addTo(s *parsed.Outcomes) {
	file, unit := string(f.uri), time.Nanosecond
	if file == "" {
		file, _ = splitLocation(string(f.location))
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
		tests = append(tests, e.toTest(file, string(f.name), slices.Concat(background, steps), unit))
		if f.uri != "" {
			background = nil // Cucumber repeats it before every scenario, behave does not
		}
	}

	numberExamples(tests)
	for _, t := range tests {
		s.Add(t)
	}

	hooks := mergeSteps(slices.Concat(f.before, f.after), unit)
	if hooks.Status > metric.Skipped || f.status == "hook_error" || f.status == "cleanup_error" {
		s.AddBroken(file, "a hook of the feature failed\n"+hooks.Message)
	}
}

// numberExamples makes the names of scenarios unique. Scenarios of one name on different lines
// are the examples of an outline and get numbers, as in "adds[2]". On one line they are reruns.
func numberExamples(tests []metric.Test) {
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

// splitLocation splits "file:line". The line is 0 if there is none.
func splitLocation(location string) (file string, line int) {
	i := strings.LastIndexByte(location, ':')
	if i < 0 {
		return location, 0
	}
	line, err := strconv.Atoi(location[i+1:])
	if err != nil {
		return location, 0
	}
	return location[:i], line
}

// cucumberStatuses maps the results of steps and scenarios, in lower case.
var cucumberStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "ambiguous": metric.Failed,
	"skipped": metric.Skipped, "pending": metric.Skipped, "undefined": metric.Skipped, "untested": metric.Skipped,
	"error": metric.Errored, "hook_error": metric.Errored, "cleanup_error": metric.Errored,
	"pending_warn": metric.Passed, "untested_pending": metric.Skipped, "untested_undefined": metric.Skipped,
	"xfailed": metric.Skipped, "xpassed": metric.Failed, "unknown": metric.Errored,
}

// parseCucumberStatus returns the status for a result, 0 for "". An unknown word is an error.
func parseCucumberStatus(word string) metric.Status {
	if word == "" {
		return 0
	}
	if s, known := cucumberStatuses[strings.ToLower(word)]; known {
		return s
	}
	return metric.Errored
}

// toTest returns the test of a scenario with the steps, which include those of its background
// and hooks. Unit is that of their durations.
func (e cucumberElement) toTest(file, feature string, steps []cucumberStep, unit time.Duration) metric.Test {
	out := mergeSteps(steps, unit)
	out.ID = metric.ID{Suite: file, Class: feature, Name: string(e.Name)}
	out.File, out.Line = file, e.Line.Int()
	if e.Location != "" {
		out.File, out.Line = splitLocation(string(e.Location))
	}
	if s := parseCucumberStatus(e.Status); s > out.Status {
		out.Status = s
	}
	if step := firstStepWithoutResult(e.Steps); step != "" && out.Status <= metric.Passed {
		out.Status, out.Message = metric.Errored, "the report does not say how a step ended: "+step
	}
	if out.Status == 0 { // a scenario without steps
		out.Status = metric.Passed
	}
	return out
}

// firstStepWithoutResult returns the name of the first step without a result, "" if all
// have one. Steps after a failure may have none.
func firstStepWithoutResult(steps []cucumberStep) string {
	for _, s := range steps {
		if s.Result == nil || s.Result.Status == "" {
			return strings.TrimSpace(string(s.Keyword) + " " + string(s.Name))
		}
	}
	return ""
}

// mergeSteps returns the worst outcome of the steps and of their hooks, and the sum of
// their durations. Its identity is not set.
func mergeSteps(steps []cucumberStep, unit time.Duration) metric.Test {
	var merged metric.Test
	merge := func(t metric.Test) {
		merged.Duration += t.Duration
		if t.Status > merged.Status {
			merged.Status, merged.Message = t.Status, t.Message
		}
	}
	for _, s := range steps {
		if r := s.Result; r != nil {
			status, message := parseCucumberStatus(r.Status), string(r.Error)
			if message == "" && status > metric.Passed {
				message = strings.TrimSpace(string(s.Keyword)) + " " + string(s.Name) + ": " + r.Status
			}
			merge(metric.Test{Status: status, Message: message, Duration: r.Duration.In(unit)})
		}
		merge(mergeSteps(s.Before, unit))
		merge(mergeSteps(s.After, unit))
	}
	return merged
}
