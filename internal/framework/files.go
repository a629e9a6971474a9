package framework

import (
	"slices"
	"strings"
	"sync"

	"supervise/internal/regexp"
)

// nodeNames are the names that configuration files of Node's tools begin with.
const nodeNames = `jest|vitest|playwright|karma|cypress|wdio|ava|nyc|c8|mocha|jasmine|protractor|testcafe|tap|nightwatch|web-test-runner|stryker`

// Expressions for parts of file names, to be combined by callers.
const (
	// NodeConfig matches the name of a tool of Node that runs tests, bundles or lints, as in
	// NAME.config.js.
	NodeConfig = nodeNames + `|vite|eslint|webdriver|babel|xo|stylelint|lint-staged`

	// NodeSettings matches the base name of a file with settings of Node's test tools.
	NodeSettings = `(?i)(jest|vitest|vite|playwright|karma|mocha|ava|cypress|wdio|nyc|c8|package\.json|jasmine)`

	// PythonSettings matches the base name of a file with settings of Python's test tools.
	PythonSettings = `(pytest|pyproject|setup\.cfg|tox)\.?(ini|toml|cfg)?$|^pytest\.ini$`

	// RunnerSettings matches the base name of a file with settings of any test tool.
	RunnerSettings = NodeSettings + `|` + PythonSettings + `|nextest|surefire|pom\.xml|\.gradle|runsettings|phpunit|karma`

	// XMLSettings matches the beginning of the name of an XML file with settings, such as pom.xml.
	XMLSettings = `pom|phpunit|phpcs|phpmd|psalm|build|testng|checkstyle|pmd|spotbugs|findbugs|ruleset|nunit|behat`

	// DotSettings matches the name of a file of settings after its first character, which is a dot:
	// "mocharc" of .mocharc.js.
	DotSettings = `mocharc|eslintrc|nycrc|c8rc|taprc|huskyrc|lintstagedrc|stylelintrc|prettierrc`

	// ReportName matches the base name of a report that a test runner writes, such as junit.xml and
	// TEST-CartTest.xml.
	ReportName = `junit([\w.-]*)\.xml|TEST-[\w.-]+\.xml|(test[-_]?)?(results?|report)\.(xml|trx|tap|junit)|test[-_](results?|report|output)\.(xml|json|trx|tap)|nosetests\.xml|pytest[\w-]*\.xml|xunit[\w-]*\.xml|phpunit[-.](report|result|junit)[\w.-]*\.xml|rspec[\w-]*\.(xml|json)|ctest[\w-]*\.xml`

	// ReportFolder matches the name of a folder with reports of test runners.
	ReportFolder = `surefire-reports|failsafe-reports|test-results|test-reports|junit-reports|TestResults`

	// EndToEndFolder matches the name of a folder of tests in a browser.
	EndToEndFolder = `cypress|playwright|e2e`

	// SupportFolder matches folders whose files are loaded before the tests.
	SupportFolder = `cypress/support|features/support|spec/support|test/support`

	// SetUpFile matches the base name of a file with settings of Node's runners that is code, such
	// as jest.setup.ts.
	SetUpFile = `(jest|vitest|karma|playwright|cypress|ava|mocha|wdio)[\w.-]*\.(m|c)?[jt]s|\.mocharc\.c?js`
)

// buildFiles are the configuration files in rows of frameworks that configure more than tests.
var buildFiles = split("go.mod go.work Cargo.toml pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts build.sbt " +
	"CMakeLists.txt meson.build Rakefile manage.py mix.exs Package.swift build.zig MODULE.bazel WORKSPACE deno.json deno.jsonc")

// runnerRowFiles and linterRowFiles match the paths of the configuration files in the rows of
// frameworks and of linters. A file in which only a section belongs to the tool does not count.
var (
	runnerRowFiles = sync.OnceValue(func() *regexp.Regexp {
		return rowFiles(frameworks(), func(f Framework) []string { return f.ConfigFiles })
	})
	linterRowFiles = sync.OnceValue(func() *regexp.Regexp { return rowFiles(linters, func(l Linter) []string { return l.ConfigFiles }) })
)

// rowFiles returns an expression for the paths of the configuration files of rows, in any folder
// and in upper or lower case. It leaves out [buildFiles], and files that only tests load.
func rowFiles[T any](rows []T, configFiles func(T) []string) *regexp.Regexp {
	var names []string
	for _, row := range rows {
		for _, name := range configFiles(row) {
			if !strings.Contains(name, "#") && !slices.Contains(buildFiles, name) && !SupportFile(name) {
				names = append(names, strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, `[^/]*`))
			}
		}
	}
	return regexp.MustCompile(`(?i)(^|/)(` + strings.Join(names, "|") + `)$`)
}

// runnerFiles match the paths of further files that configure a runner of tests, and nothing else.
// The comment above an expression has paths that it matches.
var runnerFiles = []*regexp.Regexp{
	// tox.ini, .coveragerc
	regexp.MustCompile(`(^|/)(tox\.ini|\.?coveragerc|\.?nosetests\.cfg|\.testr\.conf|noxfile\.py)$`),
	// jest.config.js, vitest.workspace.ts
	regexp.MustCompile(`(^|/)(` + nodeNames + `|testem|detox|japa|codecept)\.([\w-]+\.)*(config|conf|workspace|projects|rc|setup|preset)(\.[\w-]+)*\.([mc]?[jt]s|json5?|ya?ml|toml)$`),
	// jest.setup.tsx, cypress.json
	regexp.MustCompile(`(^|/)(jest|vitest|playwright|karma|cypress|ava|mocha)\.(config|conf|workspace|setup|json)(\.[\w-]+)*$|(^|/)(testem|jasmine|cypress|\.testcaferc)\.(js|json)$`),
	// .mocharc.yml, tsconfig.test.json
	regexp.MustCompile(`(^|/)\.(mocha|nyc|c8|tap|testcafe|ava)rc(\.\w+)?$|(^|/)mocha\.opts$|(^|/)tsconfig[.-](\w+[.-])?(tests?|specs?|jest|vitest|e2e)\.json$`),
	// .rspec-local, cucumber.yml
	regexp.MustCompile(`(^|/)\.(rspec-(local|parallel)|simplecov|cucumber|minitest)$|(^|/)cucumber\.(ya?ml|[mc]?js|json)$`),
	// phpunit.xml.dist, codeception.yml
	regexp.MustCompile(`(^|/)(phpunit|codeception|behat|kahlan|phpspec|infection)([.-][\w-]+)*\.(xml|ya?ml|json5?|php)(\.dist)?$`),
	// testng.xml, junit-platform.properties
	regexp.MustCompile(`(^|/)(junit-platform\.properties|testng[\w-]*\.xml|surefire\.properties|TestNG\.xml|kotest\.properties|allure\.properties)$|(^|/)META-INF/services/(org\.(junit|testng|spockframework)|io\.kotest)[\w.$]*$`),
	// nextest.toml, App.xctestplan, CTestConfig.cmake
	regexp.MustCompile(`(^|/)nextest\.toml$|(^|/)(tarpaulin|insta)\.(toml|yaml)$|\.(xctestplan|testsettings)$|(^|/)testconfig\.json$|(^|/)CTest(Config|TestfileLocal)\.cmake$`),
	// run_tests.sh, .env.test
	regexp.MustCompile(`(^|/)(run[_-]?)?(unit|integration|all)?[_-]?(run)?tests?\.(sh|bash|ps1|bat|cmd)$|(^|/)run[_-]?tests?(\.py|\.[mc]?js)?$|(^|/)\.env\.tests?(\.\w+)?$`),
}

// RunnerFile reports whether a file configures a runner of tests, and nothing else.
func RunnerFile(path string) bool {
	return runnerRowFiles().MatchString(path) || matchesAny(runnerFiles, path)
}

// supportFiles match the paths of files that tests load because of their names. The comment above
// an expression has paths that it matches.
var supportFiles = []*regexp.Regexp{
	// conftest.py
	regexp.MustCompile(`(^|/)(conftest|sitecustomize|usercustomize)\.py$|\.pth$`),
	// jest.setup.ts, setupTests.js
	regexp.MustCompile(`(^|/)(jest|vitest|mocha|test|tests)[.-]?setup\.[mc]?[jt]sx?$|(^|/)setup-?[tT]ests?\.[mc]?[jt]sx?$|(^|/)setup[.-](jest|vitest|mocha)\.[mc]?[jt]sx?$`),
	// rails_helper.rb, test_helper.exs, tests/Pest.php
	regexp.MustCompile(`(^|/)(spec|test|rails|minitest)_helper\.rb$|(^|/)test_helper\.exs?$|(^|/)test_helper\.(ba)?sh$|(^|/)tests/Pest\.php$`),
}

// SupportFile reports whether tests load a file because of its name.
func SupportFile(path string) bool { return matchesAny(supportFiles, path) }

// matchesAny reports whether one of the expressions matches a path.
func matchesAny(list []*regexp.Regexp, path string) bool {
	return slices.ContainsFunc(list, func(r *regexp.Regexp) bool { return r.MatchString(path) })
}

// checkFiles match the paths of further files that decide which checks run, and on what. The comment
// above an expression has paths that it matches.
var checkFiles = []*regexp.Regexp{
	// pyproject.toml, conftest.py
	regexp.MustCompile(`(?i)(^|/)(tox\.ini|setup\.cfg|pyproject\.toml|conftest\.py|noxfile\.py|\.coveragerc|flake8)$`),
	// jest.e2e.config.ts, tsconfig.json
	regexp.MustCompile(`(?i)(^|/)(jest|vitest|vite|playwright|karma|cypress|mocha|ava|nyc|eslint|babel|jasmine)\.\w*\.?(config|conf|setup|workspace)\.\w+$`),
	regexp.MustCompile(`(?i)(^|/)(package\.json|\.(mocharc|nycrc|c8rc|eslintrc|taprc)(\.\w+)?|tsconfig[\w.]*\.json|deno\.jsonc?|bunfig\.toml)$`),
	// Makefile, Taskfile.yml
	regexp.MustCompile(`(?i)(^|/)(makefile|gnumakefile|justfile|taskfile\.ya?ml|rakefile|mix\.exs|\.credo\.exs|directory\.build\.(props|targets))$`),
	// .simplecov, psalm.xml
	regexp.MustCompile(`(?i)(^|/)(\.rubocop_todo\.yml|\.simplecov|phpstan[\w.]*\.neon(\.dist)?|psalm\.xml|phpunit(\.dist)?\.xml(\.dist)?)$`),
	// .cargo/config.toml, build.gradle.kts
	regexp.MustCompile(`(?i)(^|/)(\.?golangci\.(ya?ml|toml|json)|\.cargo/config(\.toml)?|nextest\.toml|pom\.xml|build\.gradle(\.kts)?|detekt\.ya?ml|checkstyle\.xml|\.editorconfig)$`),
	// .github/workflows/ci.yml, codecov.yml
	regexp.MustCompile(`(?i)(^|/)(\.gitlab-ci\.yml|jenkinsfile|azure-pipelines\.yml|\.?codecov\.ya?ml)$|(^|/)(\.github/workflows|\.circleci|\.ci)/`),
}

// CheckFile reports whether a file decides which checks run, and on what, as package.json and
// .github/workflows/ci.yml do.
func CheckFile(path string) bool {
	return runnerRowFiles().MatchString(path) || linterRowFiles().MatchString(path) || matchesAny(checkFiles, path)
}

// RunnerKey matches keys that configure a runner in a file that configures other things, too, such
// as tool.coverage.omit in pyproject.toml. Keys are in lower case.
var RunnerKey = regexp.MustCompile(`tests?|pytest|jest|vitest|mocha|jasmine|karma|\bava\b|\bnyc\b|\bc8\b|\btap\b|rspec|coverage|surefire|failsafe|harness|\brunner\b|plugin(\[\w*\])?\.configuration|argline|autoloaddev|\bspecs?\b|\bcheck\b|\bverify\b|\be2e\b|\bci\b`)

// ConfigNameParts are parts of the names of configuration files, in lower case. Most other files
// have none of them in their names.
var ConfigNameParts = split("conf rc setup workspace pytest tox nox package composer cargo pom gradle makefile justfile taskfile deno bunfig pyproject jest mocha rspec phpunit nextest karma cypress junit testng go.mod")

// Names of folders and files of tests.
var (
	// EndToEndFolders are those of tests in a browser.
	EndToEndFolders = split("e2e cypress")

	// NativeTestSuffixes end the names of test files of C and C++, without extension.
	NativeTestSuffixes = split("_test _tests _unittest Test Tests")
)

// ArgumentFile matches the base name of a file with the arguments of a program.
const ArgumentFile = `\.rspec`

// ArgumentFiles maps the base name of a file with the arguments of a program to the program.
var ArgumentFiles = map[string]string{".rspec": "rspec"}

// ArgumentSettings maps a part of the key of a setting with the arguments of a program to the
// program.
var ArgumentSettings = map[string]string{"addopts": "pytest", "maven": "mvn test", "gradle": "gradle test"}

// ActionCommands maps actions of GitHub that check to the command that they run.
var ActionCommands = map[string]string{
	"golangci/golangci-lint-action": "golangci-lint run", "pre-commit/action": "pre-commit run", "psf/black": "black --check",
	"chartboost/ruff-action": "ruff check", "astral-sh/ruff-action": "ruff check", "actions-rs/clippy-check": "cargo clippy",
	"cypress-io/github-action": "cypress run", "giraffate/clippy-action": "cargo clippy", "wagoid/commitlint-github-action": "commitlint",
}

// BrowserFolders are the folders, in the user's home folder, with the browsers that end-to-end
// frameworks have downloaded.
var BrowserFolders = []string{".cache/Cypress", ".cache/ms-playwright", ".cache/puppeteer", "Library/Caches/Cypress", "Library/Caches/ms-playwright"}
