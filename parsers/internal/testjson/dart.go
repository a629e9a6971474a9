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

// dartReader reads the events of one or more runs of dart test --reporter json, or flutter test
// --machine, one a line:
//
//	{"testID": 3, "result": "success", "skipped": false, "hidden": false, "type": "testDone", "time": 12}
//
// The type decides which members an event has. Times are in milliseconds since the start. See
// https://github.com/dart-lang/test/blob/master/pkgs/test/doc/json_reporter.md.
type dartReader struct {
	set          parsed.Outcomes
	suites       map[int]*dartSuite // suites of the current run, by ID
	groups       map[int]string     // full names of groups, by ID
	tests        map[int]*dartTest  // tests of the current run, by ID
	started      []*dartTest        // the same tests, in order
	running      bool               // a run began and did not end
	runs         int                // number of runs that began
	saysFailed   bool               // the current run calls itself failed
	statedSuites int                // number of suites that the run announced, -1 before that
}

// dartSuite is a test file on one platform.
type dartSuite struct {
	path        string
	platform    string // "" for the Dart VM, which is the usual one
	statedTests int    // number of tests that were announced, -1 before that
	endedTests  int    // number of tests that ended
	broken      bool   // it could not be loaded, or its set-up failed
}

// dartTest is a test, or a hook that is reported like one.
type dartTest struct {
	test       metric.Test
	suite      *dartSuite
	started    parsed.AnyNumber // milliseconds since the start of the run
	skipReason string
	message    textstream.Clip
	ended      bool
}

// parseDart reads the events of dart test. A run without an end is an error, unless everything
// that it announced has ended.
func parseDart(r io.Reader) (parsed.Report, error) {
	d := &dartReader{}
	d.startRun()
	noise := ""
	err := jsonstream.ReadEvents(r, nil, jsonstream.Sink{Event: d.readEvent, Noise: func(text []byte, _ textstream.Line) {
		line := textstream.CleanText(string(text))
		isBracket := strings.Trim(line, "[]") == "" // flutter writes some events in a list
		if noise == "" && !isBracket {
			noise = line
		}
	}})

	if noise != "" {
		d.set.Problems.Add("text between the events: %s", noise)
	}

	switch {
	case err != nil:
	case d.running && d.isComplete():
		d.set.Problems.Add("the report has no end, but all tests that it announces ended")
	case d.running:
		err = &parsed.SyntaxError{Problem: "the run did not end: the tests were stopped, or their output was cut off"}
	case d.runs == 0:
		err = fmt.Errorf("%w: no run of tests begins in it", parsed.ErrUnknownFormat)
	}
	d.finishRun()
	return d.set.Report("dart test"), err
}

// startRun ends the current run and prepares for the next one.
func (d *dartReader) startRun() {
	d.finishRun()
	d.suites, d.groups, d.tests, d.statedSuites = map[int]*dartSuite{}, map[int]string{}, map[int]*dartTest{}, -1
}

// isComplete reports whether everything that the run announced has ended. Some versions
// of flutter do not write the event that says so.
func (d *dartReader) isComplete() bool {
	for _, t := range d.started {
		if !t.ended {
			return false
		}
	}
	for _, s := range d.suites {
		if !s.broken && s.endedTests != s.statedTests {
			return false
		}
	}
	return d.statedSuites == len(d.suites)
}

// readEvent reads an object of the report. It ignores text in braces that flutter or a test
// printed.
func (d *dartReader) readEvent(raw []byte, line textstream.Line) error {
	event, err := decodeEvent(raw, line)
	isEvent := strings.Contains(string(raw), `"testID"`) || strings.Contains(string(raw), `"suiteID"`)
	switch {
	case err == nil:
		return event.checkMismatch(line, d.handleEvent(event, line))
	case isEvent:
		return err
	}
	return nil
}

// handleEvent handles one event. Those of other types are ignored.
func (d *dartReader) handleEvent(e item, line textstream.Line) error {
	switch e.text("type") {
	case "start":
		if d.running {
			return line.Error("a run begins before the one before it ended")
		}
		d.startRun()
		d.running = true
		d.runs++
	case "suite", "group", "allSuites":
		d.handleAnnouncement(e)
	case "testStart":
		d.startTest(e)
	case "error":
		if t := d.tests[e.integer("testID")]; t != nil {
			t.message.Add(e.message("error", "stackTrace") + "\n")
		}
	case "testDone":
		d.finishTest(e)
	case "done":
		d.running = false
		d.set.Duration += e.number("time").In(time.Millisecond)
		if !e.has("success") {
			return line.Error("the run was closed before its tests had ended")
		}
		d.saysFailed = !e.isTrue("success")
	}
	return nil
}

// handleAnnouncement handles the events that describe what will run.
func (d *dartReader) handleAnnouncement(e item) {
	suite, group := e.at("suite"), e.at("group")
	switch {
	case e.text("type") == "allSuites":
		d.statedSuites = e.integer("count")
	case suite.has(""):
		s := &dartSuite{path: parsed.ToSlash(suite.text("path")), statedTests: -1}
		if platform := suite.text("platform"); platform != "vm" {
			s.platform = platform
		}
		d.suites[suite.integer("id")] = s
	case group.has(""):
		d.groups[group.integer("id")] = group.text("name")
		if s := d.suites[group.integer("suiteID")]; s != nil && !group.has("parentID") {
			s.statedTests = group.integer("testCount")
		}
	}
}

// startTest adds an open test.
func (d *dartReader) startTest(e item) {
	test := e.at("test")
	if !test.has("") {
		return
	}
	class := ""
	for _, id := range test.list("groupIDs") { // the name of a group holds those around it
		class = cmp.Or(d.groups[id.integer("")], class)
	}

	suite := d.suites[test.integer("suiteID")]
	if suite == nil {
		suite = &dartSuite{}
	}

	t := &dartTest{suite: suite, started: e.number("time"), skipReason: test.text("metadata.skipReason"), test: metric.Test{
		ID:   metric.ID{Suite: suite.path, Class: parsed.JoinGroups(suite.platform, class), Name: trimGroup(test.text("name"), class)},
		File: cmp.Or(fileOfURL(cmp.Or(test.text("root_url"), test.text("url"))), suite.path),
		Line: cmp.Or(test.integer("root_line"), test.integer("line")),
	}}

	d.tests[test.integer("id")] = t
	d.started = append(d.started, t)
}

// trimGroup returns the name of a test without that of its group in front.
func trimGroup(name, group string) string {
	if trimmed, ok := strings.CutPrefix(name, group+" "); ok && trimmed != "" {
		return trimmed
	}
	return name
}

// fileOfURL returns the path of a file URL. It returns "" for a package URL, which names
// no file of the project.
func fileOfURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// finishTest sets the outcome of a test. A hook is not a test: it keeps the status 0, and
// breaks its suite if it failed.
func (d *dartReader) finishTest(e item) {
	t := d.tests[e.integer("testID")]
	if t == nil {
		d.set.Problems.Add("the test %d ends and did not begin", e.integer("testID"))
		return
	}

	t.ended = true
	t.test.Duration = (e.number("time") - t.started).In(time.Millisecond)
	t.test.Message = t.message.String()

	switch result := e.text("result"); {
	case result == "failure":
		t.test.Status = metric.Failed
	case result != "success":
		t.test.Status = metric.Errored
	case e.isTrue("skipped"):
		t.test.Status, t.test.Message = metric.Skipped, t.skipReason
	default:
		t.test.Status, t.test.Message = metric.Passed, ""
	}

	if t.isHook() || e.isTrue("hidden") {
		if t.test.Status > metric.Skipped {
			t.suite.broken = true
			d.set.AddBroken(t.test.Suite, t.test.Name+": "+t.test.Message)
		}
		t.test.Status = 0
		return
	}

	t.suite.endedTests++
}

// isHook reports whether it is not a test of the project but the loading of a file, or
// code that runs before or after all tests.
func (t *dartTest) isHook() bool {
	isLoading := strings.HasPrefix(t.test.Name, "loading ") && t.test.Class == t.suite.platform && t.test.Line == 0
	return isLoading || t.test.Name == "(setUpAll)" || t.test.Name == "(tearDownAll)"
}

// finishRun adds the tests of a run to the report.
func (d *dartReader) finishRun() {
	before := d.set.Totals.Unsuccessful()
	for _, t := range d.started {
		switch {
		case t.test.Status != 0:
			d.set.Add(t.test)
		case !t.ended && t.isHook():
			d.set.AddBroken(t.test.Suite, t.test.Name+" did not end")
		case !t.ended:
			t.test.Status, t.test.Message = metric.Errored, parsed.JoinMessage("it began and did not end", t.message.String())
			d.set.Add(t.test)
		}
	}
	if d.saysFailed && d.set.Totals.Unsuccessful() == before {
		d.set.AddContradiction("the run says that it failed although no test did")
	}
	d.started, d.saysFailed = nil, false
}
