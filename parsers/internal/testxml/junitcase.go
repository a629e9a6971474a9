package testxml

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// junitSuite is an open testsuite or testsuites element. The outermost one
// represents the report and has no parent.
type junitSuite struct {
	parent     *junitSuite
	name, file string
	path       string // the names of the suites from the outside to it
	host       string
	declared   parsed.Totals // what its attributes say, failures and errors in Failed
	declares   bool
	own, inner parsed.Totals // of its own cases, and of those of the suites within
	suites     parsed.Totals // the suites directly within, where their writer counts them like cases
	took, sum  time.Duration
	noTests    int              // of its own cases
	more       int              // failures beyond one of a case, and those that a later attempt made good
	unsaid     int              // tests that ctest could not start, which it counts as skipped here
	why        *textstream.Clip // it failed completely
}

func newSuite(t xmlstream.Token, parent *junitSuite, producer string) *junitSuite {
	s := &junitSuite{parent: parent, file: parent.file}
	for _, a := range t.Attrs {
		switch a.Name {
		case "name":
			if t.Name == "testsuite" { // the outermost name is that of the tool
				s.name = suiteName(a.Value)
			}
		case "file", "filepath":
			s.file = textstream.CleanName(a.Value)
		case "hostname":
			s.host = textstream.CleanName(a.Value)
		case "time":
			s.took = junitTime(a.Value)
		case "tests":
			n, err := strconv.ParseFloat(a.Value, 64)
			s.declared.Tests, s.declares = parsed.Int(n), err == nil
		case "failures", "errors":
			n, _ := strconv.ParseFloat(a.Value, 64)
			s.declared.Failed += parsed.Int(n)
		}
	}
	s.path = parent.path
	if s.name != "" {
		s.path = strings.TrimPrefix(parent.path+within+s.name, within)
	}
	if producer == mocha && s.name == "Root Suite" { // its file is that of the suites after it
		parent.file = s.file
	}
	return s
}

// within separates the names of a suite and of a suite in it.
const within = " > "

// id returns what the tests of s have as their suite.
func (s *junitSuite) id() string {
	if s.file != "" {
		return s.file
	}
	return s.path
}

func (s *junitSuite) failed(message string) *textstream.Clip {
	if s.why == nil {
		s.why = &textstream.Clip{}
	}
	s.why.Add(message + "\n")
	return s.why
}

// asOne counts the suite like one case.
func (s *junitSuite) asOne() parsed.Totals {
	if all := s.own.Plus(s.inner); all.Failed+all.Errors > 0 {
		return parsed.Totals{Tests: 1, Failed: 1}
	}
	return parsed.Totals{Tests: 1, Passed: 1}
}

// check compares what the suite says of itself with the recount. Writers
// differ in whether the suites within count; either is right.
// It returns the contradiction of more failures than there are, "" for none.
func (s *junitSuite) check(p *textstream.Problems) (denied string) {
	all := s.own.Plus(s.inner)
	if s.declares && s.declared.Tests != all.Tests && s.declared.Tests != s.own.Tests && s.declared.Tests != s.own.Plus(s.suites).Tests {
		p.Add("suite %q says it has %d tests and holds %d", s.path, s.declared.Tests, all.Tests)
	}
	bad, ownBad := all.Failed+all.Errors, s.own.Failed+s.own.Errors
	if s.declares && s.declared.Failed != bad && s.declared.Failed != bad-s.unsaid && s.declared.Failed != ownBad && s.declared.Failed != ownBad+s.suites.Failed {
		said := fmt.Sprintf("suite %q says that %d tests failed and holds %d", s.path, s.declared.Failed, bad)
		if p.Add("%s", said); s.declared.Failed > bad+s.more {
			return said
		}
	}
	return ""
}

// junitCase is an open testcase.
type junitCase struct {
	test    metric.Test
	worst   metric.Status
	flaky   bool
	notRun  bool
	fails   int    // elements that say so, also of attempts that were made good
	skips   int    // collections by pytest that skipped it
	word    string // a status that is not known, where nothing else says how it ended
	todo    bool   // it may fail, and does not count then
	message textstream.Clip
}

// begin makes c the case of a testcase element in s.
func (c *junitCase) begin(t xmlstream.Token, s *junitSuite) {
	*c = junitCase{worst: metric.Passed}
	c.test.File = s.file
	for _, a := range t.Attrs {
		switch a.Name {
		case "name":
			c.test.Name = textstream.CleanName(a.Value)
		case "classname", "class":
			c.test.Class = textstream.CleanName(a.Value)
		case "file", "filepath":
			c.test.File, c.test.Line = fileLine(textstream.CleanName(a.Value), c.test.Line)
		case "line", "lineno":
			c.test.Line = junitLine(a.Value)
		case "time", "duration":
			c.test.Duration = junitTime(a.Value)
		case "status", "result":
			word := strings.ToLower(a.Value)
			c.worst = max(c.worst, junitStatuses[word])
			c.flaky = c.flaky || word == statusFlaky
			c.notRun = c.notRun || word == statusNotRun
			if junitStatuses[word] == 0 && !junitNeutral[word] && !c.flaky && !c.notRun {
				c.word = textstream.CleanName(a.Value)
			}
		}
	}
}

// more is how many of its failures a suite may count beyond one of the case.
func (c *junitCase) more(s metric.Status) int {
	if s == metric.Failed || s == metric.Errored {
		return max(0, c.fails-1)
	}
	return c.fails
}

// junitLine reads a line number; what it cannot read is 0.
func junitLine(s string) int {
	n, _ := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return parsed.Int(n)
}

// ended takes one outcome of the case; of several the worst counts. It returns
// where the text of the outcome goes.
func (c *junitCase) ended(s metric.Status, flaky bool, message string) *textstream.Clip {
	switch {
	case s != metric.Skipped:
		c.fails++
	case message == "collection skipped":
		c.skips++
	}
	if s >= metric.Skipped {
		c.word = ""
	}
	if s == 0 {
		return nil
	}
	if s > c.worst {
		c.message = textstream.Clip{} // a failure replaces the message of a skip before it
	} else if s < c.worst && !c.message.Empty() {
		return nil
	}
	c.worst = max(c.worst, s)
	c.flaky = c.flaky || flaky
	if message != "" {
		c.message.Add(message + "\n")
	}
	return &c.message
}

// result returns the outcome of the case in its suite.
func (c *junitCase) result(s *junitSuite, producer string) metric.Test {
	t := c.test
	t.Status = c.worst
	if !c.message.Empty() {
		t.Message = withoutRepeat(c.message.String())
	}
	switch {
	case c.notRun:
		t.Status = metric.NotRun
	case c.todo:
		t.Status = metric.Skipped
	case producer == ctest && t.Status == metric.Skipped && notStarted(t.Message):
		t.Status = metric.Errored
		s.unsaid++
	}
	t.Flaky = c.flaky && t.Status == metric.Passed
	s.place(&t, producer)
	return t
}

// fileLine splits "a_test.exs:12" as ExUnit writes it: a line is not a part of an
// identity. Without a line it returns the one given.
func fileLine(file string, line int) (string, int) {
	if n := len(file); n == 0 || file[n-1] < '0' || file[n-1] > '9' {
		return file, line
	}
	if m := placed.FindStringSubmatch(file); m != nil {
		return m[1], junitLine(m[2])
	}
	return file, line
}

// place gives a case its suite, and its class where it has none.
func (s *junitSuite) place(t *metric.Test, producer string) {
	if producer == pytest {
		pytestFile(t)
	}
	switch {
	case t.File != "":
		t.Suite = t.File
		if t.Class == "" && s.path != t.File {
			t.Class = s.path
		}
	case producer == pytest: // all are in one suite called "pytest"
		t.Suite = pytestModule(cmp.Or(t.Class, t.Name))
	case producer == surefire && t.Class != "": // its suites take in cases of others
		t.Suite = t.Class
	default:
		t.Suite = s.path
	}
	if producer == pytest {
		pytestClass(t)
	}
	if producer == playwright { // the same test in several browsers
		t.Class = s.host
	}
}

// pytestFile names the file in which a test was collected, which its class is
// about: the attribute is the place of the function, which a class may have
// inherited and a decorator may have brought along.
func pytestFile(t *metric.Test) {
	switch {
	case t.Class == "" && strings.HasPrefix(t.File, "../"):
		t.File = ""
	case t.Class != "" && t.File != "" && !strings.HasPrefix(t.Class+".", dotted(t.File)+"."):
		t.File, t.Line = strings.ReplaceAll(pytestModule(t.Class), ".", "/")+".py", 0
	}
}

// pytestClass leaves out the module, which a class name begins with.
func pytestClass(t *metric.Test) {
	if rest, ok := strings.CutPrefix(t.Class, dotted(t.Suite)); ok && (rest == "" || rest[0] == '.') {
		t.Class = strings.TrimPrefix(rest, ".")
	}
}

// dotted is the module in a file of Python.
func dotted(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
}

// withoutRepeat drops the first line where the next one begins with it: many
// writers put the message into the attribute and into the text.
func withoutRepeat(s string) string {
	first, rest, ok := strings.Cut(s, "\n")
	if rest = strings.TrimSpace(rest); ok && strings.HasPrefix(rest, strings.TrimSpace(first)) {
		return rest
	}
	return s
}

var thousands = regexp.MustCompile(`^\d{1,3}(,\d{3})+\.\d+$`)

// junitTime reads seconds, with a decimal point or comma, with separators of
// thousands before a decimal point, or with a trailing "s". What it cannot read
// is not a time.
func junitTime(s string) time.Duration {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "s"))
	if strings.Contains(s, ",") && thousands.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil {
		return 0
	}
	return parsed.Seconds(f)
}
