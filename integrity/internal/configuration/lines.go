package configuration

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// lineRow is a line that is a finding when it is added. Lines that only moved are not.
type lineRow struct {
	id       string          // the ID of the rule
	file     *regexp.Regexp  // matches the path of the file
	line     *regexp.Regexp  // matches the line
	except   *regexp.Regexp  // must not match the line; nil excepts nothing
	severity metric.Severity // 0 for that of the rule
}

// checkerExpr matches the names of programs that check, which a script may replace.
var checkerExpr = `(` + strings.Join(framework.Programs(), "|") + `)`

// lineTable has the rows of [lineRule] by their IDs: TP-25 ignores failures, and TP-26 leaves tests
// out. The comment above a row has a line that it matches.
var lineTable = []lineRow{
	// .IGNORE:
	{"TP-25", regexp.MustCompile(`(?i)(^|/)(GNU)?makefile$|\.mk$`), regexp.MustCompile(`^\.IGNORE\s*:|^(export\s+)?(GNU)?MAKEFLAGS\s*[:+?]?=.*(\s-?[a-z]*i\b|--ignore-errors|\s-k\b)|^(export\s+)?SHELL\s*[:?]?=\s*\S*\b(true|echo)\b`), nil, 0},
	// trap 'exit 0' EXIT
	{"TP-25", regexp.MustCompile(`\.(sh|bash|zsh)$|(^|/)(\.husky|\.githooks|scripts|ci|bin)/[^./]+$`), regexp.MustCompile(`^\s*trap\s+['"]?exit 0\b|^\s*(function\s+)?` + checkerExpr + `\s*\(\)|^\s*alias\s+` + checkerExpr + `=['"]?(true|:|echo)\b`), nil, 0},
	// success_codes=[0, 1]
	{"TP-25", regexp.MustCompile(`(^|/)noxfile\.py$`), regexp.MustCompile(`\bsuccess_codes\s*=\s*(\[[^\]]*[1-9]|range)`), nil, 0},
	// sh "rspec" do |ok|
	{"TP-25", regexp.MustCompile(`(^|/)(Rakefile|[^/]*\.rake)$`), regexp.MustCompile(`\b(sh|ruby|system)\b.*(\brescue\b|[{|]\s*\|\s*ok\b|do\s*\|\s*ok\b)`), nil, metric.High},
	// WILL_FAIL TRUE
	{"TP-25", regexp.MustCompile(`CMakeLists\.txt$|\.cmake$`), regexp.MustCompile(`(?i)\bWILL_FAIL\s+(TRUE|ON|1)\b|\bSKIP_RETURN_CODE\s+1\b|\bPASS_REGULAR_EXPRESSION\s+"?\.\*?"?\s*\)`), nil, metric.High},
	// should_fail: true
	{"TP-25", regexp.MustCompile(`(^|/)meson\.build$`), regexp.MustCompile(`\bshould_fail\s*:\s*true`), nil, metric.High},
	// XFAIL_TESTS = total
	{"TP-25", regexp.MustCompile(`(^|/)Makefile\.am$`), regexp.MustCompile(`^XFAIL_TESTS\s*\+?=\s*\S`), nil, metric.High},
	// exit_status: 0
	{"TP-25", regexp.MustCompile(`(^|/)test_helper\.exs$|(^|/)mix\.exs$`), regexp.MustCompile(`\bexit_status:\s*0\b`), nil, 0},

	// config.filter_run :fast
	{"TP-26", regexp.MustCompile(`(spec|test|rails)_helper\.rb$`), regexp.MustCompile(`\.filter_run(_including|_excluding)?\b|\.exclude_pattern\s*=|\.dry_run\s*=\s*true|\b(before|around)\b.*\b(skip|pending)\b`), regexp.MustCompile(`focus|filter_run_when_matching|if |unless |\?`), 0},
	// FileList["test/*.rb"].exclude("test/slow.rb")
	{"TP-26", regexp.MustCompile(`(^|/)(Rakefile|[^/]*\.rake)$`), regexp.MustCompile(`(test_files|FileList|pattern|spec_files).*(\.exclude\(|\]\s*-\s*\[)|\.exclude_pattern\s*=`), nil, 0},
	// Tests.Filter(isFast)
	{"TP-26", regexp.MustCompile(`\.sbt$`), regexp.MustCompile(`\bTests\.(Filter|Exclude)\b|\bTest\s*/\s*(test|executeTests|definedTests)\s*:=|\btest in Test\s*:=`), nil, 0},
	// onlyIf { false }
	{"TP-26", regexp.MustCompile(`\.gradle(\.kts)?$`), regexp.MustCompile(`\bonlyIf\s*[({]\s*\{?\s*(false\b|project\.hasProperty\(|System\.getenv\()`), nil, 0},
	// option(BUILD_TESTING "Build tests" OFF)
	{"TP-26", regexp.MustCompile(`CMakeLists\.txt$|\.cmake$`), regexp.MustCompile(`(?i)\bCTEST_CUSTOM_TESTS_IGNORE\b|^\s*(option|set)\s*\(\s*(BUILD_TESTING|\w*_TESTS?)\b.*\bOFF\s*\)`), nil, 0},
	// ExUnit.start(exclude: :test)
	{"TP-26", regexp.MustCompile(`(^|/)test_helper\.exs$`), regexp.MustCompile(`ExUnit\.(start|configure)\(.*(\bexclude:\s*:test\b|\bautorun:\s*false|\bonly_test_ids:)`), nil, 0},
	// test --test_tag_filters=fast
	{"TP-26", regexp.MustCompile(`(^|/)\.bazelrc$`), regexp.MustCompile(`^\s*(test|build)\b.*--(test_tag_filters|test_filter|test_lang_filters|build_tag_filters)=`), nil, 0},
	// go list ./... | grep -v slow
	{"TP-26", regexp.MustCompile(`(?i)(^|/)(GNU)?makefile$|\.mk$|\.sh$|\.ya?ml$|package\.json$|justfile$`), regexp.MustCompile(`\bgo list\b.*\|\s*e?grep\s+-[a-zA-Z]*v`), regexp.MustCompile(`grep.*-\w*v\w*\s+(-e\s+)?['"(/\\^]*(vendor|node_modules|mocks?|examples?|gen|generated|third_party|cmd|tools?|e2e|integration|benchmarks?|docs|testdata|test/|tests/)`), 0},
	// sources: ["CartTests.swift"]
	{"TP-26", regexp.MustCompile(`(^|/)Package\.swift$`), regexp.MustCompile(`\bsources:\s*\[\s*"[^"]*Tests?\.swift"`), nil, 0},
}

// lineRule returns the function that finds what the rows with an ID look for.
func lineRule(id string) facts.Finder {
	return facts.ForEach(facts.Files, func(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
		if !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) {
			return
		}
		for _, r := range lineTable {
			if r.id == id && r.file.MatchString(f.Path) {
				r.find(c, f, report)
			}
		}
	})
}

// find reports the added lines of a file that the row matches.
func (r *lineRow) find(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	for _, l := range f.AddedLines() {
		isExcepted := r.except != nil && r.except.MatchString(l.Text)
		if isExcepted || isComment(l.Text) || !r.line.MatchString(l.Text) || isMovedLine(c, l.Text) {
			continue
		}
		report(f.NewFinding(l.Number, strings.TrimSpace(l.Text)).WithSeverity(r.severity))
	}
}

// isMovedLine reports whether a line was removed from another file.
func isMovedLine(c *facts.Change, text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return slices.ContainsFunc(f.RemovedLines(), func(l facts.Line) bool { return strings.TrimSpace(l.Text) == text })
	})
}

// isComment reports whether a line of configuration is only a comment.
func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "#") || strings.HasPrefix(text, "//")
}

// registrationRows match, by file, the lines that register tests with a build. The group is the
// name of what is registered. The comment above a row has a line that it matches.
var registrationRows = []struct{ file, line *regexp.Regexp }{
	// add_test(NAME unit
	{regexp.MustCompile(`CMakeLists\.txt$|\.cmake$`), regexp.MustCompile(`^\s*(?:\w*add_\w*tests?\w*|\w*_add_tests?|` + framework.CMakeRegistration + `)\s*\(\s*(?:NAME\s+)?"?([\w./:+-]+)`)},
	// add_subdirectory(tests)
	{regexp.MustCompile(`CMakeLists\.txt$`), regexp.MustCompile(`^\s*(?:add_subdirectory)\s*\(\s*"?([\w./-]*(?i:tests?)[\w./-]*)`)},
	// enable_testing()
	{regexp.MustCompile(`CMakeLists\.txt$`), regexp.MustCompile(`^\s*(enable_testing)\s*\(`)},
	// test('unit', exe)
	{regexp.MustCompile(`(^|/)meson\.build$`), regexp.MustCompile(`^\s*test\s*\(\s*'([^']+)'`)},
	// .testTarget(name: "CartTests")
	{regexp.MustCompile(`(^|/)Package\.swift$`), regexp.MustCompile(`^\s*\.testTarget\s*\(\s*name:\s*"([^"]+)"`)},
	// Project("{FAE0}") = "CartTests"
	{regexp.MustCompile(`\.sln$`), regexp.MustCompile(`^Project\([^)]*\)\s*=\s*"([^"]*Tests?[^"]*)"`)},
	// <Project Path="CartTests.csproj" />
	{regexp.MustCompile(`\.slnx$`), regexp.MustCompile(`^\s*<Project\s+Path="([^"]*Tests?[^"]*proj)"`)},
	// include(":cart")
	{regexp.MustCompile(`(^|/)settings\.gradle(\.kts)?$`), regexp.MustCompile(`^\s*include\s*\(?\s*["']:?([\w.:/-]+)["']\s*\)?\s*$`)},
	// go_test(name = "cart_test")
	{regexp.MustCompile(`(^|/)BUILD(\.bazel)?$`), regexp.MustCompile(`^\s*(?:\w+_test)\s*\(\s*name\s*=\s*"([^"]+)"`)},
}

// findUnregisteredTests finds tests that are no longer registered with the build, although their
// files still exist.
func findUnregisteredTests(c *facts.Change, report facts.Report) {
	for _, r := range registrationRows {
		var before, after []registration
		for _, f := range c.Files {
			if r.file.MatchString(f.Path) {
				before = append(before, findRegistrations(f, f.RemovedLines(), r.line)...)
				after = append(after, findRegistrations(f, f.AddedLines(), r.line)...)
			}
		}

		if len(after) >= len(before) {
			continue // as many as before: renamed, or written otherwise
		}

		for _, x := range before {
			again := slices.ContainsFunc(after, func(y registration) bool { return y.name == x.name }) ||
				slices.ContainsFunc(x.file.AddedLines(), func(l facts.Line) bool { return strings.Contains(l.Text, `"`+x.name+`"`) })
			if x.file.After().Exists() && !again && !isFileDeleted(c, x.name) {
				report(facts.Finding{File: x.file.Path, Evidence: facts.ShortenEvidence(x.text + " is gone")})
			}
		}
	}
}

// registration is a line that registers tests.
type registration struct {
	file       *facts.ChangedFile
	name, text string
}

// findRegistrations returns the registrations among some lines of a file.
func findRegistrations(f *facts.ChangedFile, lines []facts.Line, expr *regexp.Regexp) []registration {
	var out []registration
	for _, l := range lines {
		if m := expr.FindStringSubmatch(l.Text); m != nil {
			out = append(out, registration{f, m[1], strings.TrimSpace(l.Text)})
		}
	}
	return out
}

// isFileDeleted reports whether a file was deleted or renamed whose old path contains the base name
// of a test.
func isFileDeleted(c *facts.Change, name string) bool {
	base := path.Base(strings.ReplaceAll(strings.ReplaceAll(name, `\`, "/"), ":", "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		old := f.Path
		if f.OldPath != "" {
			old = f.OldPath
		}
		return (f.Deleted || f.OldPath != "") && base != "" && strings.Contains("/"+old, base)
	})
}
