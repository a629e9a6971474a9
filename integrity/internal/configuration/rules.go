// Package configuration finds what changes in scripts and settings: commands that run fewer tests
// or hide failures, thresholds lowered, rules of linters turned off.
//
// commands.go compares the calls of programs that check. settings.go, narrowing.go and lines.go
// have tables of settings and lines that are findings, exclusions.go says when a setting leaves
// out nothing or applies only under a condition, threshold.go compares limits, and linterrules.go
// counts the rules of linters that are off.
package configuration

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(commandRules, settingRules, lineRules, targetRules)

// commandRules are the rows about commands that run checks.
var commandRules = []facts.Rule{
	{ID: "TP-08", Name: "focus_in_configuration", Severity: metric.Critical, Find: effectRule(framework.Focus), Fires: "`-run`, `-k`, `-t`, `--grep`, `--filter`, `-Dtest=`, `--tests` in a test command or in addopts", Grades: "CRITICAL; `--group`, `-L` and their like HIGH; another value of the same argument MEDIUM", Spares: "an additional script; `-run '^$' -bench`"},
	{ID: "TP-15", Name: "retries_in_command", Severity: metric.Medium, Find: effectRule(framework.Loosen), Fires: "`--reruns`, `--retries`, a longer `--testTimeout` in a test command"},
	{ID: "TP-16", Name: "expectations_rewritten_by_command", Severity: metric.High, Find: effectRule(framework.Update), Fires: "`jest -u` and its like in the test command"},
	{ID: "TP-24", Name: "test_command_rewritten", Severity: metric.Critical, Find: facts.ForEach(facts.ConfigFiles, findRewrittenCommands), Fires: "`\"test\": \"true\"`, `echo ok`, an emptied target", Grades: "CRITICAL; HIGH for a removed test command, MEDIUM if others remain or it was in a sub-folder", Spares: "another runner; a command that moved"},
	{ID: "TP-24", Name: "test_command_runs_nothing", Severity: metric.Critical, Find: effectRule(framework.RunNone), Fires: "`--listTests`, `--collect-only`, `--no-run`, `-DskipTests`, `-exec`", Spares: "`--dry-run` of a linter"},
	{ID: "TP-25", Name: "failure_ignored", Severity: metric.Critical, Find: effectRule(framework.Mask), Fires: "`|| true`, `; exit 0`, `- ` in a recipe, `set +e`, `if false`, `exit 0` before the check, `continue-on-error`, `allow_failure`, `if: false`, `--exit-zero`", Grades: "CRITICAL; HIGH for `--passWithNoTests` and `when: manual`; MEDIUM for a new command of this kind", Spares: "`rm … || true`; a status that is checked (`$?`); `continue-on-error` of an upload, or of `${{ matrix.… }}`"},
	{ID: "TP-26", Name: "discovery_narrowed_by_command", Severity: metric.Critical, Find: effectRule(framework.Exclude), Fires: "`--ignore`, `--deselect`, `-skip`, `-m`, `--exclude` in a test command", Grades: "CRITICAL; HIGH for `-m`, `-short`, `-x`", Spares: "folders without tests"},
	{ID: "TP-26", Name: "stops_at_first_failure", Severity: metric.Medium, Find: effectRule(framework.StopEarly), Fires: "`-x`, `--bail`, `-failfast`, `--max-failures=1` in a test command: tests after a failure do not run", Spares: "`--bail=0`; an additional script"},
	{ID: "TP-26", Name: "command_runs_fewer_tests", Severity: metric.High, Find: facts.ForEach(facts.ConfigFiles, findNarrowedPaths), Fires: "`./...` → one package; a folder → one of its folders, or single files"},
	{ID: "TP-27", Name: "coverage_excluded_by_command", Severity: metric.Medium, Find: effectRule(framework.HideCode), Fires: "`--no-cov`, `--omit`, `--coverage=false`"},
	{ID: "TP-28", Name: "rule_off_by_command", Severity: metric.Medium, Find: effectRule(framework.Allow), Fires: "`--disable`, `--ignore`, `--skipLibCheck` in the command of a linter"},
}

// settingRules are the rows about values of configuration files.
var settingRules = []facts.Rule{
	{ID: "TP-08", Name: "focus_by_setting", Severity: metric.Critical, Find: settingRule("TP-08"), Fires: "`testNamePattern`, `grep`, `<test>`"},
	{ID: "TP-15", Name: "limits_loosened", Severity: metric.Medium, Find: facts.PerConfigFile(findLoosenedLimits), Fires: "a time or tolerance at least doubled, retries added: `testTimeout`, `retries`", Spares: "slightly longer times"},
	{ID: "TP-21", Name: "runner_replaced", Severity: metric.Medium, Find: settingRule("TP-21"), Fires: "a new setup file, reporter, runner, transform, bootstrap", Grades: "MEDIUM; HIGH for the project's own reporter, runner or transform; CRITICAL for `testFailureIgnore`", Spares: "reporters of packages"},
	{ID: "TP-25", Name: "failure_ignored_by_setting", Severity: metric.Critical, Find: settingRule("TP-25"), Fires: "`ignoreFailures = true`, `failOnError` false; `informational: true` of codecov", Grades: "CRITICAL; HIGH for codecov"},
	{ID: "TP-26", Name: "discovery_narrowed", Severity: metric.Critical, Find: facts.Combine(settingRule("TP-26"), facts.PerConfigFile(findDeeperGlobs)), Fires: "`testpaths` with less, `testPathIgnorePatterns`, `collect_ignore`, surefire `<excludes>`, `Compile Remove`, `harness = false` or `test = false` for tests that were found before", Grades: "CRITICAL; HIGH for a pattern within the old one; MEDIUM for tests named e2e, slow, integration …, and for patterns that matched no file before; a list in code under a platform or version is LOW, under any other condition HIGH", Spares: "folders without tests (`dist`, `node_modules`, `docs`); a new Cargo target with its own file"},
	{ID: "TP-27", Name: "threshold_lowered", Severity: metric.Critical, Find: facts.ForEach(facts.ConfigFiles, findLoweredLimits), Fires: "a lower number under the same key: `fail_under`, `coverageThreshold`, `minimum`, `Threshold`, `minMsi`, `--lines`; or a higher one: `--max-warnings`, codecov's `threshold`", Grades: "CRITICAL; HIGH if removed and not found in other files", Spares: "raised or moved limits; other numbers"},
	{ID: "TP-27", Name: "coverage_excluded", Severity: metric.Medium, Find: settingRule("TP-27"), Fires: "`omit`, `exclude_lines`, `coveragePathIgnorePatterns`", Grades: "MEDIUM; HIGH for one product file by name, or coverage disabled", Spares: "tests, generated code, unreachable lines"},
	{ID: "TP-28", Name: "rule_off", Severity: metric.Medium, Find: findDisabledRules, Fires: "`\"no-undef\": \"off\"`, `strict: false`, `ignore = [...]`, a linter no longer enabled, a higher limit", Grades: "MEDIUM; HIGH for three or all rules, or a doubled limit", Spares: "rules enabled"},
	{ID: "TP-31", Name: "environment_of_runner", Severity: metric.Critical, Find: settingRule("TP-31"), Fires: "`PYTEST_ADDOPTS=-k …`, `NODE_OPTIONS=--require ./x`, `GOFLAGS=-skip…`, `LD_PRELOAD`, `script-shell`, `runner =` of Cargo", Spares: "`--color`, `--max-old-space-size`, `-mod=mod`, emulators"},
	{ID: "TP-32", Name: "dependency_shadowed_by_setting", Severity: metric.High, Find: settingRule("TP-32"), Fires: "`[patch]`, `file:` dependencies, `moduleNameMapper` to a stub", Spares: "modules of the same repository; stubs of styles and images"},
}

// lineRules are the rows about single lines of files that configure by code: what
// they mean is clear from the line alone.
var lineRules = []facts.Rule{
	{ID: "TP-25", Name: "failure_ignored_by_line", Severity: metric.Critical, Find: lineRule("TP-25"), Fires: "`.IGNORE:`, `MAKEFLAGS += -i`, `trap 'exit 0' EXIT`, `go() { …; }`, `success_codes`, `WILL_FAIL TRUE`, `should_fail: true`, `sh … rescue nil`", Grades: "CRITICAL; HIGH in CMake, Meson, Rake", Spares: "lines that moved"},
	{ID: "TP-26", Name: "discovery_narrowed_by_line", Severity: metric.High, Find: lineRule("TP-26"), Fires: "`filter_run_excluding`, `exclude_pattern`, `FileList[…].exclude(…)`, `Tests.Filter`, `onlyIf { false }`, `BUILD_TESTING OFF`, `go list … | grep -v calc`", Spares: "focus filters; vendored and generated folders"},
	{ID: "TP-26", Name: "registered_test_removed", Severity: metric.High, Find: findUnregisteredTests, Fires: "`add_test(…)`, `test('…')` of Meson, `.testTarget(…)`, `add_subdirectory(test)`, test projects of a solution, Gradle modules: removed", Spares: "as many as before (renamed); files of that name deleted or renamed too"},
}

// targetRules are the rows about what a target consists of.
var targetRules = []facts.Rule{
	{ID: "TP-24", Name: "test_need_removed", Severity: metric.High, Find: facts.ForEach(facts.ConfigFiles, findRemovedNeeds), Fires: "`check: lint test` → `check: lint`; a default task without its tests; a shorter `TESTS` of automake", Spares: "a target removed completely, or renamed"},
	{ID: "TP-24", Name: "test_command_empty", Severity: metric.High, Find: facts.PerConfigFile(findNoOpTestScripts), Fires: "a new script `test` that is `true`"},
	{ID: "TP-25", Name: "checks_not_triggered", Severity: metric.High, Find: facts.PerConfigFile(findUntriggeredWorkflow), Fires: "a workflow with tests that no longer runs for any push or pull request", Spares: "fewer branches"},
}
