package framework

import (
	"slices"
	"strings"
	"sync"

	"supervise/internal/regexp"
)

// Expressions for what code has in common with frameworks, to be combined by callers.
const (
	// NodeModules matches the modules from which tests take the functions of a runner.
	NodeModules = `@jest/globals|vitest|jasmine(?:-core)?|mocha|bun:test|node:test|@playwright/test`

	// NodeMock matches the object with whose methods a test replaces modules and functions.
	NodeMock = `(?:jest|vi)`

	// RunnerMentions match commands that run tests, or convert their reports.
	RunnerMentions = `go test|pytest|jest|vitest|mocha|cargo|phpunit|rspec|ctest|nosetests|--junit|gotestsum|go-junit-report|tap-xunit|tap-junit`

	// TestReceivers are the objects whose methods tests call, separated by blanks.
	TestReceivers = `pytest unittest jest vi sinon chai`

	// RubyReceiver is the module whose methods define groups of tests.
	RubyReceiver = `RSpec`

	// RubyFailure matches what a failed assertion raises.
	RubyFailure = `Minitest::Assertion|RSpec::Expectations`

	// TargetNames match names of targets that test by the runner's name.
	TargetNames = `rspec|cucumber`

	// ScriptNames match names of scripts that test by the runner's name.
	ScriptNames = `mocha|jest|vitest`
)

// TestCommand matches commands that run tests, such as "npm run test" and "go test".
var TestCommand = regexp.MustCompile(`\b(jest|vitest|mocha|ava|tap|jasmine|karma|cypress|playwright|pytest|unittest|nose2?|tox|nox|rspec|phpunit|pest|ctest|nextest|surefire)\b|\b(go|cargo|deno|bun|mix|swift|dotnet|node --|mvn|gradle|npm|yarn|pnpm|rake|rails) ?(run )?-*test`)

// RunnerLine matches lines about tests in a build file that is code, such as testRuntimeOnly(…) of
// Gradle, and lines about other modules in go.mod, such as "replace a => ../a".
var RunnerLine = regexp.MustCompile(`(?i)^\s*replace\b|=>|(^|[^a-z])(unit|integration|add_|e2e_)?tests?([^a-z]|$)|test(Target|Task|Framework|Options|Runtime|Compile|_suite|_command|_paths)|pytest|ctest|gtest|coverage|\bspec\b|jacoco|surefire|ignoreFailures`)

// PythonImport and NodeImport match code that imports a framework, such as "import pytest" and
// import { it } from "vitest", or that defines a helper such as assert_equal(…).
var (
	PythonImport = regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(?:pytest|unittest|nose2?|hypothesis|hamcrest|assertpy|testtools)\b|^def (?:assert|expect|should)_?\w*\(`)
	NodeImport   = regexp.MustCompile(`["'](?:vitest|@jest/globals|jest-[\w-]+|chai|expect|sinon|@testing-library/[\w-]+|node:test|@playwright/test|cypress|supertest|nock|msw)["']|^export (?:async )?function (?:assert|expect|should)\w*\(`)
)

// PluginVariable is the variable in which a file of Python's tests lists plugins.
const PluginVariable = "pytest_plugins"

// NodePreset is the file of a package with settings for Node's tests, without extension.
const NodePreset = "/jest-preset"

// EndToEndNames matches names of tests that usually have a runner of their own.
const EndToEndNames = `e2e|integration|playwright|cypress|browser|slow|perf|smoke|acceptance|network|manual|online`

// PluginList matches the list of plugins in a file of pytest, as in pytest_plugins = ["a"].
// PluginEntry is the entry point under which a package lists its plugins.
var (
	PluginList  = regexp.MustCompile(`(?m)^pytest_plugins\s*(?::[^=\n]+)?\+?=\s*([\[(]?[^\])\n]*(?:\n[^\])\n]*)*?[\])\n])`)
	PluginEntry = "pytest11"
)

// PythonTestModules are the modules that run tests, or belong to what does: a module of the
// project with such a name hides it.
var PythonTestModules = append(wordsOf("python", func(f Framework) []string { return f.Shadows }), split("mock coverage hypothesis")...)

// PythonPackage matches the folder of an installed package that runs tests, such as pytest_cov.
var PythonPackage = regexp.MustCompile(`^(_?pytest|pytest_\w+|pluggy|xdist|coverage|hypothesis|nose2?|unittest2|mock|assertpy|hamcrest)$`)

// NodePackages are packages that run tests, or that tests use with any framework. What they do
// decides how tests end.
var NodePackages = append(wordsOf("node", func(f Framework) []string { return f.TestPackages }),
	split("chai c8 nyc istanbul sinon should assert @testing-library power-assert supertest nock msw tsx ts-node")...)

// wordsOf returns the distinct words that the rows of a language have, sorted. words returns those
// of one row.
func wordsOf(language string, words func(Framework) []string) []string {
	var out []string
	for _, f := range rows {
		if f.Language == language {
			out = append(out, words(f)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Expressions for code and variables that show whether tests run.
var (
	// Each Detection expression matches product code of a language that finds out whether tests run
	// it:
	//
	//	Python  "pytest" in sys.modules
	//	Node    process.env.NODE_ENV === "test"
	//	Java    Class.forName("org.junit.Test")
	//	Rust    cfg!(test)
	//	Ruby    defined?(RSpec)
	//	PHP     defined('PHPUNIT_COMPOSER_INSTALL')
	//	Dotnet  StartsWith("xunit")
	//	CPP     getenv("GTEST_FILTER")
	//	Swift   XCTestBundlePath
	//	Elixir  Mix.env() == :test
	PythonDetection = regexp.MustCompile(`PYTEST_CURRENT_TEST|["'](?:pytest|unittest|nose|test)["'] in \w+ for \w+ in sys\.(?:argv|modules)|["'](?:pytest|unittest|_pytest)["']\s+(?:not\s+)?in\s+sys\.modules|sys\.modules\.get\(["'](?:pytest|unittest)|PYTEST_VERSION|PYTEST_XDIST|["']pytest["']\s+in\s+sys\.argv|(?:inspect\.stack|_getframe|currentframe).*test`)
	NodeDetection   = regexp.MustCompile(`NODE_ENV['"\]]*\s*[!=]==?\s*['"]test['"]|['"]test['"]\s*[!=]==?\s*process\.env\.NODE_ENV|JEST_WORKER_ID|process\.env\.(?:VITEST|JEST|MOCHA)\b|typeof\s+(?:jest|describe|it|vi|expect)\s*[!=]==?|globalThis\.(?:jest|describe|expect|vi)\b`)
	JavaDetection   = regexp.MustCompile(`getStackTrace\(\).*(?i:junit|test)|Class\.forName\("org\.(?:junit|testng)|StackWalker.*(?i:junit)|contains\("(?:org\.)?junit|startsWith\("(?:org\.)?(?:junit|testng)|getProperty\("(?:surefire|org\.gradle\.test|junit)[\w.]*"\)|java\.class\.path.*(?:surefire|junit)`)
	RustDetection   = regexp.MustCompile(`\bcfg!\(test\)|#\[cfg\(not\(test\)\)\]|RUST_TEST_THREADS|NEXTEST|CARGO_TARGET_TMPDIR|CARGO_BIN_EXE_|thread::current\(\)\.name\(\).*test`)
	RubyDetection   = regexp.MustCompile(`defined\?\(?\s*(?:::)?(?:RSpec|Minitest|Test::Unit)|Rails\.env\.test\?|ENV\[['"](?:RAILS_ENV|RACK_ENV)['"]\]\s*==\s*['"]test|(?:\$PROGRAM_NAME|\$0).*(?:rspec|test)|Object\.const_defined\?\(:(?:RSpec|Minitest)|\$LOADED_FEATURES.*(?:rspec|minitest)`)
	PHPDetection    = regexp.MustCompile(`defined\(\s*['"](?:PHPUNIT_\w+|__PHPUNIT_PHAR__)|PHPUNIT_COMPOSER_INSTALL|class_exists\(\s*['"]?\\?\\?PHPUnit|getenv\(['"]APP_ENV['"]\)\s*===?\s*['"]test`)
	DotnetDetection = regexp.MustCompile(`AppDomain.*(?i:xunit|nunit|mstest|testhost)|StartsWith\("(?:xunit|nunit|testhost)|GetAssemblies\(\).*(?i:xunit|nunit|test)`)
	CPPDetection    = regexp.MustCompile(`\bgetenv\("(?:GTEST_|TEST_)|\b(?:::)?testing::UnitTest::GetInstance|__has_include\(<gtest|#if(?:n?def|\s+defined)\s*\(?\s*(?:UNIT_TEST|TESTING|GTEST)\w*`)
	SwiftDetection  = regexp.MustCompile(`XCTestConfigurationFilePath|XCTestBundlePath|XCTestSessionIdentifier|NSClassFromString\("XCTest`)
	ElixirDetection = regexp.MustCompile(`Mix\.env\(?\)?\s*(?:==|in)\s*\[?:test|Process\.whereis\(ExUnit|Code\.ensure_loaded\?\(ExUnit\)`)

	// The Reveals expressions match more: also what is left in code or an environment while tests
	// run, such as is_testing.
	PythonReveals = regexp.MustCompile(`(?i)pytest|unittest|\btox\b|\bsys\s*\.\s*modules\b|\borig_argv\b|\b(is|in|under|running)_?(a_)?tests?(ing)?\b`)
	NodeReveals   = regexp.MustCompile(`(?i)\b(jest|vitest|mocha)(_\w+)?\b|NODE_TEST_CONTEXT|NODE_ENV\b.*["'\x60]test|npm_lifecycle_event|\b(is|in|under|running)_?(a_)?tests?(ing)?\b`)
)

// RunnerVariables matches the variables that make a runner of tests run something else than what
// the project has.
const RunnerVariables = `PYTEST_\w+|TEST(OPTS)?|SPEC(_OPTS)?|GTEST_\w+|CTEST_\w+`

// Programs returns the names of the programs that test or lint, and of those that start them. Callers
// must not change them.
var Programs = sync.OnceValue(func() []string {
	var out []string
	add := func(commands []string) {
		for _, command := range commands {
			program, _, _ := strings.Cut(command, " ")
			out = append(out, program)
		}
	}
	for _, f := range rows {
		add(f.Programs)
	}
	for _, l := range linters {
		add(l.Programs)
	}
	for _, t := range taskRows {
		add([]string{t.program})
	}
	slices.Sort(out)
	return append(slices.Compact(out), split("python python3 node npx yarn pnpm rustc java ruby bundle php cmake elixir git uv poetry unittest")...)
})
