package testjson

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// cucumberMessages reads the messages of one run, one a line
// (https://github.com/cucumber/messages). A message has one member, whose name says what it is:
//
//	{"gherkinDocument": {"uri": "a.feature", "feature": {"name": "Sums", "children": […]}}}
//	{"pickle": {"id": "7", "uri": "a.feature", "name": "adds", "astNodeIds": ["3"]}}
//	{"testCase": {"id": "8", "pickleId": "7"}}
//	{"testCaseStarted": {"id": "9", "testCaseId": "8", "attempt": 0}}
//	{"testStepFinished": {"testCaseStartedId": "9", "testStepResult": {"status": "PASSED", "duration": {"nanos": 5}}}}
//	{"testCaseFinished": {"testCaseStartedId": "9"}}
//
// A pickle is a scenario that is to run, which refers to the nodes of the file with it.
type cucumberMessages struct {
	set        parsed.Outcomes
	producer   string                   // the implementation of Cucumber
	lines      map[string]int           // line of a scenario or example, by the ID of its node
	features   map[string]string        // name of the feature, by file
	pickles    map[string]metric.Test   // tests without an outcome, by the ID of their pickle
	cases      map[string]string        // ID of the pickle, by that of the test case
	attempts   map[string]*metric.Test  // open attempts, by ID
	finished   map[string][]metric.Test // tests with an outcome, by file
	files      []string                 // the files in finished, in order
	state      string                   // "running" or "finished", "" before the run
	saysFailed bool                     // the run calls itself failed
}

// parseCucumberMessages reads the messages of a run. A run without an end is an error.
func parseCucumberMessages(r io.Reader) (parsed.Report, error) {
	c := &cucumberMessages{
		lines: map[string]int{}, features: map[string]string{}, pickles: map[string]metric.Test{},
		cases: map[string]string{}, attempts: map[string]*metric.Test{}, finished: map[string][]metric.Test{},
	}
	noise, err := parsed.ReadEvents(r, eventHandler(c.handleMessage))
	if noise != "" {
		c.set.Problems.Add("text between the messages: %s", noise)
	}
	if err == nil && c.state != "finished" {
		err = &parsed.SyntaxError{Problem: "the test run did not finish: cucumber was stopped, or its messages were cut off"}
	}
	c.addTests()
	return c.set.Report(cmp.Or(c.producer, "cucumber")), err
}

// handleMessage handles one message: of the run here, and of its sources in handleSource.
func (c *cucumberMessages) handleMessage(message item, line textstream.Line) error {
	for kind, m := range message.members("") {
		switch kind {
		case "testRunStarted":
			c.state = "running"
		case "testCase":
			c.cases[m.text("id")] = m.text("pickleId")
		case "testCaseStarted":
			t, known := c.pickles[c.cases[m.text("testCaseId")]]
			if !known {
				return line.Error("the scenario that starts is not known")
			}
			t.Rerun = m.number("attempt") > 0
			c.attempts[m.text("id")] = &t
		case "testStepFinished":
			if t := c.attempts[m.text("testCaseStartedId")]; t != nil {
				addStepResult(t, m.at("testStepResult"))
			}
		case "testRunHookFinished":
			if parseCucumberStatus(m.text("result.status")) > metric.Skipped {
				c.set.AddBroken("cucumber", "a hook around the run failed\n"+m.text("result.message"))
			}
		case "testCaseFinished":
			c.finishAttempt(m.text("testCaseStartedId"), m.isTrue("willBeRetried"))
		case "testRunFinished":
			c.state = "finished"
			c.saysFailed = m.has("success") && !m.isTrue("success")
			c.set.Failure = cmp.Or(m.text("message"), c.set.Failure)
		default:
			c.handleSource(kind, m)
		}
	}
	return nil
}

// handleSource handles the messages that describe the features and the planned scenarios.
func (c *cucumberMessages) handleSource(kind string, m item) {
	switch kind {
	case "meta":
		c.producer = m.text("implementation.name")
	case "gherkinDocument":
		c.features[m.text("uri")] = m.text("feature.name")
		c.indexLines(m.list("feature.children"))
	case "parseError":
		c.set.AddBroken(m.text("source.uri"), m.text("message"))
	case "pickle":
		file := m.text("uri")
		t := metric.Test{ID: metric.ID{Suite: file, Class: c.features[file], Name: m.text("name")}, File: file}
		for _, id := range m.texts("astNodeIds") { // the example follows its outline
			t.Line = cmp.Or(c.lines[id], t.Line)
		}
		c.pickles[m.text("id")] = t
	}
}

// indexLines stores the lines of all scenarios and examples by their node ID. Children are
// scenarios, or rules with scenarios.
func (c *cucumberMessages) indexLines(children []item) {
	for _, child := range children {
		c.indexLines(child.list("rule.children"))
		nodes := []item{child.at("scenario")}
		for _, e := range child.list("scenario.examples") {
			nodes = append(nodes, e.list("tableBody")...)
		}
		for _, node := range nodes {
			c.lines[node.text("id")] = node.integer("location.line")
		}
	}
}

// addStepResult adds the result of a step to its test. The worst result counts.
func addStepResult(t *metric.Test, result item) {
	t.Duration += result.number("duration.seconds").In(time.Second) + result.number("duration.nanos").In(time.Nanosecond)
	if s := parseCucumberStatus(result.text("status")); s > t.Status {
		t.Status, t.Message = s, result.text("message")
	}
}

// finishAttempt handles the end of an attempt. One that is retried is not an outcome.
func (c *cucumberMessages) finishAttempt(id string, willBeRetried bool) {
	t := c.attempts[id]
	delete(c.attempts, id)
	if t == nil || willBeRetried {
		return
	}
	if t.Status == 0 { // a scenario without steps
		t.Status = metric.Passed
	}
	t.Flaky, t.Rerun = t.Rerun && t.Status == metric.Passed, false
	c.addFinished(*t)
}

// addFinished adds a test to those of its file.
func (c *cucumberMessages) addFinished(t metric.Test) {
	if _, known := c.finished[t.Suite]; !known {
		c.files = append(c.files, t.Suite)
	}
	c.finished[t.Suite] = append(c.finished[t.Suite], t)
}

// addTests adds all tests to the report, and checks what the run says of itself.
func (c *cucumberMessages) addTests() {
	for _, id := range slices.Sorted(maps.Keys(c.attempts)) {
		t := *c.attempts[id]
		t.Status, t.Message = metric.Errored, parsed.JoinMessage("it began and did not end", t.Message)
		c.addFinished(t)
	}
	for _, file := range c.files {
		numberExamples(c.finished[file])
		for _, t := range c.finished[file] {
			c.set.Add(t)
		}
	}
	if c.saysFailed && c.set.Totals.Unsuccessful() == 0 {
		c.set.AddContradiction("the run says that it failed although no scenario did; undefined and pending steps count as skipped")
	}
	if n := len(c.cases) - c.set.Totals.Tests; n > 0 {
		c.set.Problems.Add("%d scenarios were to run and did not", n)
	}
}
