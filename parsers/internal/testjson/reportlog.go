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

// reportlogEvent is one line of pytest-reportlog.
type reportlogEvent struct {
	Type       string            `json:"$report_type"`
	NodeID     string            `json:"nodeid"`
	Outcome    string            `json:"outcome"`
	When       string            `json:"when"`
	Longrepr   pytestRepr        `json:"longrepr"`
	Duration   parsed.AnyNumber  `json:"duration"` // seconds
	XFail      *parsed.AnyText   `json:"wasxfail"`
	Location   []jsonstream.Raw  `json:"location"` // file, line from 0, name
	ExitStatus *parsed.AnyNumber `json:"exitstatus"`
}

// pytestRepr is how pytest words a failure or the reason of a skip.
type pytestRepr string

// UnmarshalJSON reads the forms of a longrepr: a text, [file, line, reason], or
// a traceback.
func (p *pytestRepr) UnmarshalJSON(raw []byte) error {
	switch jsonstream.Raw(raw).Kind() {
	case '[':
		var place []parsed.AnyText
		if jsonstream.Unmarshal(raw, &place) == nil && len(place) > 0 {
			*p = pytestRepr(strings.TrimPrefix(string(place[len(place)-1]), "Skipped: "))
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

// pytestID splits a node id: file::class::name[parameters].
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

// reportlog reads the events of one session of pytest, or of several one after
// another.
type reportlog struct {
	set       parsed.Outcomes
	tests     map[string]*pytestCase // by node id, the latest
	order     []*pytestCase
	collected []string // files
	running   bool
	sessions  int
	crashed   bool // the collection of a file failed
	failed    bool // it ended with the status of failed tests
}

// pytestCase is one test with its set-up, call and tear-down.
type pytestCase struct {
	test    metric.Test
	over    bool // the tear-down was reported
	again   bool // an attempt failed and is repeated
	retried bool
}

func parseReportlog(r io.Reader) (parsed.Report, error) {
	p := &reportlog{tests: map[string]*pytestCase{}}
	noise := ""
	err := jsonstream.ReadEvents(r, nil, jsonstream.Sink{Event: p.event, Noise: func(text []byte, _ textstream.Line) {
		noise = cmp.Or(noise, textstream.CleanText(string(text)))
	}})
	if noise != "" {
		p.set.Problems.Add("text between the events: %s", noise)
	}
	if err == nil && (p.running || p.sessions == 0) {
		err = &parsed.SyntaxError{Problem: "the session of pytest did not finish: it was stopped, or its report was cut off"}
	}
	p.finish()
	return p.set.Report("pytest"), err
}

func (p *reportlog) event(raw []byte, at textstream.Line) error {
	var e reportlogEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		return at.Error("%v", err)
	}
	switch e.Type {
	case "SessionStart":
		if p.running {
			return at.Error("a session of pytest begins before the one before it finished")
		}
		p.finish()
		p.running = true
		p.sessions++
	case "SessionFinish":
		p.running = false
		p.exit(e)
	case "CollectReport":
		p.collect(e)
	case "TestReport":
		p.phase(e)
	case "SubTestReport", "SubtestReport":
		if c := p.tests[e.NodeID]; c != nil && e.Outcome == "failed" {
			c.worsen(metric.Failed, string(e.Longrepr))
		}
	}
	return nil
}

func (p *reportlog) collect(e reportlogEvent) {
	file, _, inside := strings.Cut(e.NodeID, "::")
	switch {
	case e.Outcome == "failed":
		p.crashed = true
		p.set.Breaks(cmp.Or(file, "pytest"), string(e.Longrepr))
	case inside || path.Ext(file) == "" || strings.HasPrefix(path.Base(file), "."):
	case e.Outcome == "skipped":
		p.order = append(p.order, &pytestCase{test: skippedFile(file, e.Longrepr)})
	default:
		p.collected = append(p.collected, file)
	}
}

// skippedFile represents the tests of a file that is skipped completely, which
// are not named.
func skippedFile(file string, why pytestRepr) metric.Test {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return metric.Test{ID: metric.ID{Suite: file, Name: name}, Status: metric.Skipped, Message: string(why), File: file}
}

// phase takes the set-up, call or tear-down of a test.
func (p *reportlog) phase(e reportlogEvent) {
	c := p.tests[e.NodeID]
	if c == nil || c.over && !c.again && e.When == "setup" {
		c = &pytestCase{test: metric.Test{ID: pytestID(e.NodeID)}}
		c.place(e)
		p.tests[e.NodeID] = c
		p.order = append(p.order, c)
	}
	c.phase(e)
}

func (c *pytestCase) phase(e reportlogEvent) {
	if c.again && e.When == "setup" {
		c.again, c.retried, c.over = false, true, false
		c.test.Status, c.test.Message = 0, ""
	}
	c.test.Duration += e.Duration.In(time.Second)
	c.over = c.over || e.When == "teardown"
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
		c.again = true
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

func (c *pytestCase) place(e reportlogEvent) {
	c.test.File = c.test.Suite
	if len(e.Location) < 2 {
		return
	}
	var line *float64
	if jsonstream.Unmarshal(e.Location[1], &line) == nil && line != nil {
		c.test.File, c.test.Line = cmp.Or(parsed.TextOf(e.Location[0]), c.test.Suite), parsed.Int(*line)+1
	}
}

func (c *pytestCase) worsen(s metric.Status, message string) {
	if s > c.test.Status {
		c.test.Status, c.test.Message = s, message
	}
}

// pytestExits are the exit statuses of pytest that say that tests are missing.
var pytestExits = map[int]string{
	2: "pytest was interrupted",
	3: "pytest had an internal error",
	4: "pytest was called in a wrong way",
}

// pytestFailed is the exit status of pytest when tests failed, or a plugin calls the run
// failed.
const pytestFailed = 1

const pytestDenied = "pytest ended with status 1, failed tests, although no test failed"

// exit takes the end of a session. Where it was broken off, or did not run what
// it had collected, the files are broken: their tests are known and did not run.
func (p *reportlog) exit(e reportlogEvent) {
	status := 0
	if e.ExitStatus != nil {
		status = parsed.AnyNumber(*e.ExitStatus).Int()
	}
	why := pytestExits[status]
	if why != "" && !p.crashed {
		p.set.Failure = why
	}
	p.failed = status == pytestFailed
	if why == "" && status == 0 && !slices.ContainsFunc(p.order, func(c *pytestCase) bool { return c.over }) {
		why = "pytest collected it and did not run it"
	}
	missing := 0
	for _, file := range slices.Compact(slices.Sorted(slices.Values(p.collected))) {
		switch {
		case why != "":
			p.set.Breaks(file, why)
		case !p.ran(file):
			missing++
		}
	}
	if missing > 0 && status != 5 {
		p.set.Problems.Add("of %d collected files no test was run: they were deselected, or pytest stopped early", missing)
	}
	p.collected = nil
}

func (p *reportlog) ran(file string) bool {
	return slices.ContainsFunc(p.order, func(c *pytestCase) bool { return c.test.Suite == file })
}

// finish takes the tests of the session that finished.
func (p *reportlog) finish() {
	before := p.set.Failed()
	for _, c := range p.order {
		if c.test.Status == 0 {
			c.test.Status, c.test.Message = metric.Errored, "it began and did not end"
		}
		c.test.Flaky = (c.again || c.retried) && c.test.Status == metric.Passed
		p.set.Add(c.test)
	}
	if p.failed && p.set.Failed() == before {
		p.set.Contradicts(pytestDenied)
	}
	p.order, p.crashed, p.failed = nil, false, false
	clear(p.tests)
}
