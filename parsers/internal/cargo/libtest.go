package cargo

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// libtestEvent is one line of the JSON of Rust's test harness, which nextest writes as well:
//
//	{ "type": "test", "event": "ok", "name": "tests::adds" }
type libtestEvent struct {
	Type      string            `json:"type"`
	Event     string            `json:"event"`
	Name      string            `json:"name"`
	ExecTime  parsed.AnyNumber  `json:"exec_time"` // seconds
	Duration  parsed.AnyNumber  `json:"duration"`  // the same, of old versions
	Stdout    parsed.AnyText    `json:"stdout"`
	Stderr    parsed.AnyText    `json:"stderr"`
	Message   parsed.AnyText    `json:"message"`
	Reason    parsed.AnyText    `json:"reason"`
	TestCount parsed.AnyNumber  `json:"test_count"`
	Passed    *parsed.AnyNumber `json:"passed"`
	Failed    *parsed.AnyNumber `json:"failed"`
	Ignored   *parsed.AnyNumber `json:"ignored"`
	Measured  parsed.AnyNumber  `json:"measured"`
}

// libtestStarts are the possible starts of an event, by libtest and by nextest.
var libtestStarts = []string{`{ "type": "`, `{"type":"`}

// detectLibtest reports whether the head has the event that starts a suite.
func detectLibtest(h sniff.Head) bool {
	return h.MatchesLine(func(line string) bool {
		line = strings.TrimSpace(line)
		return (strings.HasPrefix(line, libtestStarts[0]+"suite") || strings.HasPrefix(line, libtestStarts[1]+"suite")) &&
			strings.Contains(line, `"test_count"`)
	})
}

// libtestReader reads the events of one or more test binaries.
type libtestReader struct {
	set           parsed.Outcomes
	nextBinary    string            // the binary that cargo runs next, "" if it did not name one
	open          *libtestSuite     // the suite that began and did not end, nil for none
	chunk         *libtestSuite     // the suite of nextest to which the open part belongs, nil for others
	nextestSuites []*libtestSuite   // the suites of nextest, which writes a suite in several parts
	identities    map[metric.ID]int // how many tests of an identity were added
	suites        int               // number of suites that began
	noise         string            // the first line that is neither an event nor of cargo
}

func newLibtestReader() *libtestReader { return &libtestReader{identities: map[metric.ID]int{}} }

// parseLibtest reads the JSON of libtest. The names of binaries are only known if the lines
// of cargo are between the events.
func parseLibtest(r io.Reader) (parsed.Report, error) {
	l := newLibtestReader()
	err := jsonstream.ReadEvents(r, libtestStarts, jsonstream.Sink{Event: l.handleEvent, Noise: l.handleText})
	if err == nil && l.suites+len(l.set.Broken) == 0 {
		err = fmt.Errorf("%w: no suite begins in it", parsed.ErrUnknownFormat)
	}
	if l.open != nil && l.chunk == nil {
		l.endSuite(l.open, nil)
	} else if l.open != nil && err == nil {
		err = &parsed.SyntaxError{Problem: "the report ends in the middle of a suite: nextest was stopped, or its output was cut off"}
	}
	for _, s := range l.nextestSuites {
		l.endSuite(s, nil)
	}
	if l.noise != "" {
		l.set.Problems.Add("text between the events: %s", l.noise)
	}
	producer := "cargo test"
	if len(l.nextestSuites) > 0 {
		producer = "cargo nextest"
	}
	return l.set.Report(producer), err
}

// cargoRunningPattern matches the lines of cargo that name the next binary:
// "Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)".
var cargoRunningPattern = regexp.MustCompile(`^\s*(?:Running (?:unittests )?(\S+) \((\S+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)|Doc-tests (\S+))\s*$`)

// cargoMessagePattern matches the lines of cargo that are not about tests: "   Compiling a
// v0.1.0" or "warning: unused import".
var cargoMessagePattern = regexp.MustCompile(`^\s*([A-Z][a-z]+|warning|error)[: ]|^\s+` + "`-")

// cargoNotCompiledPattern matches the error for a package that was not compiled: "error: could
// not compile `a`".
var cargoNotCompiledPattern = regexp.MustCompile("^error: could not compile `([^`]+)`")

// handleText handles a line that is not an event: one of cargo, or noise.
func (l *libtestReader) handleText(raw []byte, _ textstream.Line) {
	line := textstream.CleanText(string(raw))
	if m := cargoRunningPattern.FindStringSubmatch(line); m != nil {
		l.nextBinary = binaryName(m)
		return
	}
	if m := cargoNotCompiledPattern.FindStringSubmatch(line); m != nil {
		l.set.AddBroken(m[1], line)
		return
	}
	if l.noise == "" && !cargoMessagePattern.MatchString(string(raw)) {
		l.noise = line
	}
}

// binaryName returns the name of a binary, with the parts m of cargoRunningPattern: "src/lib.rs
// (a)" or "doc-tests a".
func binaryName(m []string) string {
	if m[3] != "" {
		return "doc-tests " + m[3]
	}
	return fmt.Sprintf("%s (%s)", parsed.ToSlash(m[1]), path.Base(parsed.ToSlash(m[2])))
}

// escapePattern matches an escape in a JSON string, also an invalid one.
var escapePattern = regexp.MustCompile(`\\(\\|u[0-9a-fA-F]{4}|["/bfnrt]|.)`)

// repairEscapes returns a line of old versions as valid JSON. They did not escape the
// backslashes in paths of Windows.
func repairEscapes(raw []byte) []byte {
	return escapePattern.ReplaceAllFunc(raw, func(m []byte) []byte {
		if len(m) == 2 && strings.IndexByte(`\"/bfnrt`, m[1]) < 0 {
			return append([]byte(`\`), m...)
		}
		return m
	})
}

// windowsPathRepair restores backslashes that were read as escapes in such a path.
var windowsPathRepair = strings.NewReplacer("\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// handleEvent handles one event. It is an error if the line cannot be decoded, even after a
// repair.
func (l *libtestReader) handleEvent(raw []byte, at textstream.Line) error {
	var e libtestEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		if jsonstream.Unmarshal(repairEscapes(raw), &e) != nil {
			return at.Error("%v", err)
		}
	}
	e.Name = windowsPathRepair.Replace(e.Name)
	switch e.Type {
	case "suite":
		l.handleSuiteEvent(e)
	case "test", "bench":
		l.handleTestEvent(e)
	case "report", "":
	default:
		l.set.Problems.Add("line %d is an event of the unknown type %s", at.Number, e.Type)
	}
	return nil
}

// handleSuiteEvent handles the start or the end of a suite. A suite without an end ends where
// the next one starts.
func (l *libtestReader) handleSuiteEvent(e libtestEvent) {
	switch e.Event {
	case "started":
		if l.open != nil && l.chunk == nil {
			l.endSuite(l.open, nil)
		}
		l.suites++
		l.open, l.chunk = &libtestSuite{name: l.nextBinary, statedTests: e.TestCount.Int(), index: map[string]int{}}, nil
		l.nextBinary = ""
	case "ok", "failed":
		switch {
		case l.chunk != nil:
			if e.Ignored != nil {
				l.chunk.ignored = max(l.chunk.ignored, e.Ignored.Int())
			}
		case l.open != nil:
			l.endSuite(l.open, &e)
		}
		l.open, l.chunk = nil, nil
	}
}

// nextestNamePattern matches a name of nextest: binary, test and number of the attempt, as
// "pkg::bin$tests::adds#2".
var nextestNamePattern = regexp.MustCompile(`^([^$]+)\$(.*?)(?:#(\d+))?$`)

// handleTestEvent passes an event to the suite of its test. nextest names the binary in the
// event.
func (l *libtestReader) handleTestEvent(e libtestEvent) {
	attempt, suite := "", l.open
	if e.Type == "test" && strings.IndexByte(e.Name, '$') > 0 {
		if m := nextestNamePattern.FindStringSubmatch(e.Name); m != nil {
			e.Name, attempt = m[2], m[3]
			suite = l.nextestSuite(m[1])
		}
	}
	if suite == nil {
		l.set.Problems.Add("the test %s belongs to no suite", textstream.CleanName(e.Name))
		suite = &libtestSuite{index: map[string]int{}}
		l.open = suite
	}
	suite.handleEvent(e, attempt != "")
}

// nextestSuite returns the suite of a binary of nextest, and adds it if it is new.
func (l *libtestReader) nextestSuite(binary string) *libtestSuite {
	for _, s := range l.nextestSuites {
		if s.name == binary {
			l.chunk = s
			return s
		}
	}
	l.chunk = &libtestSuite{name: binary, index: map[string]int{}, isNextest: true}
	l.nextestSuites = append(l.nextestSuites, l.chunk)
	return l.chunk
}

// libtestSuite has the tests of one binary.
type libtestSuite struct {
	name        string
	statedTests int // number of tests, as stated at its start
	cases       []metric.Test
	index       map[string]int // of the latest attempts in cases, by name
	isNextest   bool
	ignored     int // number of tests that nextest ignored, without naming them
}

// libtestStatuses maps the events that end a test.
var libtestStatuses = map[string]metric.Status{
	"ok": metric.Passed, "failed": metric.Failed, "ignored": metric.Skipped, "allowed_failure": metric.Skipped,
}

// handleEvent handles an event of a test. Again is set for a second or later attempt, which
// makes a pass flaky.
func (s *libtestSuite) handleEvent(e libtestEvent, again bool) {
	i, known := s.index[e.Name]
	if !known || e.Event == "started" && s.cases[i].Status != 0 {
		i = len(s.cases)
		s.index[e.Name] = i
		s.cases = parsed.AppendLimited(s.cases, metric.Test{ID: metric.ID{Suite: s.name, Name: e.Name}})
	}

	c := &s.cases[i]
	if e.Type == "bench" {
		e.Event = "ok"
	}
	status, ends := libtestStatuses[e.Event]
	if !ends { // started; timeout says that it takes long, not that it failed
		return
	}

	if c.Status != 0 { // it ends twice, without a new start
		status = max(status, c.Status)
	}
	c.Status, c.Flaky = status, again && status == metric.Passed
	c.Duration = cmp.Or(e.ExecTime, e.Duration).In(time.Second)
	if status != metric.Passed {
		c.Message = parsed.JoinTexts([]parsed.AnyText{e.Message, e.Reason, e.Stdout, e.Stderr}, "\n")
	}
}

// trybuildPattern matches the name of a file that trybuild compiles: "tests/ui/a.rs [should
// fail to compile]". It prints these in the middle of its test, in the format of tests.
var trybuildPattern = regexp.MustCompile(`\.rs(?: \[should (?:fail to compile|pass)\])?$`)

// dropTrybuildFiles removes the files of trybuild if the number of tests is right without
// them. Tests of other harnesses may have such names as well.
func (s *libtestSuite) dropTrybuildFiles() {
	own := slices.DeleteFunc(slices.Clone(s.cases), func(c metric.Test) bool { return trybuildPattern.MatchString(c.Name) })
	if len(s.cases) <= s.statedTests || len(own) != s.statedTests {
		return
	}
	s.cases, s.index = own, map[string]int{}
	for i, c := range own {
		s.index[c.Name] = i
	}
}

// endSuite adds the tests of the suite to the report. E is the event at its end, nil if it
// has none.
func (l *libtestReader) endSuite(s *libtestSuite, e *libtestEvent) {
	var n parsed.Totals
	unended := 0
	for i := range s.cases {
		if s.cases[i].Status == 0 {
			unended++
		}
	}

	nameDoctests(s.cases)
	for _, c := range s.cases {
		switch {
		case c.Status == 0 && s.isNextest && unended <= s.ignored:
			c.Status = metric.Skipped
		case c.Status == 0:
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		if k := l.identities[c.ID]; k > 0 {
			c.Suite = fmt.Sprintf("%s#%d", c.Suite, k+1)
			l.identities[metric.ID{Suite: s.name, Class: c.Class, Name: c.Name}]++
		} else {
			l.identities[c.ID]++
		}
		n.Add(c.Status)
		l.set.Add(c)
	}
	switch {
	case e != nil:
		e.checkTotals(&l.set, n)
	case !s.isNextest:
		l.set.AddBroken(s.name, fmt.Sprintf("the test binary ended before its %d tests had run", s.statedTests))
	}
}

// checkTotals compares the totals of the harness with the counted tests.
func (e *libtestEvent) checkTotals(s *parsed.Outcomes, n parsed.Totals) {
	s.CheckOptionalTotal("passed tests", e.Passed, n.Passed-e.Measured.Int())
	s.CheckOptionalFailures("failed tests", e.Failed, n.Failed, n.Unsuccessful())
	if e.Event == "failed" && (e.Failed == nil || *e.Failed == 0) && n.Unsuccessful() == 0 {
		s.AddContradiction("a test binary says that it failed although none of its tests did")
	}
	s.CheckOptionalTotal("ignored tests", e.Ignored, n.Skipped)
}

// doctestPattern matches the name of a doc test: "src/lib.rs - add (line 12)".
var doctestPattern = regexp.MustCompile(`^(\S.*?) - (.*?) ?\(line (\d+)\)`)

// nameDoctests renames doc tests so that their names do not change with their line: to the
// file, the documented item, and a number if that has several.
func nameDoctests(cases []metric.Test) {
	items := map[string][]*metric.Test{}
	for i := range cases {
		c := &cases[i]
		if !strings.Contains(c.Name, "(line ") {
			continue
		}
		m := doctestPattern.FindStringSubmatch(c.Name)
		if m == nil {
			continue
		}
		line, err := strconv.Atoi(m[3])
		if err != nil {
			continue
		}

		c.Name, c.File, c.Line = m[1]+" - "+m[2], parsed.ToSlash(m[1]), line
		items[c.Name] = append(items[c.Name], c)
	}

	for _, several := range items {
		if len(several) == 1 {
			continue
		}
		slices.SortStableFunc(several, func(a, b *metric.Test) int { return cmp.Compare(a.Line, b.Line) })
		for i, c := range several {
			c.Name += fmt.Sprintf("[%d]", i+1)
		}
	}
}
