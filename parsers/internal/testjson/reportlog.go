package testjson

import (
	"cmp"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// reportlogEvent is one line of pytest-reportlog, such as
//
//	{"nodeid": "a.py::test_b", "outcome": "passed", "when": "call", "$report_type": "TestReport"}
//
// When is the phase of a test: "setup", "call" or "teardown".
type reportlogEvent struct {
	Type       string            `json:"$report_type"`
	NodeID     string            `json:"nodeid"`
	Outcome    string            `json:"outcome"`
	When       string            `json:"when"`
	Longrepr   pytestRepr        `json:"longrepr"`
	Duration   parsed.AnyNumber  `json:"duration"` // seconds
	XFail      *parsed.AnyText   `json:"wasxfail"` // why the test is expected to fail; nil if it is not
	Location   []jsonstream.Raw  `json:"location"` // file, line that counts from 0, and name
	ExitStatus *parsed.AnyNumber `json:"exitstatus"`
}

// pytestRepr is the text of a failure or of a reason for a skip, which pytest calls longrepr.
type pytestRepr string

// UnmarshalJSON decodes the forms of a longrepr: a string, [file, line, reason], or an object
// with a traceback. It never fails.
func (p *pytestRepr) UnmarshalJSON(raw []byte) error {
	switch jsonstream.Raw(raw).Kind() {
	case '[':
		var items []parsed.AnyText
		if jsonstream.Unmarshal(raw, &items) == nil && len(items) > 0 {
			*p = pytestRepr(strings.TrimPrefix(string(items[len(items)-1]), "Skipped: "))
		}
	case '{':
		var o struct {
			Crash     parsed.AnyText `json:"reprcrash"`
			Traceback struct {
				Entries []struct {
					Data struct {
						Lines []parsed.AnyText `json:"lines"`
					} `json:"data"`
				} `json:"reprentries"`
			} `json:"reprtraceback"`
		}
		if jsonstream.Unmarshal(raw, &o) == nil {
			var lines []parsed.AnyText
			for _, e := range o.Traceback.Entries {
				lines = append(lines, e.Data.Lines...)
			}
			*p = pytestRepr(parsed.JoinTexts(append([]parsed.AnyText{o.Crash}, lines...), "\n"))
		}
	default:
		*p = pytestRepr(parsed.TextOf(raw))
	}
	return nil
}

// pytestID returns the identity for a node ID. "a.py::TestB::test_c[1]" has the suite "a.py",
// the class "TestB" and the name "test_c[1]".
func pytestID(node string) metric.ID {
	head, parameters := node, ""
	if i := strings.IndexByte(node, '['); i > 0 && strings.Contains(node[:i], "::") {
		head, parameters = node[:i], node[i:]
	}
	parts := strings.Split(head, "::")
	last := len(parts) - 1
	id := metric.ID{Suite: parts[0], Name: parts[last] + parameters}
	if last > 0 {
		id.Class = strings.Join(parts[1:last], "::")
	}
	return id
}

// reportlogReader reads the events of one or more sessions of pytest.
type reportlogReader struct {
	set              parsed.Outcomes
	tests            map[string]*pytestCase // the latest case of each test, by node ID
	started          []*pytestCase          // all cases of the session, in order
	collected        []string               // files that were collected
	running          bool                   // the session began and did not finish
	sessions         int                    // number of sessions
	collectionFailed bool                   // the collection of a file failed
	exitedFailed     bool                   // the session ended with the exit status for failed tests
}

// pytestCase is one test with its set-up, call and tear-down.
type pytestCase struct {
	test       metric.Test
	isFinished bool // the tear-down was reported
	isRetrying bool // an attempt failed and is repeated
	wasRetried bool // this is the second attempt or a later one
}

// parseReportlog reads the events of pytest-reportlog. A session that did not finish is an
// error.
func parseReportlog(r io.Reader) (parsed.Report, error) {
	p := &reportlogReader{tests: map[string]*pytestCase{}}
	noise, err := parsed.ReadEvents(r, p.handleEvent)
	if noise != "" {
		p.set.Problems.Add("text between the events: %s", noise)
	}
	if err == nil && (p.running || p.sessions == 0) {
		err = &parsed.SyntaxError{Problem: "the session of pytest did not finish: it was stopped, or its report was cut off"}
	}
	p.finishSession()
	return p.set.Report("pytest"), err
}

// handleEvent handles one event. Those of other types are ignored.
func (p *reportlogReader) handleEvent(raw []byte, at textstream.Line) error {
	var e reportlogEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		return at.Error("%v", err)
	}

	switch e.Type {
	case "SessionStart":
		if p.running {
			return at.Error("a session of pytest begins before the one before it finished")
		}
		p.finishSession()
		p.running = true
		p.sessions++
	case "SessionFinish":
		p.running = false
		p.handleSessionFinish(e)
	case "CollectReport":
		p.handleCollection(e)
	case "TestReport":
		p.handlePhase(e)
	case "SubTestReport", "SubtestReport":
		if c := p.tests[e.NodeID]; c != nil && e.Outcome == "failed" {
			c.worsen(metric.Failed, string(e.Longrepr))
		}
	}
	return nil
}

// handleCollection handles the collection of the tests of a file.
func (p *reportlogReader) handleCollection(e reportlogEvent) {
	file, _, isTest := strings.Cut(e.NodeID, "::")
	isFolder := path.Ext(file) == "" || strings.HasPrefix(path.Base(file), ".")
	switch {
	case e.Outcome == "failed":
		p.collectionFailed = true
		p.set.AddBroken(cmp.Or(file, "pytest"), string(e.Longrepr))
	case isTest || isFolder:
	case e.Outcome == "skipped":
		p.started = append(p.started, &pytestCase{test: skippedFileTest(file, e.Longrepr)})
	default:
		p.collected = append(p.collected, file)
	}
}

// skippedFileTest returns one test in place of those of a skipped file, which pytest does
// not name.
func skippedFileTest(file string, reason pytestRepr) metric.Test {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return metric.Test{ID: metric.ID{Suite: file, Name: name}, Status: metric.Skipped, Message: string(reason), File: file}
}

// handlePhase handles the set-up, call or tear-down of a test.
func (p *reportlogReader) handlePhase(e reportlogEvent) {
	c := p.tests[e.NodeID]
	if c == nil || c.isFinished && !c.isRetrying && e.When == "setup" {
		c = &pytestCase{test: metric.Test{ID: pytestID(e.NodeID)}}
		c.setLocation(e)
		p.tests[e.NodeID] = c
		p.started = append(p.started, c)
	}
	c.addPhase(e)
}

// addPhase adds the outcome of a phase to the test. The worst outcome counts. After a failed
// attempt, a new set-up starts the test again.
func (c *pytestCase) addPhase(e reportlogEvent) {
	if c.isRetrying && e.When == "setup" {
		c.isRetrying, c.wasRetried, c.isFinished = false, true, false
		c.test.Status, c.test.Message = 0, ""
	}
	c.test.Duration += e.Duration.In(time.Second)
	c.isFinished = c.isFinished || e.When == "teardown"

	message := string(e.Longrepr)
	if e.XFail != nil {
		message = cmp.Or(string(*e.XFail), message)
	}

	switch e.Outcome {
	case "passed":
		if e.When == "call" {
			c.worsen(metric.Passed, "")
		}
	case "skipped":
		c.worsen(metric.Skipped, message)
	case "rerun", "retried": // of pytest-rerunfailures, pytest-retry
		c.isRetrying = true
	case "failed":
		if e.When == "call" {
			c.worsen(metric.Failed, message)
		} else {
			c.worsen(metric.Errored, message)
		}
	default:
		c.worsen(metric.Errored, "it has the unknown outcome "+e.Outcome)
	}
}

// setLocation sets the file and line of the test. Without a line, the file is that of its node
// ID.
func (c *pytestCase) setLocation(e reportlogEvent) {
	c.test.File = c.test.Suite
	if len(e.Location) < 2 {
		return
	}
	var line *float64
	if jsonstream.Unmarshal(e.Location[1], &line) == nil && line != nil {
		c.test.File, c.test.Line = cmp.Or(parsed.TextOf(e.Location[0]), c.test.Suite), parsed.ToCount(*line)+1
	}
}

// worsen sets the status and message, if the status is worse than that of the phases before.
func (c *pytestCase) worsen(s metric.Status, message string) {
	if s > c.test.Status {
		c.test.Status, c.test.Message = s, message
	}
}

// pytestExits maps the exit statuses of pytest for runs with missing tests.
var pytestExits = map[int]string{
	2: "pytest was interrupted",
	3: "pytest had an internal error",
	4: "pytest was called in a wrong way",
}

// pytestExitFailed is the exit status of pytest if tests failed or a plugin failed the run.
const pytestExitFailed = 1

// pytestContradiction is the contradiction of a session without failed tests that ended with
// pytestExitFailed.
const pytestContradiction = "pytest ended with status 1, failed tests, although no test failed"

// handleSessionFinish handles the end of a session. If it was interrupted, or did not run
// the collected tests, the collected files are broken.
func (p *reportlogReader) handleSessionFinish(e reportlogEvent) {
	status := 0
	if e.ExitStatus != nil {
		status = parsed.AnyNumber(*e.ExitStatus).Int()
	}

	why := pytestExits[status]
	if why != "" && !p.collectionFailed {
		p.set.Failure = why
	}
	p.exitedFailed = status == pytestExitFailed
	if why == "" && status == 0 && !slices.ContainsFunc(p.started, func(c *pytestCase) bool { return c.isFinished }) {
		why = "pytest collected it and did not run it"
	}

	missing := 0
	for _, file := range slices.Compact(slices.Sorted(slices.Values(p.collected))) {
		switch {
		case why != "":
			p.set.AddBroken(file, why)
		case !p.hasTestOf(file):
			missing++
		}
	}

	if missing > 0 && status != 5 {
		p.set.Problems.Add("of %d collected files no test was run: they were deselected, or pytest stopped early", missing)
	}
	p.collected = nil
}

// hasTestOf reports whether a test of the file started.
func (p *reportlogReader) hasTestOf(file string) bool {
	return slices.ContainsFunc(p.started, func(c *pytestCase) bool { return c.test.Suite == file })
}

// finishSession adds the tests of a session to the report.
func (p *reportlogReader) finishSession() {
	before := p.set.Totals.Unsuccessful()
	for _, c := range p.started {
		if c.test.Status == 0 {
			c.test.Status, c.test.Message = metric.Errored, "it began and did not end"
		}
		c.test.Flaky = (c.isRetrying || c.wasRetried) && c.test.Status == metric.Passed
		p.set.Add(c.test)
	}
	if p.exitedFailed && p.set.Totals.Unsuccessful() == before {
		p.set.AddContradiction(pytestContradiction)
	}
	p.started, p.collectionFailed, p.exitedFailed = nil, false, false
	clear(p.tests)
}
