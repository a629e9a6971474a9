package testxml

import (
	"cmp"
	"fmt"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// The producers of JUnit XML whose reports are read in their own way.
const (
	pytest     = "pytest"
	surefire   = "surefire"
	mocha      = "mocha"
	jestJUnit  = "jest-junit"
	nodeTest   = "node:test"
	playwright = "playwright"
	ctest      = "ctest"
	busted     = "busted"
	rspec      = "rspec"
	gotestsum  = "gotestsum"
	ginkgo     = "ginkgo"
	vitest     = "vitest"
	lab        = "lab"
)

// junitSeveral are the producers that list every test once, so that cases of one identity
// are several tests.
var junitSeveral = map[string]bool{mocha: true, jestJUnit: true, vitest: true, nodeTest: true, rspec: true, lab: true, "karma": true, "bun": true, "deno": true}

// junitProducers recognise the tool that wrote a report by an attribute of one
// of its elements; the first match counts.
var junitProducers = map[string][]struct{ attr, contains, name string }{
	"testsuites": {
		{"name", "pytest tests", pytest},
		{"name", "jest tests", jestJUnit},
		{"name", "vitest tests", vitest},
		{"name", "nextest-run", "nextest"},
		{"name", "Mocha Tests", mocha},
		{"name", "AllTests", "googletest"},
		{"name", "supervise", "supervise"},
		{"name", "bun test", "bun"},
		{"name", "deno test", "deno"},
	},
	"testsuite": {
		{"noNamespaceSchemaLocation", "surefire", surefire},
		{"name", "Mocha Tests", mocha},
		{"name", "pytest", pytest},
		{"name", "rspec", rspec},
		{"name", ".bats", "bats"},
		{"name", "Run 1 of ", busted},
		{"name", "Elixir.", "exunit"},
		{"hostname", "tbd", "catch2"},
		{"package", "org.eslint", "eslint"},
	},
	"property": {
		{"name", "go.version", gotestsum},
		{"name", "surefire.", surefire},
		{"name", "SuiteSucceeded", ginkgo},
		{"name", "random-seed", "catch2"},
		{"name", "browser.fullName", "karma"},
	},
}

// junitProducer returns the tool that an element identifies, "" for none.
func junitProducer(t xmlstream.Token) string {
	for _, p := range junitProducers[t.Name] {
		if v, ok := t.Attr(p.attr); ok && strings.Contains(v, p.contains) {
			return p.name
		}
	}
	switch t.Name {
	case "testcase":
		return caseProducer(t)
	case "testsuite":
		if labSuite(t.Attrs) {
			return lab
		}
	case "testsuites":
		if id, ok := t.Attr("id"); ok && id+t.Value("name") == "" {
			return playwright
		}
	}
	return ""
}

// labSuite knows lab by the attributes of its suites, which count no failures.
func labSuite(attrs []xmlstream.Attr) bool {
	names := [...]string{"name", "tests", "skipped", "errors", "time"}
	if len(attrs) != len(names) {
		return false
	}
	for i, a := range attrs {
		if a.Name != names[i] {
			return false
		}
	}
	return true
}

// caseProducer knows tools by what only their cases have.
func caseProducer(t xmlstream.Token) string {
	class, name := t.Value("classname"), t.Value("name")
	_, counts := t.Attr("assertions")
	_, line := t.Attr("lineno")
	_, took := t.Attr("duration")
	status := t.Value("status")
	switch {
	case class == "test":
		return nodeTest
	case counts && t.Value("class") != "":
		return "phpunit"
	case counts && line:
		return "minitest"
	case status == "run" && took:
		return "bazel"
	case status != "" && class == name:
		return ctest
	}
	return ""
}

// junitNoTests are the failing cases that are not tests: they say that a file
// could not be loaded or a fixture not be set up, so that some tests did not
// run, or that something failed outside of all tests. The suite that broke is
// that of the case, unless suite says another.
var junitNoTests = []struct {
	producer string // "" any
	is       func(metric.Test) bool
	suite    func(metric.Test) string
}{
	{pytest, func(t metric.Test) bool { return strings.HasPrefix(t.Message, "collection failure") }, nil},
	{vitest, func(t metric.Test) bool { return t.Name == t.Class && t.Name == t.Suite }, nil},
	{jestJUnit, func(t metric.Test) bool {
		return t.Class == "Test suite failed to run" || strings.HasPrefix(strings.TrimSpace(t.Name), "Test execution failure: could be caused by test hooks")
	}, nil},
	{mocha, func(t metric.Test) bool { return junitHook.MatchString(t.Name) }, nil},
	{nodeTest, func(t metric.Test) bool {
		return t.Class == nodeClass && (scriptFile.MatchString(t.Name) || t.Name != "" && strings.HasSuffix(t.File, t.Name))
	}, func(t metric.Test) string { return cmp.Or(t.File, t.Name) }},
	{surefire, func(t metric.Test) bool { return t.Name == "" || t.Name == t.Class }, nil},
	{"bats", func(t metric.Test) bool { return t.Name == "" }, nil},
	{"googletest", func(t metric.Test) bool { return t.Name == "" }, nil},
	{ginkgo, func(t metric.Test) bool { return ginkgoNode.MatchString(t.Name) }, nil},
	{gotestsum, func(t metric.Test) bool { return t.Name == "TestMain" && t.Class == "" }, nil},
	{"", func(t metric.Test) bool { return t.Name == "[build failed]" || t.Name == "[setup failed]" }, nil},
	{"", func(t metric.Test) bool { return t.Name == "Failure" && strings.HasPrefix(t.Message, "Runtime error") }, nil},
	{"", func(t metric.Test) bool { return t.Name == "initializationError" || t.Name == "classMethod" }, nil}, // JUnit 4 and 5
	{"", func(t metric.Test) bool { return strings.HasPrefix(t.Class, "unittest.loader.") }, pythonModule},
	{"", func(t metric.Test) bool { return strings.HasPrefix(t.Class, "unittest.suite._ErrorHolder") }, pythonModule},
}

var (
	junitHook  = regexp.MustCompile(`"(before|after) (all|each)" hook`)
	scriptFile = regexp.MustCompile(`[/\\].*\.[cm]?[jt]sx?$`)
	ginkgoNode = regexp.MustCompile(`^\[(Synchronized|Report)?(Before|After)Suite\]`)
	bracketed  = regexp.MustCompile(`\(([^()]+)\)$`)
)

// nodeClass is what node:test says of every test.
const nodeClass = "test"

var nodeTotal = regexp.MustCompile(`^ (tests|suites|fail) (\d+) $`)

// comment takes one of the totals that node:test writes into comments.
func (j *junitReader) comment(text string) {
	m := nodeTotal.FindStringSubmatch(text)
	switch {
	case m == nil:
	case m[1] == "suites":
		j.producer = nodeTest
	default:
		if j.node == nil {
			j.node = map[string]int{}
		}
		j.node[m[1]] += parsed.CountOf(m[2]).Int()
	}
}

// compare compares the totals of node:test with the cases. It writes a test with others in
// it as their suite, without its own outcome: that of one that fails by itself is
// lost.
func (j *junitReader) compare() {
	if j.producer != nodeTest {
		return
	}
	if more := j.node["tests"] - j.totals.Tests; more > 0 {
		j.problems.Add("node counts tests with others in them too, %d here; in this report only the innermost count", more)
	}
	held := j.totals.Failed + j.totals.Errors
	if failed := j.node["fail"]; failed > held+j.failing {
		j.denied = cmp.Or(j.denied, fmt.Sprintf("node says that %d tests failed, and the report holds %d, in %d suites: a test with others in it failed by itself", failed, held, j.failing))
		j.problems.Add("%s", j.denied)
	}
}

// pythonModule returns the file, or where no files are named the module, that
// an error of unittest is about: "test_a", "setUpClass (pkg.test_a.Class)".
func pythonModule(t metric.Test) string {
	name := t.Name
	if m := bracketed.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	module := pytestModule(name)
	if t.File != "" {
		return strings.ReplaceAll(module, ".", "/") + ".py"
	}
	return module
}

// pytestModule cuts the classes off a classname like "tests.test_a.TestB":
// modules are written in lower case.
func pytestModule(classname string) string {
	for i := 0; ; {
		dot := strings.IndexByte(classname[i:], '.')
		if dot < 0 || i+dot+1 >= len(classname) {
			return classname
		}
		i += dot + 1
		if c := classname[i]; c >= 'A' && c <= 'Z' {
			return classname[:i-1]
		}
	}
}

var dated = regexp.MustCompile(`-\d{14}$`)

// suiteName returns the name of a suite without what differs from run to run:
// the time that unittest-xml-reporting appends, the folder of a .NET
// assembly.
func suiteName(s string) string {
	s = textstream.CleanName(s)
	if n := len(s); n > 15 && s[n-15] == '-' {
		s = dated.ReplaceAllString(s, "")
	}
	if isAssembly(s) {
		return assembly(s)
	}
	return s
}

// notStarted reports whether CTest could not run a test that was to run. CTest itself counts these as failed.
func notStarted(why string) bool {
	return why != "" && !strings.HasPrefix(why, "SKIP_") && why != "Disabled"
}

var placed = regexp.MustCompile(`^(.+):(\d+)$`)

// identify takes out of the identity of t what says nothing, or says it twice.
func identify(t *metric.Test, producer string) {
	if shorten := junitNames[producer]; shorten != nil {
		shorten(t)
	}
	if t.Class == t.Suite || t.Class == t.Name {
		t.Class = ""
	}
}

// junitNames are the producers with their own way to name a test.
var junitNames = map[string]func(*metric.Test){
	nodeTest: func(t *metric.Test) {
		if t.Class == nodeClass {
			t.Class = ""
		}
		t.Name = nodeEscapes.Replace(t.Name)
	},
	mocha:     withoutTitle,
	jestJUnit: withoutTitle,
	rspec: func(t *metric.Test) {
		if t.File != "" { // its class is the file again
			t.Class = ""
		}
	},
	busted: func(t *metric.Test) { // "spec/a_spec.lua:12"
		if m := placed.FindStringSubmatch(t.Class); m != nil {
			t.Suite, t.File, t.Line, t.Class = m[1], m[1], junitLine(m[2]), ""
		}
	},
	ginkgo: func(t *metric.Test) {
		if t.Status == metric.Skipped && strings.Contains(t.Message, "Spec skipped because") {
			t.Status = metric.NotRun // what it needs failed
		}
	},
}

// withoutTitle drops a class that is the title, or a part of it.
func withoutTitle(t *metric.Test) {
	t.Name = strings.TrimSpace(t.Name)
	if strings.HasSuffix(t.Name, strings.TrimSpace(t.Class)) || t.Class == "Mocha Tests" {
		t.Class = ""
	}
}

// nodeEscapes undoes what node:test escapes twice in an attribute.
var nodeEscapes = strings.NewReplacer("&quot;", `"`, "&#10;", " ")

// splitGroups takes those cases out that are not tests but groups around some,
// and returns them as broken suites: vitest lists a describe whose hook failed
// like a test of its name.
func splitGroups(cases []metric.Test) (tests []metric.Test, broken []metric.Suite) {
	failed := map[metric.ID]bool{}
	for _, c := range cases {
		if c.Failed() {
			failed[c.ID] = false
		}
	}
	for _, c := range cases {
		group := c.ID
		for i := strings.LastIndex(group.Name, within); i > 0; i = strings.LastIndex(group.Name, within) {
			group.Name = group.Name[:i]
			if _, is := failed[group]; is {
				failed[group] = true
			}
		}
	}
	for _, c := range cases {
		if c.Failed() && failed[c.ID] {
			broken = append(broken, metric.Suite{Name: c.Suite, Why: c.Name + ": " + c.Message})
			continue
		}
		tests = append(tests, c)
	}
	return tests, broken
}

// markReruns marks the cases that are second attempts.
func markReruns(cases []metric.Test, producer string) {
	switch producer {
	case gotestsum:
		markRepeated(cases)
	case surefire:
		markRetried(cases)
	}
}

// markRepeated knows how gotestsum lists every attempt, those that failed
// first: a test that is listed twice was run again because it failed, unless
// all tests of its package are listed twice, as with -count.
func markRepeated(cases []metric.Test) {
	count := make(map[metric.ID]int, len(cases))
	for _, c := range cases {
		count[c.ID]++
	}
	once := map[string]bool{} // the suites with tests that have one case
	for id, n := range count {
		once[id.Suite] = once[id.Suite] || n == 1
	}
	seen := map[metric.ID]bool{}
	for i, c := range cases {
		if count[c.ID] > 1 && once[c.Suite] {
			cases[i].Rerun = seen[c.ID]
			seen[c.ID] = true
		}
	}
}

// markRetried knows that TestNG calls an attempt skipped that is to be
// repeated, and lists the next one after it.
func markRetried(cases []metric.Test) {
	for i := 1; i < len(cases); i++ {
		was, c := &cases[i-1], &cases[i]
		if was.Status == metric.Skipped && c.Status == metric.Passed && was.ID == c.ID {
			was.Status, c.Rerun = metric.Failed, true
		}
	}
}
