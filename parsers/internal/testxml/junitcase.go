package testxml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// junitSuite is an open testsuite or testsuites element. The outermost one represents the
// report and has no parent.
type junitSuite struct {
	parent               *junitSuite      // the suite around it
	name, file           string           // "" for none; the file may be that of the parent
	path                 string           // names of the enclosing suites and of the suite
	host                 string           // the attribute hostname, which is the project with Playwright
	stated               parsed.Totals    // from its attributes: Failed is the sum of failures and errors
	hasTotals            bool             // the element states how many tests it has
	own, inner           parsed.Totals    // counts of the cases directly in it, and of those in inner suites
	suites               parsed.Totals    // of its direct inner suites, for a tool that counts suites as cases
	statedTime, caseTime time.Duration    // its attribute, and the sum of its cases
	suiteCases           int              // own cases that represent a suite
	extraFailures        int              // failures after the first one of a case, and those of attempts before a pass
	notStarted           int              // tests that CTest could not start and counts as skipped
	failure              *textstream.Clip // why the suite could not run, nil if it did
}

// newSuite returns the suite of a testsuite or testsuites element.
func newSuite(t xmlstream.Token, parent *junitSuite, producer string) *junitSuite {
	s := &junitSuite{parent: parent, file: parent.file}
	for _, a := range t.Attrs {
		switch a.Name {
		case "name":
			if t.Name == "testsuite" { // the outermost name is that of the tool
				s.name = cleanSuiteName(a.Value)
			}
		case "file", "filepath":
			s.file = textstream.CleanName(a.Value)
		case "hostname":
			s.host = textstream.CleanName(a.Value)
		case "time":
			s.statedTime = parseTime(a.Value)
		case "tests":
			n, err := strconv.ParseFloat(a.Value, 64)
			s.stated.Tests, s.hasTotals = parsed.ToCount(n), err == nil
		case "failures", "errors", "warnings", "failed":
			n, _ := strconv.ParseFloat(a.Value, 64)
			s.stated.Failed += parsed.ToCount(n)
		}
	}

	s.path = parent.path
	if s.name != "" {
		s.path = strings.TrimPrefix(parent.path+suiteSeparator+s.name, suiteSeparator)
	}

	if producer == mocha && s.name == "Root Suite" { // its file is that of the suites after it
		parent.file = s.file
	}
	return s
}

// suiteSeparator joins the names of nested suites.
const suiteSeparator = " > "

// id returns the Suite in the identities of its tests: the file or, without one, the path.
func (s *junitSuite) id() string {
	if s.file != "" {
		return s.file
	}
	return s.path
}

// addFailure adds a failure outside of the cases, and returns where its text goes.
func (s *junitSuite) addFailure(message string) *textstream.Clip {
	if s.failure == nil {
		s.failure = &textstream.Clip{}
	}
	s.failure.Add(message + "\n")
	return s.failure
}

// totalsAsCase returns the totals of the suite as if it were one case.
func (s *junitSuite) totalsAsCase() parsed.Totals {
	if all := s.own.Plus(s.inner); all.Unsuccessful() > 0 {
		return parsed.Totals{Tests: 1, Failed: 1}
	}
	return parsed.Totals{Tests: 1, Passed: 1}
}

// isNamedBy reports whether a case that did not pass represents the suite: it is alone and has the
// name of the suite or of its file. Suites of ctest may be named after their only test, and other
// suites after the subject of a test that failed: there the name must be that of a file or class.
func (s *junitSuite) isNamedBy(t metric.Test, class, producer string) bool {
	isFile := t.File != "" && (t.Name == t.File || strings.HasSuffix(t.File, "/"+t.Name))
	isName := t.Name == s.name && (class == "" || class == t.Name)
	switch {
	case producer == surefire && t.Name == class, isFile:
		return true
	case !isName || s.stated.Tests > 1 || s.own.Tests > 1 || producer == ctest:
		return false
	}
	return t.Status != metric.Failed || fileNamePattern.MatchString(t.Name)
}

// fileNamePattern matches the end of the name of a file.
var fileNamePattern = regexp.MustCompile(`\.[A-Za-z]\w*$`)

// checkTotals compares the totals of the suite with its cases. Tools differ in whether they
// count the cases of inner suites, so either is right. It is a contradiction if more failures are
// stated than there are, and any other difference is a problem.
func (s *junitSuite) checkTotals(set *xmlSet) {
	if !s.hasTotals {
		return
	}
	all := s.own.Plus(s.inner)
	if !slices.Contains([]int{all.Tests, s.own.Tests, s.own.Plus(s.suites).Tests}, s.stated.Tests) {
		set.Problems.Add("suite %q says it has %d tests and holds %d", s.path, s.stated.Tests, all.Tests)
	}

	failed, ownFailed := all.Unsuccessful(), s.own.Unsuccessful()
	if slices.Contains([]int{failed, failed - s.notStarted, ownFailed, ownFailed + s.suites.Failed}, s.stated.Failed) {
		return
	}
	report := set.Problems.Add
	if s.stated.Failed > failed+s.extraFailures {
		report = set.AddContradiction
	}
	report("suite %q says that %d tests failed and holds %d", s.path, s.stated.Failed, failed)
}

// junitCase is an open testcase.
type junitCase struct {
	test            metric.Test     // name, class, file, line and time
	worst           metric.Status   // the worst outcome
	flaky           bool            // an attempt failed
	notRun          bool            // written by [WriteJUnit]: its suite did not run
	failureElements int             // all outcomes but skips, including those of failed attempts
	collectionSkips int             // how often pytest skipped it when it collected tests
	depth           int             // of its element
	saysPassed      bool            // a word says so
	unknown         string          // the status or element that may say how the case ended, "" if it is known
	isTodo          bool            // it is expected to fail and counts as skipped
	message         textstream.Clip // messages and texts of the worst outcome
}

// begin sets the case to that of a testcase element in the suite s.
func (c *junitCase) begin(t xmlstream.Token, s *junitSuite) {
	*c = junitCase{worst: metric.Passed, depth: t.Depth}
	c.test.File = s.file
	for _, a := range t.Attrs {
		switch a.Name {
		case "name":
			c.test.Name = textstream.CleanName(a.Value)
		case "classname", "class":
			c.test.Class = textstream.CleanName(a.Value)
		case "file", "filepath":
			c.test.File, c.test.Line = splitFileLine(textstream.CleanName(a.Value), c.test.Line)
		case "line", "lineno":
			c.test.Line = parseNumber(a.Value)
		case "time", "duration":
			c.test.Duration = parseTime(a.Value)
		case "status", "result":
			word := strings.ToLower(a.Value)
			c.worst = max(c.worst, junitStatuses[word])
			c.flaky = c.flaky || word == statusFlaky
			c.notRun = c.notRun || word == statusNotRun
			passed, neutral := junitNeutral[word]
			c.saysPassed = c.saysPassed || passed
			if junitStatuses[word] == 0 && !neutral && !c.flaky && !c.notRun {
				c.unknown = fmt.Sprintf("status %q", textstream.CleanName(a.Value))
			}
		}
	}
}

// noteUnknown notes an element that is no outcome, if it is in the case itself and may say how the
// case ended.
func (c *junitCase) noteUnknown(t xmlstream.Token) {
	if t.Depth == c.depth+1 && !junitDetails[t.Name] && !c.saysPassed && c.unknown == "" {
		c.unknown = "element <" + textstream.CleanName(t.Name) + ">"
	}
}

// extraFailures returns how many more failures than the case itself a suite may count.
func (c *junitCase) extraFailures(s metric.Status) int {
	if s == metric.Failed || s == metric.Errored {
		return max(0, c.failureElements-1)
	}
	return c.failureElements
}

// parseNumber parses a number without its fraction. Other texts give 0.
func parseNumber(s string) int {
	n, _ := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return parsed.ToCount(n)
}

// addOutcome adds the outcome of an element, of which the worst counts. The status 0 is for
// failed attempts. It returns where the text of the element goes, nil to skip it.
func (c *junitCase) addOutcome(s metric.Status, flaky bool, message string) *textstream.Clip {
	switch {
	case s != metric.Skipped:
		c.failureElements++
	case message == "collection skipped":
		c.collectionSkips++
	}

	if s >= metric.Skipped {
		c.unknown = ""
	}
	if s == 0 {
		return nil
	}
	if s > c.worst {
		c.message = textstream.Clip{} // a failure replaces the message of an earlier skip
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

// toTest returns the test of a complete case in the suite s.
func (c *junitCase) toTest(s *junitSuite, producer string) metric.Test {
	t := c.test
	t.Status = c.worst
	if !c.message.Empty() {
		t.Message = trimRepeatedLine(c.message.String())
	}
	switch {
	case c.notRun:
		t.Status = metric.NotRun
	case c.isTodo:
		t.Status = metric.Skipped
	case producer == ctest && t.Status == metric.Skipped && isNotStarted(t.Message):
		t.Status = metric.Errored
		s.notStarted++
	}
	t.Flaky = c.flaky && t.Status == metric.Passed
	s.setSuiteAndClass(&t, producer)
	return t
}

// splitFileLine splits "a_test.exs:12", as ExUnit writes it. The line is not part of the
// identity. If there is none, it returns the line that is passed in.
func splitFileLine(file string, line int) (string, int) {
	if n := len(file); n == 0 || file[n-1] < '0' || file[n-1] > '9' { // cheaper than the pattern
		return file, line
	}
	if m := fileLinePattern.FindStringSubmatch(file); m != nil {
		return m[1], parseNumber(m[2])
	}
	return file, line
}

// setSuiteAndClass sets the suite of a case, and its class if it has none. The suite is the
// file, or else what the dialect of the producer has in place of it.
func (s *junitSuite) setSuiteAndClass(t *metric.Test, producer string) {
	if producer == pytest {
		setPytestFile(t)
	}
	switch {
	case t.File != "":
		t.Suite = t.File
		if t.Class == "" && s.path != t.File {
			t.Class = s.path
		}
	case producer == pytest: // its only suite is called "pytest"
		t.Suite = trimClasses(cmp.Or(t.Class, t.Name))
	case producer == surefire && t.Class != "": // its suites contain cases of other classes
		t.Suite = t.Class
	default:
		t.Suite = s.path
	}
	if producer == pytest {
		trimPytestModule(t)
	}
	if producer == playwright { // the same test in several browsers
		t.Class = s.host
	}
}

// setPytestFile sets the file in which pytest collected a test, which follows from its class:
// "pkg/test_a.py" for "pkg.test_a.TestB". The attribute file is the file of the function, which
// may be in a base class or a decorator in another file.
func setPytestFile(t *metric.Test) {
	switch {
	case t.Class == "" && strings.HasPrefix(t.File, "../"):
		t.File = ""
	case t.Class != "" && t.File != "" && !strings.HasPrefix(t.Class+".", moduleOfFile(t.File)+"."):
		t.File, t.Line = strings.ReplaceAll(trimClasses(t.Class), ".", "/")+".py", 0
	}
}

// trimPytestModule removes the module from the start of the class.
func trimPytestModule(t *metric.Test) {
	if class, ok := strings.CutPrefix(t.Class, moduleOfFile(t.Suite)); ok && (class == "" || class[0] == '.') {
		t.Class = strings.TrimPrefix(class, ".")
	}
}

// moduleOfFile returns the Python module of a file: "pkg.a" for "pkg/a.py".
func moduleOfFile(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
}

// trimRepeatedLine removes the first line if the next one starts with it, and leading spaces
// after it. Many tools write the message both as an attribute and at the start of the text.
func trimRepeatedLine(s string) string {
	first, following, ok := strings.Cut(s, "\n")
	following = strings.TrimSpace(following)
	if ok && strings.HasPrefix(following, strings.TrimSpace(first)) {
		return following
	}
	return s
}

// thousandsPattern matches a number with separators of thousands: "1,234.5".
var thousandsPattern = regexp.MustCompile(`^\d{1,3}(,\d{3})+\.\d+$`)

// parseTime parses seconds: with a decimal point or comma, with separators of thousands,
// or with a trailing "s". Other texts give 0.
func parseTime(s string) time.Duration {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "s"))
	if strings.Contains(s, ",") && thousandsPattern.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil {
		return 0
	}
	return parsed.Seconds(f)
}
