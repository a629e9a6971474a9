package testjson

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// dartEvent is one line of dart test --reporter json, or flutter test --machine:
// https://github.com/dart-lang/test/blob/master/pkgs/test/doc/json_reporter.md
type dartEvent struct {
	Type  string           `json:"type"`
	Time  parsed.AnyNumber `json:"time"` // milliseconds since the start
	Suite *struct {
		ID       int            `json:"id"`
		Platform parsed.AnyText `json:"platform"`
		Path     parsed.AnyText `json:"path"`
	} `json:"suite"`
	Count parsed.AnyNumber `json:"count"` // of suites
	Group *struct {
		ID        int              `json:"id"`
		SuiteID   int              `json:"suiteID"`
		ParentID  *int             `json:"parentID"`
		Name      parsed.AnyText   `json:"name"`
		TestCount parsed.AnyNumber `json:"testCount"`
	} `json:"group"`
	Test *struct {
		ID       int              `json:"id"`
		Name     string           `json:"name"`
		SuiteID  int              `json:"suiteID"`
		GroupIDs []int            `json:"groupIDs"`
		Line     parsed.AnyNumber `json:"line"`
		URL      parsed.AnyText   `json:"url"`
		RootLine parsed.AnyNumber `json:"root_line"`
		RootURL  parsed.AnyText   `json:"root_url"`
		Metadata struct {
			SkipReason parsed.AnyText `json:"skipReason"`
		} `json:"metadata"`
	} `json:"test"`
	TestID     int            `json:"testID"`
	Result     string         `json:"result"`
	Skipped    bool           `json:"skipped"`
	Hidden     bool           `json:"hidden"`
	Error      parsed.AnyText `json:"error"`
	StackTrace parsed.AnyText `json:"stackTrace"`
	Success    *bool          `json:"success"`
}

// dart reads the events of one run, or of several one after another.
type dart struct {
	set     parsed.Outcomes
	suites  map[int]*dartSuite
	groups  map[int]string
	tests   map[int]*dartTest
	order   []*dartTest
	running bool // a run began and did not end
	runs    int
	failed  bool // it says that it did
	stated  int  // suites, as they are announced
}

type dartSuite struct {
	path   string
	where  string // the platform, "" for the usual one
	stated int    // tests, as they are announced; -1 before that
	ended  int    // tests
	broken bool   // it could not be loaded, or its set-up failed
}

type dartTest struct {
	test    metric.Test
	suite   *dartSuite
	started parsed.AnyNumber
	reason  string
	message textstream.Clip
	ended   bool
}

func parseDart(r io.Reader) (parsed.Report, error) {
	d := &dart{}
	d.begin()
	noise := ""
	err := jsonstream.ReadEvents(r, nil, jsonstream.Sink{Event: d.event, Noise: func(text []byte, _ textstream.Line) {
		if line := textstream.CleanText(string(text)); noise == "" && strings.Trim(line, "[]") != "" {
			noise = line
		}
	}})
	if noise != "" {
		d.set.Problems.Add("text between the events: %s", noise)
	}
	switch {
	case err != nil:
	case d.running && d.complete():
		d.set.Problems.Add("the report has no end, but all tests that it announces ended")
	case d.running:
		err = &parsed.SyntaxError{Problem: "the run did not end: the tests were stopped, or their output was cut off"}
	case d.runs == 0:
		err = fmt.Errorf("%w: no run of tests begins in it", parsed.ErrUnknownFormat)
	}
	d.finish()
	return d.set.Report("dart test"), err
}

func (d *dart) begin() {
	d.finish()
	d.suites, d.groups, d.tests, d.stated = map[int]*dartSuite{}, map[int]string{}, map[int]*dartTest{}, -1
}

// complete reports whether everything that the run announced has ended. Reports
// of some versions of flutter lack the event that says so.
func (d *dart) complete() bool {
	for _, t := range d.order {
		if !t.ended {
			return false
		}
	}
	for _, s := range d.suites {
		if !s.broken && s.ended != s.stated {
			return false
		}
	}
	return d.stated == len(d.suites)
}

func (d *dart) event(raw []byte, at textstream.Line) error {
	var e dartEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		if strings.Contains(string(raw), `"testID"`) || strings.Contains(string(raw), `"suiteID"`) {
			return at.Error("%v", err)
		}
		return nil // of flutter, or printed by a test
	}
	switch e.Type {
	case "start":
		if d.running {
			return at.Error("a run begins before the one before it ended")
		}
		d.begin()
		d.running = true
		d.runs++
	case "suite", "group", "allSuites":
		d.announce(e)
	case "testStart":
		d.start(e)
	case "error":
		if t := d.tests[e.TestID]; t != nil {
			t.message.Add(parsed.JoinMessage(string(e.Error), string(e.StackTrace)) + "\n")
		}
	case "testDone":
		d.done(e)
	case "done":
		d.running = false
		d.set.Took += e.Time.In(time.Millisecond)
		if e.Success == nil {
			return at.Error("the run was closed before its tests had ended")
		}
		d.failed = !*e.Success
	}
	return nil
}

// announce takes what the run says it is going to do.
func (d *dart) announce(e dartEvent) {
	switch {
	case e.Type == "allSuites":
		d.stated = e.Count.Int()
	case e.Suite != nil:
		s := &dartSuite{path: parsed.Slashed(string(e.Suite.Path)), stated: -1}
		if e.Suite.Platform != "vm" {
			s.where = string(e.Suite.Platform)
		}
		d.suites[e.Suite.ID] = s
	case e.Group != nil:
		d.groups[e.Group.ID] = string(e.Group.Name)
		if s := d.suites[e.Group.SuiteID]; s != nil && e.Group.ParentID == nil {
			s.stated = e.Group.TestCount.Int()
		}
	}
}

func (d *dart) start(e dartEvent) {
	if e.Test == nil {
		return
	}
	class := ""
	for _, id := range e.Test.GroupIDs { // the name of a group holds those around it
		class = cmp.Or(d.groups[id], class)
	}
	suite := d.suites[e.Test.SuiteID]
	if suite == nil {
		suite = &dartSuite{}
	}
	t := &dartTest{suite: suite, started: e.Time, reason: string(e.Test.Metadata.SkipReason), test: metric.Test{
		ID:   metric.ID{Suite: suite.path, Class: parsed.GroupPath(suite.where, class), Name: withoutGroup(e.Test.Name, class)},
		File: cmp.Or(dartFile(string(cmp.Or(e.Test.RootURL, e.Test.URL))), suite.path),
		Line: cmp.Or(e.Test.RootLine, e.Test.Line).Int(),
	}}
	d.tests[e.Test.ID] = t
	d.order = append(d.order, t)
}

func withoutGroup(name, group string) string {
	if rest, inside := strings.CutPrefix(name, group+" "); inside && rest != "" {
		return rest
	}
	return name
}

// dartFile returns the path of a file URL; of a package URL nothing, since it
// names no file of the project.
func dartFile(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

func (d *dart) done(e dartEvent) {
	t := d.tests[e.TestID]
	if t == nil {
		d.set.Problems.Add("the test %d ends and did not begin", e.TestID)
		return
	}
	t.ended = true
	t.test.Duration = (e.Time - t.started).In(time.Millisecond)
	t.test.Message = t.message.String()
	switch {
	case e.Result == "failure":
		t.test.Status = metric.Failed
	case e.Result != "success":
		t.test.Status = metric.Errored
	case e.Skipped:
		t.test.Status, t.test.Message = metric.Skipped, t.reason
	default:
		t.test.Status, t.test.Message = metric.Passed, ""
	}
	if t.hook() || e.Hidden {
		if t.test.Status > metric.Skipped {
			t.suite.broken = true
			d.set.Breaks(t.test.Suite, t.test.Name+": "+t.test.Message)
		}
		t.test.Status = 0
		return
	}
	t.suite.ended++
}

// hook reports whether it is not a test of the project: the loading of a file, or
// what runs before and after the tests.
func (t *dartTest) hook() bool {
	return t.test.Name == "(setUpAll)" || t.test.Name == "(tearDownAll)" || t.test.Class == t.suite.where && strings.HasPrefix(t.test.Name, "loading ") && t.test.Line == 0
}

// finish takes the tests of the run that ended.
func (d *dart) finish() {
	before := d.set.Failed()
	for _, t := range d.order {
		switch {
		case t.test.Status != 0:
			d.set.Add(t.test)
		case !t.ended && t.hook():
			d.set.Breaks(t.test.Suite, t.test.Name+" did not end")
		case !t.ended:
			t.test.Status, t.test.Message = metric.Errored, parsed.JoinMessage("it began and did not end", t.message.String())
			d.set.Add(t.test)
		}
	}
	if d.failed && d.set.Failed() == before {
		d.set.Contradicts("the run says that it failed although no test did")
	}
	d.order, d.failed = nil, false
}
