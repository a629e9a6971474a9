package testxml

import (
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
)

// dialects are the producers of JUnit XML with what is special about their
// reports.
var dialects = []struct{ producer, note string }{
	{pytest, "Suite: the file, or the module in the xunit2 family, which names no file. A collection failure is a broken suite; an internal error stopped the run. Attempts of pytest-rerunfailures are not in the report."},
	{surefire + ", failsafe", "Suite: the class. A failing case without a name, or named like its class, is a class that could not be set up: broken. A skipped attempt of TestNG followed by a pass is flaky."},
	{"Gradle", "Failing `initializationError` and `classMethod` are broken classes. The retry plugin writes every attempt as a case and the worst counts: set `mergeReruns`."},
	{gotestsum + ", go-junit-report", "Identities are those of `go test -json`. A failing `TestMain` and `[build failed]` are broken packages. A later pass of gotestsum is flaky, unless every test of the package was run as often (`-count`)."},
	{jestJUnit, "A file that could not run and a failing hook break the suite. `test.todo` reads as passed, with a problem. Attempts, and by default files that could not be loaded, are not in the report: prefer the JSON of jest."},
	{vitest, "A file that could not be loaded, a group whose hook failed, and unhandled errors are broken."},
	{mocha + " (xunit, mocha-junit-reporter), Cypress", "A failing hook breaks its suite. mocha-junit-reporter omits pending tests."},
	{nodeTest, "A file that could not be loaded is broken; a todo is skipped even if it fails. Before node 22 no file is named."},
	{playwright, "The project (`hostname`) is the class. Timeouts are errors. A test after a failed beforeAll reads as skipped."},
	{ctest, "`notrun` is an error, as in CTest, except for SKIP_* and Disabled."},
	{"googletest", "DISABLED and suppressed tests are skipped. A failing SetUpTestSuite is not in the report."},
	{ginkgo, "Failing suite nodes break the suite; specs that were skipped because of another one did not run."},
	{"unittest-xml-reporting", "The time in suite names is ignored. Modules that could not be imported and failing class fixtures are broken."},
	{busted + ", bats", "The line is not part of the identity; a file whose set-up failed is broken."},
	{lab, "A failed `before` or `after` is in no case: the totals contradict them."},
	{"nextest", "Ignored tests are not in the report."},
	{"meson", "A test that timed out, passed unexpectedly or broke its TAP plan reads as passed: check the exit status."},
	{"rspec_junit_formatter", "Errors outside examples are not in the report: prefer the JSON."},
	{"phpunit", "Risky tests are errors, as it writes them, and `warning` of version 9 failed. A test of a broken data provider is its rows later."},
}

// plainProducers write nothing that is read in its own way.
var plainProducers = []string{"behave", "bazel", "bun", "catch2", "cucumber-js", "deno", "eslint", "exunit", "karma", "minitest", "robot", "swift"}

func TestDocsListTheDialectsOfJUnit(t *testing.T) {
	var b strings.Builder
	b.WriteString("| producer | what is special |\n|---|---|\n")
	for _, d := range dialects {
		b.WriteString("| " + d.producer + " | " + d.note + " |\n")
	}
	b.WriteString("| " + strings.Join(plainProducers, ", ") + " | Nothing: read as written. |\n")
	docs.Block(t, "formats.md", "dialects of JUnit", "./parsers/internal/testxml", b.String())
	for element, producers := range junitProducers {
		for _, p := range producers {
			documented := func(text string) bool { return slices.Contains(strings.FieldsFunc(text, isSeparator), p.name) }
			if p.name != "supervise" && !documented(b.String()) {
				t.Errorf("the JUnit XML of %s, recognised by %s@%s, has no row in dialects", p.name, element, p.attr)
			}
		}
	}
}

func isSeparator(r rune) bool { return strings.ContainsRune(" ,|_\n", r) }
