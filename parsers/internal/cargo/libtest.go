package cargo

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// libtestEvent is one line of the JSON that Rust's test harness writes, and
// nextest after it.
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

var libtestStarts = []string{`{ "type": "`, `{"type":"`}

func detectLibtest(h sniff.Head) bool {
	return h.MatchesLine(func(line string) bool {
		line = strings.TrimSpace(line)
		return (strings.HasPrefix(line, libtestStarts[0]+"suite") || strings.HasPrefix(line, libtestStarts[1]+"suite")) &&
			strings.Contains(line, `"test_count"`)
	})
}

// libtest reads the events of one test binary after another.
type libtest struct {
	set    parsed.Outcomes
	binary string          // the one that cargo says it runs next
	open   *libtestSuite   // began and did not end
	chunk  *libtestSuite   // the suite of nextest that the open one is a part of
	nexts  []*libtestSuite // of nextest, which writes a suite in several parts
	used   map[metric.ID]int
	suites int
	noise  string // the first line that is neither an event nor of cargo
}

func newLibtest() *libtest { return &libtest{used: map[metric.ID]int{}} }

// parseLibtest reads the JSON of libtest. Binaries are named where the lines
// of cargo are between the events.
func parseLibtest(r io.Reader) (parsed.Report, error) {
	l := newLibtest()
	err := jsonstream.ReadEvents(r, libtestStarts, jsonstream.Sink{Event: l.event, Noise: l.text})
	if err == nil && l.suites+len(l.set.Broken) == 0 {
		err = fmt.Errorf("%w: no suite begins in it", parsed.ErrUnknownFormat)
	}
	if l.open != nil && l.chunk == nil {
		l.end(l.open, nil)
	} else if l.open != nil && err == nil {
		err = &parsed.SyntaxError{Problem: "the report ends in the middle of a suite: nextest was stopped, or its output was cut off"}
	}
	for _, s := range l.nexts {
		l.end(s, nil)
	}
	if l.noise != "" {
		l.set.Problems.Add("text between the events: %s", l.noise)
	}
	producer := "cargo test"
	if len(l.nexts) > 0 {
		producer = "cargo nextest"
	}
	return l.set.Report(producer), err
}

// cargoRuns are the lines of cargo that name what runs next.
var cargoRuns = regexp.MustCompile(`^\s*(?:Running (?:unittests )?(\S+) \((\S+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)|Doc-tests (\S+))\s*$`)

// cargoSays are the lines of cargo that say nothing about tests.
var cargoSays = regexp.MustCompile(`^\s*([A-Z][a-z]+|warning|error)[: ]|^\s+` + "`-")

var cargoFailed = regexp.MustCompile("^error: could not compile `([^`]+)`")

func (l *libtest) text(raw []byte, _ textstream.Line) {
	line := textstream.CleanText(string(raw))
	if m := cargoRuns.FindStringSubmatch(line); m != nil {
		l.binary = cargoBinary(m)
		return
	}
	if m := cargoFailed.FindStringSubmatch(line); m != nil {
		l.set.Breaks(m[1], line)
		return
	}
	if l.noise == "" && !cargoSays.MatchString(string(raw)) {
		l.noise = line
	}
}

func cargoBinary(m []string) string {
	if m[3] != "" {
		return "doc-tests " + m[3]
	}
	return fmt.Sprintf("%s (%s)", parsed.Slashed(m[1]), path.Base(parsed.Slashed(m[2])))
}

var strayEscape = regexp.MustCompile(`\\(\\|u[0-9a-fA-F]{4}|["/bfnrt]|.)`)

// repaired makes JSON of a line of old versions, which wrote the paths of
// Windows as they are.
func repaired(raw []byte) []byte {
	return strayEscape.ReplaceAllFunc(raw, func(m []byte) []byte {
		if len(m) == 2 && strings.IndexByte(`\"/bfnrt`, m[1]) < 0 {
			return append([]byte(`\`), m...)
		}
		return m
	})
}

// windowsPath are the separators of such a path that are not stray ones.
var windowsPath = strings.NewReplacer("\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func (l *libtest) event(raw []byte, at textstream.Line) error {
	var e libtestEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		if jsonstream.Unmarshal(repaired(raw), &e) != nil {
			return at.Error("%v", err)
		}
	}
	e.Name = windowsPath.Replace(e.Name)
	switch e.Type {
	case "suite":
		l.suiteEvent(e)
	case "test", "bench":
		l.testEvent(e)
	case "report", "":
	default:
		l.set.Problems.Add("line %d is an event of the unknown type %s", at.Number, e.Type)
	}
	return nil
}

func (l *libtest) suiteEvent(e libtestEvent) {
	switch e.Event {
	case "started":
		if l.open != nil && l.chunk == nil {
			l.end(l.open, nil)
		}
		l.suites++
		l.open, l.chunk = &libtestSuite{name: l.binary, stated: e.TestCount.Int(), index: map[string]int{}}, nil
		l.binary = ""
	case "ok", "failed":
		switch {
		case l.chunk != nil:
			if e.Ignored != nil {
				l.chunk.ignored = max(l.chunk.ignored, e.Ignored.Int())
			}
		case l.open != nil:
			l.end(l.open, &e)
		}
		l.open, l.chunk = nil, nil
	}
}

// nextestName is a name of nextest: the binary, the test, and the number of the
// attempt.
var nextestName = regexp.MustCompile(`^([^$]+)\$(.*?)(?:#(\d+))?$`)

func (l *libtest) testEvent(e libtestEvent) {
	attempt, suite := "", l.open
	if e.Type == "test" && strings.IndexByte(e.Name, '$') > 0 {
		if m := nextestName.FindStringSubmatch(e.Name); m != nil {
			e.Name, attempt = m[2], m[3]
			suite = l.nextest(m[1])
		}
	}
	if suite == nil {
		l.set.Problems.Add("the test %s belongs to no suite", textstream.CleanName(e.Name))
		suite = &libtestSuite{index: map[string]int{}}
		l.open = suite
	}
	suite.event(e, attempt != "")
}

func (l *libtest) nextest(binary string) *libtestSuite {
	for _, s := range l.nexts {
		if s.name == binary {
			l.chunk = s
			return s
		}
	}
	l.chunk = &libtestSuite{name: binary, index: map[string]int{}, nextest: true}
	l.nexts = append(l.nexts, l.chunk)
	return l.chunk
}

// libtestSuite is what one binary ran.
type libtestSuite struct {
	name    string
	stated  int // tests, as it began
	cases   []metric.Test
	index   map[string]int
	nextest bool
	ignored int // by nextest, which does not say which ones
}

var libtestStatuses = map[string]metric.Status{
	"ok": metric.Passed, "failed": metric.Failed, "ignored": metric.Skipped, "allowed_failure": metric.Skipped,
}

func (s *libtestSuite) event(e libtestEvent, again bool) {
	i, known := s.index[e.Name]
	if !known || e.Event == "started" && s.cases[i].Status != 0 {
		i = len(s.cases)
		s.index[e.Name] = i
		s.cases = parsed.Keep(s.cases, metric.Test{ID: metric.ID{Suite: s.name, Name: e.Name}})
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

// tryBuilt is a name under which trybuild prints a file that it compiles, in the middle of
// the test that has it compile files.
var tryBuilt = regexp.MustCompile(`\.rs(?: \[should (?:fail to compile|pass)\])?$`)

// dropTryBuilt leaves out the files of trybuild, where the tests are as many as were said to
// run without them: what other harnesses run may have such names as well.
func (s *libtestSuite) dropTryBuilt() {
	own := slices.DeleteFunc(slices.Clone(s.cases), func(c metric.Test) bool { return tryBuilt.MatchString(c.Name) })
	if len(s.cases) <= s.stated || len(own) != s.stated {
		return
	}
	s.cases, s.index = own, map[string]int{}
	for i, c := range own {
		s.index[c.Name] = i
	}
}

// end takes the cases of the suite; e is the event that ends it, nil where
// there is none.
func (l *libtest) end(s *libtestSuite, e *libtestEvent) {
	var n parsed.Totals
	unended := 0
	for i := range s.cases {
		if s.cases[i].Status == 0 {
			unended++
		}
	}
	s.nameDoctests()
	for _, c := range s.cases {
		switch {
		case c.Status == 0 && s.nextest && unended <= s.ignored:
			c.Status = metric.Skipped
		case c.Status == 0:
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		if k := l.used[c.ID]; k > 0 {
			c.Suite = fmt.Sprintf("%s#%d", c.Suite, k+1)
			l.used[metric.ID{Suite: s.name, Class: c.Class, Name: c.Name}]++
		} else {
			l.used[c.ID]++
		}
		n.Add(c.Status)
		l.set.Add(c)
	}
	switch {
	case e != nil:
		e.check(&l.set, n)
	case !s.nextest:
		l.set.Breaks(s.name, fmt.Sprintf("the test binary ended before its %d tests had run", s.stated))
	}
}

// check compares the sums of the harness with the recount.
func (e *libtestEvent) check(s *parsed.Outcomes, n parsed.Totals) {
	s.Stated("passed tests", e.Passed, n.Passed-e.Measured.Int())
	s.StatedFails("failed tests", e.Failed, n.Failed, n.Failed+n.Errors)
	if e.Event == "failed" && (e.Failed == nil || *e.Failed == 0) && n.Failed+n.Errors == 0 {
		s.Contradicts("a test binary says that it failed although none of its tests did")
	}
	s.Stated("ignored tests", e.Ignored, n.Skipped)
}
