package harness

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// setUpFileRE matches the paths of files that run before tests, or around them, such as conftest.py
// and test/support/db.rb.
var setUpFileRE = regexp.MustCompile(`(?i)(^|/)(conftest\.py|sitecustomize\.py|[\w.-]*(setup|teardown|bootstrap|global|reporter|environment|runner|hooks?|plugin|support|helper|register|preload)[\w.-]*\.(m|c)?[jt]sx?|\w*helpers?\.(rb|exs)|(\w*bootstrap|autoload|TestCase)\.php|[\w-]*(plugin|hooks?|runner|fixtures?)\w*\.py|support/[\w-]+\.rb|\w*(Extension|Listener|Runner|Handler|Watcher|Interceptor)\w*\.(java|kt)|` + framework.SetUpFile + `)$|(^|/)(` + framework.SupportFolder + `)/`)

// certainSetUpFileRE matches those with a name that product code does not have, such as
// jest.setup.js and spec_helper.rb.
var certainSetUpFileRE = regexp.MustCompile(`(?i)(^|/)(conftest\.py|[\w.-]*(setup|teardown|reporter|environment)[\w.-]*\.(m|c)?[jt]sx?|(test|spec|rails|minitest)[_-]?helpers?\.(rb|exs)|` + framework.SetUpFile + `|\w*(Extension|Listener)\.(java|kt)|\w*plugin\w*\.py)$`)

// forcePattern is code that turns a failure into a pass, or ends the run successfully. It is
// matched without comments. Expressions that need quoted words see the strings as well.
type forcePattern struct {
	langs []source.Language
	code  *regexp.Regexp // matches a line
	path  *regexp.Regexp // matches the paths of files to which the row applies; nil means setUpFileRE
	// needsHooks limits the row, in tests and in files that setUpFileRE does not match, to files
	// that define hooks of pytest.
	needsHooks bool
	severity   metric.Severity // 0 for that of the rule
}

// forcePatterns are the rows that findForcedOutcomes looks for. The comment above a row has a line
// that it matches.
var forcePatterns = []forcePattern{
	// report.outcome = "passed"
	{python, regexp.MustCompile(`\.(outcome\s*(,[^=]*)?=[^=]*["']passed["']|failed\s*=\s*False|passed\s*=\s*True|longrepr\s*=\s*None|excinfo\s*=\s*None|exitstatus\s*=\s*(0\b|(pytest\.)?ExitCode\.OK)|testsfailed\s*=\s*0|wasxfail\s*=|shouldfail\s*=\s*False)`), regexp.MustCompile(`\.py$`), true, 0},
	// setattr(report, "outcome", "passed")
	{python, regexp.MustCompile(`\.force_result\(|setattr\(\s*\w+\s*,\s*["'](outcome|excinfo|longrepr|exitstatus|testsfailed)["']|\.force_exception\(\s*None|_result\s*=\s*\[?\]?.*passed`), nil, true, 0},
	// os._exit(0)
	{python, regexp.MustCompile(`\bos\._exit\(\s*0?\s*\)|\bsys\.exit\(\s*0?\s*\)|\bpytest\.exit\([^)]*returncode\s*=\s*0`), nil, false, 0},
	// items.clear()
	{python, regexp.MustCompile(`(^|\s)items\.clear\(\)|(^|\s)items\[:\]\s*=\s*\[\s*\]|(^|\s)del\s+items\[`), nil, false, 0},
	// TestCase.assertEqual = noop
	{python, regexp.MustCompile(`(?i)\b(TestReport|Session|Function|Item|TestCase|TestResult|TextTestResult|Assertion\w*|unittest\.\w+|pytest\.\w+|builtins)\.(from_item_and_call|runtest|addFailure|addError|wasSuccessful|assert\w+|fail|raises|failed|outcome|AssertionError)\s*=[^=]`), nil, false, 0},
	// process.exit(0)
	{script, regexp.MustCompile(`\bprocess\.(exit|reallyExit)\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0|process\.on\(\s*["'\x60](exit|beforeExit)["'\x60].*(exitCode\s*=|exit\()|\bprocess\.(exit|reallyExit)\s*=[^=]`), nil, false, 0},
	// globalThis.expect = noop
	{script, regexp.MustCompile(`\b(globalThis|global|window)\.(it|test|describe|expect|assert|xit|before|beforeEach)\s*=[^=]|^\s*(it|test|describe|expect)\s*=[^=>]|\b(Runner|Test|Runnable|Suite|Hook)\.prototype\.\w+\s*=|\.(state|outcome|status)\s*=\s*["'\x60]pass(ed)?["'\x60]|failures\s*=\s*0\b|numFailedTests?\w*\s*=\s*0|assert\.\w+\s*=\s*(function|\(|\w+\s*=>|noop)`), nil, false, 0},
	// { pass: true }
	{script, regexp.MustCompile(`pass:\s*true\s*[,}]|addEqualityTesters\(`), nil, false, 0},
	// exit!(0)
	{ruby, regexp.MustCompile(`\bexit!?[ (]*(0|true)\b|\bexit!\s*$|at_exit\s*(\{|do).*exit|@exception,\s*nil|\.(exception|failures)\s*=\s*(nil|\[\])|failures\.clear|def\s+(assert\w*|passed\?|failure\b).*(true|nil)?\s*;?\s*end|execution_result\.status\s*=\s*:passed|failure_exit_code\s*=\s*0`), nil, false, 0},
	// exit(0);
	{php, regexp.MustCompile(`register_shutdown_function\(.*exit|^\s*(exit|die)\s*\(\s*0?\s*\)`), nil, false, 0},
	// System.halt(0)
	{elixir, regexp.MustCompile(`System\.(halt|stop)\(\s*0?\s*\)|exit_status:\s*0`), nil, false, 0},
	// #![test_runner(crate::run)]
	{rust, regexp.MustCompile(`#!\[test_runner\(|#!\[feature\(custom_test_frameworks\)|panic::set_hook\(.*exit\(0\)`), regexp.MustCompile(`\.rs$`), false, 0},
	// System.exit(0)
	{jvm, regexp.MustCompile(`System\.exit\(\s*0\s*\)|Runtime\.\w+\(\)\.halt\(\s*0\s*\)|exitProcess\(\s*0\s*\)`), regexp.MustCompile(`(?i)test.*\.(java|kt)$`), false, 0},
	// item.runtest = noop
	{python, regexp.MustCompile(`\b\w*(?:item|function|pyfuncitem)\w*\.(?:runtest|obj|_obj|function)\s*=[^=]|\bsetattr\(\s*\w*(?:item|function)\w*\s*,\s*["'](?:runtest|obj|_obj|function)["']|\bitems\[\w+\]\s*=[^=]`), regexp.MustCompile(`\.py$`), true, metric.High},
}

var (
	python = []source.Language{source.Python}
	script = []source.Language{source.JavaScript, source.TypeScript}
	ruby   = []source.Language{source.Ruby}
	php    = []source.Language{source.PHP}
	elixir = []source.Language{source.Elixir}
	rust   = []source.Language{source.Rust}
	jvm    = []source.Language{source.Java, source.Kotlin}
)

// findForcedOutcomes finds added lines that force the outcome of tests, in a file that may run
// before or around them.
func findForcedOutcomes(f *facts.ChangedFile, report facts.Report) {
	if !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) || source.IsVendored(f.Path) {
		return
	}
	lang := f.After().Language()
	for i := range forcePatterns {
		if slices.Contains(forcePatterns[i].langs, lang) && forcePatterns[i].appliesTo(f) {
			forcePatterns[i].find(f, report)
		}
	}
	findOverridingHooks(f, report)
}

// appliesTo reports whether the row applies to a file. Product code that only has the name of a
// set-up file is left out.
func (r *forcePattern) appliesTo(f *facts.ChangedFile) bool {
	if _, found := facts.FirstMatchingLine(f.AddedLines(), r.code); !found {
		return false // most files, without a closer look
	}
	switch {
	case r.path == nil && !setUpFileRE.MatchString(f.Path), r.path != nil && !r.path.MatchString(f.Path):
		return false
	case r.needsHooks && (!setUpFileRE.MatchString(f.Path) || isOrdinaryTest(f)) && !definesPytestHooks(f):
		return false
	}
	return r.path != nil && !r.needsHooks || certainSetUpFileRE.MatchString(f.Path) || !f.After().IsProduct()
}

// isOrdinaryTest reports whether a file is a test, whatever else its name says, such as
// test_hooks.py.
func isOrdinaryTest(f *facts.ChangedFile) bool {
	return f.After().IsTestFile() && !certainSetUpFileRE.MatchString(f.Path)
}

// find reports the added lines of a file that the row matches, except in a main program.
func (r *forcePattern) find(f *facts.ChangedFile, report facts.Report) {
	for _, l := range addedCodeLines(f) {
		if r.code.MatchString(l.Text) && !isInMainProgram(f, l.Number) && !importsAssertionLibrary(f, l.Text) {
			report(f.NewFinding(l.Number, l.Text).WithSeverity(r.severity))
		}
	}
}

// assertionFunctionRE matches a line that defines the assertion function for all tests, as an
// imported module or by a name: globalThis.expect = require("chai").expect and global.expect =
// expect.
var assertionFunctionRE = regexp.MustCompile(`\.(?:expect|assert)\s*=\s*(?:(?:await\s+)?(?:require|import)\(\s*["']([^"']+)["']\s*\)|(\w+))[\w.]*\s*;?\s*$`)

// importsAssertionLibrary reports whether a line takes the assertion function from a package rather
// than from the project.
func importsAssertionLibrary(f *facts.ChangedFile, text string) bool {
	m := assertionFunctionRE.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	if m[1] != "" {
		return !strings.HasPrefix(m[1], ".")
	}
	taken := regexp.MustCompile(`\b(?:import\s+(?:\*\s+as\s+)?` + m[2] + `\s+from\s+|(?:const|let|var)\s+` + m[2] + `\s*=\s*require\(\s*)["'][^."']`)
	return taken.Match(f.After().Text)
}

// addedCodeLines returns the added lines of a file without their comments. Lines that are only
// comment, or within a string of several lines, are left out.
func addedCodeLines(f *facts.ChangedFile) []facts.Line {
	if f.After().Language() == source.PHP {
		return f.AddedLines() // a file without <?php is not code to the scanner
	}
	return facts.Filter(f.AddedLinesOfCode(), func(l facts.Line) bool { return strings.TrimSpace(f.After().MaskedAt(l.Number)) != "" })
}

// definesPytestHooks reports whether a Python file defines hooks of pytest.
func definesPytestHooks(f *facts.ChangedFile) bool {
	return bytes.Contains(f.After().Text, []byte("def pytest_")) && pytestHookRE.Match(f.After().WithoutStrings())
}

// pytestHookRE matches the head of a hook of pytest, as in "def pytest_sessionfinish(". The others
// find out whether a line belongs to a main program: mainGuardRE matches a condition such as
// __name__ == "__main__", mainFunctionRE the head of the main function, and definitionRE the head
// of any function or class at the top level.
var (
	pytestHookRE   = regexp.MustCompile(`(?m)^\s*def\s+pytest_\w+\(`)
	mainGuardRE    = regexp.MustCompile(`__name__\s*==|require\.main\s*===|import\.meta\.main|\$0\s*==|__FILE__\s*==`)
	mainFunctionRE = regexp.MustCompile(`def main\(|function main\(`)
	definitionRE   = regexp.MustCompile(`^(async\s+)?(def|class|function|func)\s`)
)

// isInMainProgram reports whether a line is in the part of a program that runs only when the file
// is started itself. It looks at the line and at most 39 lines above it.
func isInMainProgram(f *facts.ChangedFile, n int) bool {
	for i := n; i > max(0, n-40); i-- {
		l := f.After().LineAt(i)
		if mainGuardRE.MatchString(l) {
			return true
		}
		if i < n && definitionRE.MatchString(l) {
			return mainFunctionRE.MatchString(l)
		}
	}
	return false
}

// decidingHookRE matches the head of a hook of pytest that decides what counts, runs or is shown,
// such as "def pytest_runtest_makereport(". constantReturnRE matches "return True", and skipMarkerRE
// a marker that skips, as in item.add_marker(pytest.mark.skip).
var (
	decidingHookRE   = regexp.MustCompile(`^\s*(?:async\s+)?def\s+(pytest_(?:runtest_makereport|runtest_protocol|runtest_call|pyfunc_call|collection_modifyitems|report_teststatus|sessionfinish|ignore_collect|collect_file|itemcollected|unconfigure|runtest_logreport|collection_finish|runtestloop|exception_interact|deselected|cmdline_main|load_initial_conftests|make_collect_report|assertrepr_compare))\(`)
	constantReturnRE = regexp.MustCompile(`^\s*return\s+(True|0|\[\])\s*$`)
	skipMarkerRE     = regexp.MustCompile(`add_marker\(\s*(pytest\.mark\.)?\(?["']?(skip|xfail)\b`)
)

// findOverridingHooks finds new lines in hooks of pytest that answer in place of the runner, or
// drop tests or failures.
func findOverridingHooks(f *facts.ChangedFile, report facts.Report) {
	if f.After().Language() != source.Python || !definesPytestHooks(f) {
		return
	}
	added := facts.SetOf(f.AddedLines(), func(l facts.Line) int { return l.Number })
	var h hookBody
	for _, l := range facts.SplitLines(f.After().WithoutComments()) {
		if !h.advance(l.Text) || !added[l.Number] {
			continue
		}
		if s := h.severityOf(strings.TrimSpace(l.Text)); s != 0 {
			report(f.NewFinding(l.Number, h.name+": "+strings.TrimSpace(l.Text)).WithSeverity(s))
		}
	}
}

// hookBody is the hook of pytest that contains the line that was read last.
type hookBody struct {
	name        string // the name of the hook, "" outside of hooks
	indent      int    // the indentation of its head
	conditional bool   // a line with a condition was passed
}

// advance reads the next line. It is false if the line is blank, the head of a hook, or outside of
// hooks.
func (h *hookBody) advance(l string) bool {
	text := strings.TrimSpace(l)
	depth := len(l) - len(strings.TrimLeft(l, " \t"))
	switch m := decidingHookRE.FindStringSubmatch(l); {
	case text == "":
		return false
	case m != nil:
		*h = hookBody{m[1], depth, false}
		return false
	case depth <= h.indent:
		h.name = ""
	}
	h.conditional = h.conditional || strings.HasPrefix(text, "if ") || strings.HasPrefix(text, "elif ")
	return h.name != ""
}

// answeringHooks are the hooks whose answer keeps the runner from doing its work.
var answeringHooks = strings.Fields("pytest_pyfunc_call pytest_runtest_protocol pytest_ignore_collect pytest_runtestloop pytest_cmdline_main")

// severityOf returns the severity of a line of the hook, 0 if the line is harmless.
func (h *hookBody) severityOf(text string) metric.Severity {
	answers := constantReturnRE.MatchString(text) && slices.Contains(answeringHooks, h.name)
	ignores := h.name == "pytest_ignore_collect" && strings.HasPrefix(text, "return ") && text != "return None" && text != "return False"
	removes := strings.Contains(text, "items.remove(") || strings.Contains(text, "items[:] =")
	catches := broadExceptRE.MatchString(text) && strings.HasPrefix(h.name, "pytest_runtest_") || broadExceptRE.MatchString(text) && h.name == "pytest_pyfunc_call"
	switch {
	case !h.conditional && (answers || skipMarkerRE.MatchString(text)), passedReturnRE.MatchString(text):
		return metric.Critical
	case answers, ignores, removes, catches:
		return metric.High
	}
	return 0
}

// broadExceptRE matches a handler of all failures in a hook around a test.
var broadExceptRE = regexp.MustCompile(`^except(?:\s*:|.*\b(?:Exception|BaseException|AssertionError)\b)`)

// passedReturnRE matches a line by which a hook reports a pass, as in return "passed", ".",
// "PASSED".
var passedReturnRE = regexp.MustCompile(`^return \(?["']passed["']`)

// runnerHookREs match, by language, the head of a hook of a runner, as in "class Retry implements
// TestExecutionExceptionHandler". Hooks that only set tests up are left out.
var runnerHookREs = map[source.Language]*regexp.Regexp{
	source.Python: decidingHookRE,
	source.Java:   regexp.MustCompile(`\bimplements\b.*\b(TestExecutionExceptionHandler|InvocationInterceptor|TestExecutionListener|LifecycleMethodExecutionExceptionHandler|TestInstancePostProcessor|ExecutionCondition|IHookable|IRetryAnalyzer|IAnnotationTransformer|ITestListener|IInvokedMethodListener)\b`),
	source.Kotlin: regexp.MustCompile(`:\s*.*\b(TestExecutionExceptionHandler|InvocationInterceptor|TestExecutionListener|ExecutionCondition|TestCaseExtension)\b`),
	source.Ruby:   regexp.MustCompile(`\b(config|c|rspec)\.around\b|Minitest\.after_run|RSpec::Core::\w+\.(class_eval|prepend)|Minitest::\w+\.(class_eval|prepend)`),
	source.CSharp: regexp.MustCompile(`:\s*.*\b(ITestRunner|XunitTestFramework|ITestFrameworkExecutor|IWrapSetUpTearDown|IApplyToTest)\b|assembly:\s*(Xunit\.)?(TestFramework|TestCaseOrderer)\b`),
}

// rakeClearRE matches a task of Rake that is cleared, as in Rake::Task["test"].clear. rakeTaskRE
// matches one that is defined, as in "task :test do", and rakeNoOpRE a line that does nothing.
var (
	rakeClearRE = regexp.MustCompile(`Rake::Task\[\s*["':]+\w*(test|spec)\w*["']?\s*\]\.(clear|clear_actions)\b`)
	rakeTaskRE  = regexp.MustCompile(`^\s*task\s*\(?\s*[:"']?(test|spec|default|check)\b.*\bdo\b`)
	rakeNoOpRE  = regexp.MustCompile(`^\s*(puts|print|p|echo|true|nil|#|$|sh\s+["'](true|echo))`)
)

// findReplacedTasks finds tasks of Rake that ran tests and now only print.
func findReplacedTasks(f *facts.ChangedFile, report facts.Report) {
	if base := path.Base(f.Path); base != "Rakefile" && path.Ext(base) != ".rake" || configtext.DataFolderRE.MatchString(f.Path) {
		return
	}
	for _, l := range f.AddedLines() {
		if rakeClearRE.MatchString(l.Text) || rakeTaskRE.MatchString(l.Text) && isBlockNoOp(f, l.Number) {
			report(f.NewFinding(l.Number, l.Text))
		}
	}
}

// testAliasRE matches the key of an alias of mix with the name of the test task.
var testAliasRE = regexp.MustCompile(`(^|\.|\])test(\[\])?$`)

// findReplacedAlias finds aliases of mix that have the name of the test task and do not run it.
func findReplacedAlias(f *facts.ConfigFile, report facts.Report) {
	if path.Base(f.Path) != "mix.exs" {
		return
	}
	before, _ := findTestAlias(f.OldConfig.Settings)
	after, at := findTestAlias(f.NewConfig.Settings)
	if at.Line > 0 && !after && (before || !slices.ContainsFunc(f.OldConfig.Settings, func(s configtext.Setting) bool { return s.Value == at.Value && s.Key == at.Key })) {
		report(f.NewFinding(at.Line, "test: "+at.Value))
	}
}

// findTestAlias returns whether an alias of mix with the name of the test task runs the tests, and
// the last setting of that alias. The Line of the setting is 0 if there is none.
func findTestAlias(list []configtext.Setting) (tests bool, at configtext.Setting) {
	for _, s := range list {
		if testAliasRE.MatchString(s.Key) {
			at = s
			tests = tests || strings.HasPrefix(s.Value, "test") || strings.Contains(s.Value, " test")
		}
	}
	return tests, at
}

// isBlockNoOp reports whether the block that line n opens does nothing.
func isBlockNoOp(f *facts.ChangedFile, n int) bool {
	for i := n + 1; i < n+20; i++ {
		switch l := f.After().LineAt(i); {
		case strings.TrimSpace(l) == "end":
			return true
		case !rakeNoOpRE.MatchString(l):
			return false
		}
	}
	return false
}

// findAddedHook finds the first new hook of a runner in a file. What the hook does is not known. A
// line that forces an outcome is another finding.
func findAddedHook(f *facts.ChangedFile, report facts.Report) {
	re := runnerHookREs[f.After().Language()]
	if re == nil || !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) || len(facts.MatchingLines(f.AddedLines(), re)) == 0 {
		return
	}
	if f.After().Language() == source.Python && path.Base(f.Path) != "conftest.py" {
		return
	}
	for _, l := range addedCodeLines(f) {
		if !re.MatchString(l.Text) || re.Match(f.Before().WithoutComments()) && f.After().Language() != source.Python || hadPytestHook(f, l.Text) {
			continue
		}
		report(f.NewFinding(l.Number, l.Text).WithSeverity(hookSeverity(f)))
		return
	}
}

// hadPytestHook reports whether a file defined the hook of a line before the change.
func hadPytestHook(f *facts.ChangedFile, text string) bool {
	m := decidingHookRE.FindStringSubmatch(text)
	return m != nil && strings.Contains(string(f.Before().WithoutComments()), "def "+m[1]+"(")
}

// hookSeverity returns the severity of a new hook, 0 for that of the rule. It is higher for an
// exception handler that throws nothing.
func hookSeverity(f *facts.ChangedFile) metric.Severity {
	if f.After().Language() == source.CSharp {
		return metric.High
	}
	text := string(f.After().WithoutStrings())
	if strings.Contains(text, "ExceptionHandler") && !strings.Contains(text, "throw ") || strings.Contains(text, "InvocationInterceptor") && !strings.Contains(text, ".proceed()") {
		return metric.Critical
	}
	if f.After().Language() == source.Ruby && strings.Contains(text, "rescue") {
		return metric.High
	}
	return 0
}

// findFaultyTestMain finds a TestMain that newly does not run the tests of its Go package, or exits
// with 0 whatever their result.
func findFaultyTestMain(f *facts.ChangedFile, report facts.Report) {
	if !strings.HasSuffix(f.Path, "_test.go") || !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) || !strings.Contains(string(f.After().Text), "TestMain") {
		return
	}
	line, why := testMainFault(f.After().Text)
	if why == "" {
		return
	}
	if _, before := testMainFault(f.Before().Text); before == why {
		return
	}
	report(f.NewFinding(line, "TestMain: "+why))
}

// testMainFault returns the line of a mistake in the TestMain of a Go file, and what is wrong. why
// is "" if nothing is, or if the file does not parse.
func testMainFault(text []byte) (at int, why string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil || file == nil {
		return 0, ""
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "TestMain" || fn.Recv != nil || fn.Body == nil || len(fn.Type.Params.List) != 1 {
			continue
		}

		param := ""
		if names := fn.Type.Params.List[0].Names; len(names) == 1 {
			param = names[0].Name
		}

		uses := false
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			uses = uses || ok && id.Name == param
			return true
		})

		if !uses {
			return set.Position(fn.Pos()).Line, "m.Run is not called"
		}

		if at := exitAfterRun(fn.Body, param); at.IsValid() {
			return set.Position(at).Line, "os.Exit(0)"
		}
	}
	return 0, ""
}

// exitAfterRun returns the position where the function exits with 0 although it ran the tests, or
// unconditionally; the zero value if there is none. m is the parameter of TestMain. A helper
// process may exit under a condition before the tests, and the function may do so after them if it
// compares the status with 0.
func exitAfterRun(body *ast.BlockStmt, m string) token.Pos {
	var ran, at token.Pos
	var conditions []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if c, ok := n.Cond.(*ast.BinaryExpr); ok && c.Op == token.EQL {
				conditions = append(conditions, n)
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == m && n.Sel.Name == "Run" {
				ran = n.Pos()
			}
		case *ast.CallExpr:
			excused := slices.ContainsFunc(conditions, func(c ast.Node) bool { return c.Pos() < n.Pos() && n.End() <= c.End() })
			if isExitZero(n) && !excused && (ran.IsValid() || isStatementOf(body.List, n)) {
				at = n.Pos()
			}
		}
		return !at.IsValid()
	})
	return at
}

// isStatementOf reports whether a call is a statement of the list, rather than of a block within
// it.
func isStatementOf(list []ast.Stmt, call *ast.CallExpr) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool {
		switch s := s.(type) {
		case *ast.ExprStmt:
			return s.X == call
		case *ast.DeferStmt:
			return s.Call == call
		}
		return false
	})
}

// isExitZero reports whether a statement is os.Exit(0).
func isExitZero(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	return ok && isSel && sel.Sel.Name == "Exit" && literal.Value == "0"
}

// rustModuleRE matches the declaration of a module in a separate file, as in "pub mod tests;".
var rustModuleRE = regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;`)

// findRemovedModules finds modules of tests that Rust no longer compiles, because their declaration
// is gone and their file is not.
func findRemovedModules(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	if !strings.HasSuffix(f.Path, ".rs") || !f.After().Exists() {
		return
	}
	for _, l := range f.RemovedLines() {
		m := rustModuleRE.FindStringSubmatch(l.Text)
		if m != nil && (strings.Contains(m[1], "test") || f.After().IsTestFile()) && !isModuleInOtherFile(c, m[1]) {
			report(f.NewFinding(0, l.Text+" is gone"))
		}
	}
}

// isModuleInOtherFile reports whether a module was declared in another place, or its file
// is part of the change, too.
func isModuleInOtherFile(c *facts.Change, name string) bool {
	declared := regexp.MustCompile(`(?m)^\s*(pub(\([^)]*\))?\s+)?mod\s+` + name + `\b`)
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		own := path.Base(f.Before().Path) == name+".rs" || path.Base(path.Dir(f.Before().Path)) == name
		return own && (f.Deleted || f.OldPath != "") || strings.HasSuffix(f.Path, ".rs") && declared.Match(f.After().WithoutComments())
	})
}
