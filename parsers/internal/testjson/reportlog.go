package testjson

import (
	"cmp"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// pytestReason returns the text of a failure or of a reason for a skip, which pytest calls
// longrepr: a text, [file, line, reason], or an object with a traceback.
func pytestReason(v item) string {
	switch v.at("longrepr").value.(type) {
	case []any:
		texts := v.texts("longrepr")
		if len(texts) == 0 {
			return ""
		}
		return strings.TrimPrefix(texts[len(texts)-1], "Skipped: ")
	case map[string]any:
		texts := []string{v.text("longrepr.reprcrash")}
		for _, entry := range v.list("longrepr.reprtraceback.reprentries") {
			texts = append(texts, entry.text("data.lines"))
		}
		return joinLines(texts...)
	}
	return v.text("longrepr")
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

// reportlogReader reads the events of one or more sessions of pytest, as pytest-reportlog writes
// them, one a line:
//
//	{"nodeid": "a.py::test_b", "when": "call", "outcome": "passed", "duration": 0.1, "$report_type": "TestReport"}
//
// When is the phase of a test: "setup", "call" or "teardown".
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
	noise, err := parsed.ReadEvents(r, eventHandler(p.handleEvent))
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
func (p *reportlogReader) handleEvent(e item, line textstream.Line) error {
	switch e.text("$report_type") {
	case "SessionStart":
		if p.running {
			return line.Error("a session of pytest begins before the one before it finished")
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
		if c := p.tests[e.text("nodeid")]; c != nil && e.text("outcome") == "failed" {
			c.worsen(metric.Failed, pytestReason(e))
		}
	}
	return nil
}

// handleCollection handles the collection of the tests of a file.
func (p *reportlogReader) handleCollection(e item) {
	file, _, isTest := strings.Cut(e.text("nodeid"), "::")
	isFolder := path.Ext(file) == "" || strings.HasPrefix(path.Base(file), ".")
	switch outcome := e.text("outcome"); {
	case outcome == "failed":
		p.collectionFailed = true
		p.set.AddBroken(cmp.Or(file, "pytest"), pytestReason(e))
	case isTest || isFolder:
	case outcome == "skipped":
		p.started = append(p.started, &pytestCase{test: skippedFileTest(file, pytestReason(e))})
	default:
		p.collected = append(p.collected, file)
	}
}

// skippedFileTest returns one test in place of those of a skipped file, which pytest does
// not name.
func skippedFileTest(file, reason string) metric.Test {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return metric.Test{ID: metric.ID{Suite: file, Name: name}, Status: metric.Skipped, Message: reason, File: file}
}

// handlePhase handles the set-up, call or tear-down of a test.
func (p *reportlogReader) handlePhase(e item) {
	node := e.text("nodeid")
	c := p.tests[node]
	if c == nil || c.isFinished && !c.isRetrying && e.text("when") == "setup" {
		c = &pytestCase{test: metric.Test{ID: pytestID(node)}}
		c.setLocation(e)
		p.tests[node] = c
		p.started = append(p.started, c)
	}
	c.addPhase(e)
}

// addPhase adds the outcome of a phase to the test. The worst outcome counts. After a failed
// attempt, a new set-up starts the test again.
func (c *pytestCase) addPhase(e item) {
	phase, message := e.text("when"), pytestReason(e)
	if c.isRetrying && phase == "setup" {
		c.isRetrying, c.wasRetried, c.isFinished = false, true, false
		c.test.Status, c.test.Message = 0, ""
	}
	c.test.Duration += e.number("duration").In(time.Second)
	c.isFinished = c.isFinished || phase == "teardown"

	message = cmp.Or(e.text("wasxfail"), message) // why it is expected to fail

	switch outcome := e.text("outcome"); outcome {
	case "passed":
		if phase == "call" {
			c.worsen(metric.Passed, "")
		}
	case "skipped":
		c.worsen(metric.Skipped, message)
	case "rerun", "retried": // of pytest-rerunfailures, pytest-retry
		c.isRetrying = true
	case "failed":
		if phase == "call" {
			c.worsen(metric.Failed, message)
		} else {
			c.worsen(metric.Errored, message)
		}
	default:
		c.worsen(metric.Errored, "it has the unknown outcome "+outcome)
	}
}

// setLocation sets the file and line of the test. Without a line, the file is that of its node
// ID.
func (c *pytestCase) setLocation(e item) {
	c.test.File = c.test.Suite
	location := e.list("location") // file, line that counts from 0, and name
	if len(location) < 2 {
		return
	}
	if line, isNumber := location[1].value.(float64); isNumber {
		c.test.File, c.test.Line = cmp.Or(location[0].text(""), c.test.Suite), parsed.ToCount(line)+1
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
func (p *reportlogReader) handleSessionFinish(e item) {
	status := e.integer("exitstatus")
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
