package testxml

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// The producers of JUnit XML with dialects that need special handling.
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

// listsTestsOnce are the producers that list every test once. With these, cases of one
// identity are different tests, not attempts at one.
var listsTestsOnce = map[string]bool{mocha: true, jestJUnit: true, vitest: true, nodeTest: true, rspec: true, lab: true, "karma": true, "bun": true, "deno": true}

// junitProducers identifies the tool that wrote a report by an element and its attributes. The
// keys are names of elements. A row matches if the element has the attribute attr whose value
// contains the text, and name is the tool. The first match counts.
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

// detectProducer returns the tool that an element identifies, or "".
func detectProducer(t xmlstream.Token) string {
	for _, p := range junitProducers[t.Name] {
		if v, ok := t.Attr(p.attr); ok && strings.Contains(v, p.contains) {
			return p.name
		}
	}
	switch t.Name {
	case "testcase":
		return detectCaseProducer(t)
	case "testsuite":
		if isLabSuite(t.Attrs) {
			return lab
		}
	case "testsuites":
		if id, ok := t.Attr("id"); ok && id+t.Value("name") == "" {
			return playwright
		}
	}
	return ""
}

// labAttrs are the attributes of a suite in the reports of lab. No other tool has only
// these, without a number of failures.
var labAttrs = []string{"name", "tests", "skipped", "errors", "time"}

// isLabSuite reports whether a suite has exactly the attributes of lab.
func isLabSuite(attrs []xmlstream.Attr) bool {
	return slices.EqualFunc(attrs, labAttrs, func(a xmlstream.Attr, name string) bool { return a.Name == name })
}

// detectCaseProducer returns the tool that the attributes of a testcase identify, "" if they
// could be of any tool.
func detectCaseProducer(t xmlstream.Token) string {
	class, name := t.Value("classname"), t.Value("name")
	_, hasAssertions := t.Attr("assertions")
	_, hasLine := t.Attr("lineno")
	_, hasDuration := t.Attr("duration")
	status := t.Value("status")
	switch {
	case class == "test":
		return nodeTest
	case hasAssertions && t.Value("class") != "":
		return "phpunit"
	case hasAssertions && hasLine:
		return "minitest"
	case status == "run" && hasDuration:
		return "bazel"
	case status != "" && class == name:
		return ctest
	}
	return ""
}

// bracketedPattern matches the brackets at the end of a name: "setUpClass (pkg.test_a.Class)".
var bracketedPattern = regexp.MustCompile(`\(([^()]+)\)$`)

// nodeClass is the class of every test in reports of node:test.
const nodeClass = "test"

// nodeTotalPattern matches the text of a comment of node:test that has a total: " tests 12 ".
var nodeTotalPattern = regexp.MustCompile(`^ (tests|suites|fail) (\d+) $`)

// readComment reads one of the totals that node:test writes as comments in the root element.
func (j *junitReader) readComment(t xmlstream.Token) {
	m := nodeTotalPattern.FindStringSubmatch(t.Text)
	isOther := j.producer != "" && j.producer != nodeTest
	switch {
	case m == nil || isOther || t.Depth != 1:
	case m[1] == "suites":
		j.producer = nodeTest
	default:
		j.nodeTotals[m[1]] += parsed.ParseNumber(m[2]).Int()
	}
}

// compareNodeTotals compares the totals of node:test with the cases. A test with subtests
// is written as a suite without an outcome, so the report does not show if only that test
// itself fails.
func (j *junitReader) compareNodeTotals() {
	if j.producer != nodeTest {
		return
	}
	if more := j.nodeTotals["tests"] - j.Totals.Tests; more > 0 {
		j.Problems.Add("node counts tests with others in them too, %d here; in this report only the innermost count", more)
	}
	listed := j.Totals.Unsuccessful()
	if failed := j.nodeTotals["fail"]; failed > listed+j.failedSuites {
		j.AddContradiction("node says that %d tests failed, and the report holds %d, in %d suites: a test with others in it failed by itself", failed, listed, j.failedSuites)
	}
}

// failedPythonModule returns the file of an error that unittest reports as a case:
// "pkg/test_a.py" for "setUpClass (pkg.test_a.Class)". If the report names no files, it returns
// the module, "pkg.test_a".
func failedPythonModule(t metric.Test) string {
	name := t.Name
	if m := bracketedPattern.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	module := trimClasses(name)
	if t.File != "" {
		return strings.ReplaceAll(module, ".", "/") + ".py"
	}
	return module
}

// trimClasses returns the module of a class name: "tests.test_a" for "tests.test_a.TestB".
// Names of modules are in lower case.
func trimClasses(classname string) string {
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

// timestampPattern matches the time that unittest-xml-reporting appends: "-20240102030405".
var timestampPattern = regexp.MustCompile(`-\d{14}$`)

// cleanSuiteName returns the name of a suite without what differs between runs: a time at
// its end, or the folder of a .NET assembly.
func cleanSuiteName(s string) string {
	s = textstream.CleanName(s)
	if n := len(s); n > 15 && s[n-15] == '-' {
		s = timestampPattern.ReplaceAllString(s, "")
	}
	if isAssembly(s) {
		return assemblyName(s)
	}
	return s
}

// isNotStarted reports whether CTest could not start a skipped test. It decides by the reason
// for the skip. CTest itself counts such tests as failed.
func isNotStarted(reason string) bool {
	return reason != "" && !strings.HasPrefix(reason, "SKIP_") && reason != "Disabled"
}

// fileLinePattern matches a file with a line: "a_test.exs:12".
var fileLinePattern = regexp.MustCompile(`^(.+):(\d+)$`)

// cleanIdentity removes redundant parts of the identity of t.
func cleanIdentity(t *metric.Test, producer string) {
	if shorten := identityFixes[producer]; shorten != nil {
		shorten(t)
	}
	if t.Class == t.Suite || t.Class == t.Name {
		t.Class = ""
	}
}

// identityFixes has a function for each producer whose reports need a correction of identities
// or statuses. It changes the test.
var identityFixes = map[string]func(*metric.Test){
	nodeTest: func(t *metric.Test) {
		if t.Class == nodeClass {
			t.Class = ""
		}
		t.Name = nodeUnescaper.Replace(t.Name)
	},
	mocha:     dropTitleClass,
	jestJUnit: dropTitleClass,
	rspec: func(t *metric.Test) {
		if t.File != "" { // its class is the file again
			t.Class = ""
		}
	},
	busted: func(t *metric.Test) { // "spec/a_spec.lua:12"
		if m := fileLinePattern.FindStringSubmatch(t.Class); m != nil {
			t.Suite, t.File, t.Line, t.Class = m[1], m[1], parseNumber(m[2]), ""
		}
	},
	ginkgo: func(t *metric.Test) {
		if t.Status == metric.Skipped && strings.Contains(t.Message, "Spec skipped because") {
			t.Status = metric.NotRun // a spec or node that it needs failed
		}
	},
}

// dropTitleClass removes a class that is the title or its end.
func dropTitleClass(t *metric.Test) {
	t.Name = strings.TrimSpace(t.Name)
	if strings.HasSuffix(t.Name, strings.TrimSpace(t.Class)) || t.Class == "Mocha Tests" {
		t.Class = ""
	}
}

// nodeUnescaper reverts the second escaping of attributes by node:test.
var nodeUnescaper = strings.NewReplacer("&quot;", `"`, "&#10;", " ")

// splitGroups returns the cases that are tests, and those that are groups of tests as broken
// suites. vitest lists a describe block with a failed hook as a failed test whose name is the
// start of the names of its tests.
func splitGroups(cases []metric.Test) (tests []metric.Test, broken []metric.Suite) {
	isGroup := map[metric.ID]bool{} // of the failed cases
	for _, c := range cases {
		if c.Failed() {
			isGroup[c.ID] = false
		}
	}

	for _, c := range cases {
		group := c.ID
		for i := strings.LastIndex(group.Name, suiteSeparator); i > 0; i = strings.LastIndex(group.Name, suiteSeparator) {
			group.Name = group.Name[:i]
			if _, failed := isGroup[group]; failed {
				isGroup[group] = true
			}
		}
	}
	for _, c := range cases {
		if c.Failed() && isGroup[c.ID] {
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

// markRepeated marks the reruns in a report of gotestsum, which lists every attempt. A
// test with several cases was rerun because it failed, unless all tests of its package
// have several, as with -count.
func markRepeated(cases []metric.Test) {
	counts := make(map[metric.ID]int, len(cases))
	for _, c := range cases {
		counts[c.ID]++
	}

	hasSingle := map[string]bool{} // suites with a test that has one case
	for id, n := range counts {
		hasSingle[id.Suite] = hasSingle[id.Suite] || n == 1
	}

	seen := map[metric.ID]bool{}
	for i, c := range cases {
		if counts[c.ID] > 1 && hasSingle[c.Suite] {
			cases[i].Rerun = seen[c.ID]
			seen[c.ID] = true
		}
	}
}

// markRetried marks the reruns in a report of TestNG. It calls an attempt skipped if the
// test is retried, and lists the next attempt after it.
func markRetried(cases []metric.Test) {
	for i := 1; i < len(cases); i++ {
		previous, c := &cases[i-1], &cases[i]
		if previous.Status == metric.Skipped && c.Status == metric.Passed && previous.ID == c.ID {
			previous.Status, c.Rerun = metric.Failed, true
		}
	}
}
