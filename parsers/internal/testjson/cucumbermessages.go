package testjson

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// cucumberMessage is one line of the messages of Cucumber:
// https://github.com/cucumber/messages. It has one member. A pickle is a scenario that is to
// run, which refers to the nodes of the file with it. A test case refers to a pickle, an
// attempt to a test case, and a finished step to an attempt.
type cucumberMessage struct {
	Meta *struct {
		Implementation struct {
			Name parsed.AnyText `json:"name"`
		} `json:"implementation"`
	} `json:"meta"`
	GherkinDocument *struct {
		URI     parsed.AnyText `json:"uri"`
		Feature *struct {
			Name     parsed.AnyText  `json:"name"`
			Children []cucumberChild `json:"children"`
		} `json:"feature"`
	} `json:"gherkinDocument"`
	Pickle *struct {
		ID         string         `json:"id"`
		URI        parsed.AnyText `json:"uri"`
		Name       parsed.AnyText `json:"name"`
		ASTNodeIDs []string       `json:"astNodeIds"`
	} `json:"pickle"`
	ParseError *struct {
		Message parsed.AnyText `json:"message"`
		Source  struct {
			URI parsed.AnyText `json:"uri"`
		} `json:"source"`
	} `json:"parseError"`
	RunStarted *struct{} `json:"testRunStarted"`
	TestCase   *struct {
		ID       string `json:"id"`
		PickleID string `json:"pickleId"`
	} `json:"testCase"`
	CaseStarted *struct {
		ID         string           `json:"id"`
		TestCaseID string           `json:"testCaseId"`
		Attempt    parsed.AnyNumber `json:"attempt"`
	} `json:"testCaseStarted"`
	StepFinished *struct {
		CaseStartedID string         `json:"testCaseStartedId"`
		Result        cucumberResult `json:"testStepResult"`
	} `json:"testStepFinished"`
	HookFinished *struct {
		Result cucumberResult `json:"result"`
	} `json:"testRunHookFinished"`
	CaseFinished *struct {
		CaseStartedID string `json:"testCaseStartedId"`
		WillBeRetried bool   `json:"willBeRetried"`
	} `json:"testCaseFinished"`
	RunFinished *struct {
		Success *bool          `json:"success"`
		Message parsed.AnyText `json:"message"`
	} `json:"testRunFinished"`
}

// cucumberResult is the outcome of a step or hook.
type cucumberResult struct {
	Status   string         `json:"status"`
	Message  parsed.AnyText `json:"message"`
	Duration struct {
		Seconds parsed.AnyNumber `json:"seconds"`
		Nanos   parsed.AnyNumber `json:"nanos"`
	} `json:"duration"`
}

// cucumberChild is a scenario, or a rule with scenarios.
type cucumberChild struct {
	Rule *struct {
		Children []cucumberChild `json:"children"`
	} `json:"rule"`
	Scenario *struct {
		ID       string `json:"id"`
		Location struct {
			Line parsed.AnyNumber `json:"line"`
		} `json:"location"`
		Examples []struct {
			Body []struct {
				ID       string `json:"id"`
				Location struct {
					Line parsed.AnyNumber `json:"line"`
				} `json:"location"`
			} `json:"tableBody"`
		} `json:"examples"`
	} `json:"scenario"`
}

// cucumberMessages reads the messages of one run.
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
	noise, err := parsed.ReadEvents(r, c.handleMessage)
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
func (c *cucumberMessages) handleMessage(raw []byte, at textstream.Line) error {
	var m cucumberMessage
	if err := jsonstream.Unmarshal(raw, &m); err != nil {
		return at.Error("%v", err)
	}
	c.handleSource(m)

	switch {
	case m.RunStarted != nil:
		c.state = "running"
	case m.TestCase != nil:
		c.cases[m.TestCase.ID] = m.TestCase.PickleID
	case m.CaseStarted != nil:
		t, known := c.pickles[c.cases[m.CaseStarted.TestCaseID]]
		if !known {
			return at.Error("the scenario that starts is not known")
		}
		t.Rerun = m.CaseStarted.Attempt > 0
		c.attempts[m.CaseStarted.ID] = &t
	case m.StepFinished != nil:
		if t := c.attempts[m.StepFinished.CaseStartedID]; t != nil {
			m.StepFinished.Result.worsenTest(t)
		}
	case m.HookFinished != nil:
		if r := m.HookFinished.Result; parseCucumberStatus(r.Status) > metric.Skipped {
			c.set.AddBroken("cucumber", "a hook around the run failed\n"+string(r.Message))
		}
	case m.CaseFinished != nil:
		c.finishAttempt(m.CaseFinished.CaseStartedID, m.CaseFinished.WillBeRetried)
	case m.RunFinished != nil:
		c.state = "finished"
		c.saysFailed = m.RunFinished.Success != nil && !*m.RunFinished.Success
		if m.RunFinished.Message != "" {
			c.set.Failure = string(m.RunFinished.Message)
		}
	}
	return nil
}

// handleSource handles the messages that describe the features and the planned scenarios.
func (c *cucumberMessages) handleSource(m cucumberMessage) {
	switch {
	case m.Meta != nil:
		c.producer = string(m.Meta.Implementation.Name)
	case m.GherkinDocument != nil && m.GherkinDocument.Feature != nil:
		c.features[string(m.GherkinDocument.URI)] = string(m.GherkinDocument.Feature.Name)
		c.indexLines(m.GherkinDocument.Feature.Children)
	case m.ParseError != nil:
		c.set.AddBroken(string(m.ParseError.Source.URI), string(m.ParseError.Message))
	case m.Pickle != nil:
		file := string(m.Pickle.URI)
		t := metric.Test{ID: metric.ID{Suite: file, Class: c.features[file], Name: string(m.Pickle.Name)}, File: file}
		for _, id := range m.Pickle.ASTNodeIDs { // the example follows its outline
			t.Line = cmp.Or(c.lines[id], t.Line)
		}
		c.pickles[m.Pickle.ID] = t
	}
}

// indexLines stores the lines of all scenarios and examples by their node ID.
func (c *cucumberMessages) indexLines(children []cucumberChild) {
	for _, child := range children {
		if child.Rule != nil {
			c.indexLines(child.Rule.Children)
		}
		if child.Scenario == nil {
			continue
		}
		c.lines[child.Scenario.ID] = child.Scenario.Location.Line.Int()
		for _, e := range child.Scenario.Examples {
			for _, row := range e.Body {
				c.lines[row.ID] = row.Location.Line.Int()
			}
		}
	}
}

// worsenTest adds the result of a step to its test.
func (r cucumberResult) worsenTest(t *metric.Test) {
	t.Duration += r.Duration.Seconds.In(time.Second) + r.Duration.Nanos.In(time.Nanosecond)
	if s := parseCucumberStatus(r.Status); s > t.Status {
		t.Status, t.Message = s, string(r.Message)
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
