package testjson

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readCucumber reads the features in the JSON of Cucumber, in all its languages, and of behave.
// It adds their scenarios as tests. An undefined or pending step skips its scenario, because
// nothing is known to be wrong. An ambiguous step fails it.
//
//	[{"uri": "a.feature", "name": "Sums", "elements": [{"type": "scenario", "name": "adds", "line": 3,
//	  "steps": [{"keyword": "Given ", "name": "two numbers", "result": {"status": "passed", "duration": 1000}}]}]}]
//
// In reports of behave, a feature has the member location, "a.feature:1", in place of the uri.
func readCucumber(d *document) error {
	return d.readList("Cucumber", func(feature item) error {
		uri, location := feature.text("uri"), feature.text("location")
		switch {
		case uri == "" && location == "" && !feature.has("elements"):
			return d.Error("this is not a feature of Cucumber: it has no place and no elements")
		case uri != "":
			addCucumberFeature(d.Outcomes, feature, uri, time.Nanosecond)
		default:
			if location != "" {
				*d.producer = "behave"
			}
			file, _ := splitLocation(location)
			addCucumberFeature(d.Outcomes, feature, file, time.Second)
		}
		return nil
	})
}

// addCucumberFeature adds the scenarios of a feature as tests. The steps of a background count
// for each scenario after it. A failed hook of the feature breaks its file. Unit is that of
// durations.
func addCucumberFeature(s *parsed.Outcomes, feature item, file string, unit time.Duration) {
	var background []item
	var tests []metric.Test
	for _, e := range feature.list("elements") {
		steps := slices.Concat(e.list("before"), e.list("steps"), e.list("after"))
		kind := e.text("type")
		if kind == "background" || kind == "" && strings.HasPrefix(e.text("keyword"), "Background") {
			background = steps
			continue
		}
		out := mergeSteps(slices.Concat(background, steps), unit)
		out.ID = metric.ID{Suite: file, Class: feature.text("name"), Name: e.text("name")}
		tests = append(tests, finishScenario(out, e))
		if feature.text("uri") != "" {
			background = nil // Cucumber repeats it before every scenario, behave does not
		}
	}

	numberExamples(tests)
	for _, t := range tests {
		s.Add(t)
	}

	hooks := mergeSteps(slices.Concat(feature.list("before"), feature.list("after")), unit)
	status := feature.text("status") // of behave
	if hooks.Status > metric.Skipped || status == "hook_error" || status == "cleanup_error" {
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

// finishScenario returns the test of a scenario with its place. Its status becomes that of the
// scenario, which behave writes, if that is worse. It is an error if a step has no result.
func finishScenario(t metric.Test, scenario item) metric.Test {
	t.File, t.Line = t.Suite, scenario.integer("line")
	if location := scenario.text("location"); location != "" {
		t.File, t.Line = splitLocation(location)
	}
	t.Status = max(t.Status, parseCucumberStatus(scenario.text("status")))
	if step := firstStepWithoutResult(scenario.list("steps")); step != "" && t.Status <= metric.Passed {
		t.Status, t.Message = metric.Errored, "the report does not say how a step ended: "+step
	}
	if t.Status == 0 { // a scenario without steps
		t.Status = metric.Passed
	}
	return t
}

// firstStepWithoutResult returns the name of the first step without a result, "" if all
// have one. Steps after a failure may have none.
func firstStepWithoutResult(steps []item) string {
	for _, s := range steps {
		if s.text("result.status") == "" {
			return strings.TrimSpace(s.text("keyword") + " " + s.text("name"))
		}
	}
	return ""
}

// mergeSteps returns the worst outcome of the steps and of their hooks, and the sum of
// their durations. Its identity is not set.
func mergeSteps(steps []item, unit time.Duration) metric.Test {
	var merged metric.Test
	merge := func(t metric.Test) {
		merged.Duration += t.Duration
		if t.Status > merged.Status {
			merged.Status, merged.Message = t.Status, t.Message
		}
	}
	for _, s := range steps {
		word, message := s.text("result.status"), s.text("result.error_message")
		status := parseCucumberStatus(word)
		if message == "" && status > metric.Passed {
			message = strings.TrimSpace(s.text("keyword")) + " " + s.text("name") + ": " + word
		}
		merge(metric.Test{Status: status, Message: message, Duration: s.number("result.duration").In(unit)})
		merge(mergeSteps(s.list("before"), unit))
		merge(mergeSteps(s.list("after"), unit))
	}
	return merged
}
