package parsers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/parsers"
)

// sameLint are reports of one run in several formats of one tool. The parts of
// a finding that all of them give are the same in all of them.
var sameLint = []struct{ parts, first, others string }{
	{"place level type rule", "mypy/mypy.txt", "mypy/colour.txt"},
	{"line level type rule", "mypy/mypy.txt", "mypy/pretty.txt"},
	{"line level type", "mypy/mypy.txt", "mypy/no-summary.txt mypy/mypy.jsonl"},
	{"place level type rule", "tsc/tsc.txt", "tsc/pretty.txt tsc/build.txt"},
	{"place level type rule", "tsc/config-error.txt", "tsc/config-error-pretty.txt"},
	{"place level type rule", "gcc-formats/gcc.txt", "gcc-formats/gcc-plain.txt gcc-formats/gcc-ascii.txt gcc-formats/make.txt"},
	{"place level type rule", "gcc-formats/gcc-warnings.txt", "gcc-formats/gcc-warnings.json"},
	{"place level type rule", "gcc-formats/g++.txt", "gcc-formats/g++.json"},
	{"place level type rule", "gcc-formats/clang.txt", "gcc-formats/clang-msvc.txt gcc-formats/clang-parseable.txt"},
	{"place level type", "gcc-formats/clang.txt", "gcc-formats/clang-categories.txt"},
	{"place level type", "maven/batch.txt", "maven/colour.txt maven/fail-never.txt"},
	{"place level type", "cargo/check.jsonl", "cargo/check.txt cargo/check-short.txt cargo/check-colour.txt"},
	{"place level", "cargo/clippy.txt", "cargo/clippy-short.txt"},
	{"place level rule", "eslint/json.json", "eslint/stylish.txt eslint/stylish-colour.txt eslint/compact.txt eslint/unix.txt"},
	{"place level rule", "flake8/flake8.txt", "flake8/colour.txt flake8/source-statistics.txt"},
	{"line level rule", "flake8/flake8.txt", "flake8/pylint.txt"},
	{"place level rule", "pylint/json.json", "pylint/text.txt pylint/colorized.txt"},
	{"line level rule", "pylint/json.json", "pylint/parseable.txt pylint/msvs.txt"},
	{"place level type rule", "pyright/pyright.json", "pyright/pyright.txt"},
	{"place level rule", "ruff/json.json", "ruff/concise.txt ruff/full.txt ruff/grouped.txt ruff/azure.txt"},
	{"line level rule", "ruff/json.json", "ruff/pylint.txt ruff/github.txt"},
	{"place level rule", "staticcheck/json.jsonl", "staticcheck/text.txt staticcheck/stylish.txt"},
	{"place rule", "golangci-lint-v2/json.json", "golangci-lint-v2/text.txt golangci-lint-v2/tab.txt golangci-lint-v2/default.txt golangci-lint-v2/colour.txt"},
	{"line rule", "golangci-lint-v2/json.json", "golangci-lint-v2/teamcity.txt"},
	{"place level rule", "shellcheck/json1.json", "shellcheck/gcc.txt"},
	{"line level rule", "shellcheck/json1.json", "shellcheck/tty.txt"},
	{"line level rule", "hadolint/json.json", "hadolint/gnu.txt hadolint/tty.txt"},
	{"place level rule", "rubocop/json.json", "rubocop/emacs.txt rubocop/clang.txt rubocop/simple.txt rubocop/progress.txt"},
	{"place level", "yamllint/parsable.txt", "yamllint/standard.txt yamllint/colored.txt yamllint/github.txt"},
	{"place level rule", "stylelint/json.json", "stylelint/string.txt stylelint/no-colour.txt stylelint/compact.txt stylelint/unix.txt"},
	{"place rule", "actionlint/json.json", "actionlint/text.txt actionlint/oneline.txt actionlint/colour.txt"},
	{"line rule", "markdownlint/json.json", "markdownlint/text.txt"},
	{"place level", "phpcs/json.json", "phpcs/emacs.txt"},
	{"line level", "phpcs/json.json", "phpcs/full.txt"},
	{"line level rule", "cppcheck/xml.xml", "cppcheck/text.txt"},
	{"line level", "cppcheck/text.txt", "cppcheck/template-cppcheck1.txt cppcheck/template-edit.txt cppcheck/template-vs.txt"},
	{"place level rule", "bandit/json.json", "bandit/txt.txt"},
	{"line level rule", "bandit/json.json", "bandit/custom.txt"},
	{"place rule", "sqlfluff/json.json", "sqlfluff/human.txt"},
	{"place", "luacheck/default.txt", "luacheck/plain.txt luacheck/visual_studio.txt luacheck/codes.txt"},
	{"line", "cpplint/emacs.txt", "cpplint/vs7.txt cpplint/eclipse.txt"},
	{"place level", "sphinx/output-file.txt", "sphinx/sphinx.txt sphinx/werror-console.txt"},
}

// TestFormatsOfOneLinterAgree compares what is read of one run in several formats.
func TestFormatsOfOneLinterAgree(t *testing.T) {
	for _, s := range sameLint {
		want := lintLines(t, s.first, s.parts)
		for _, other := range strings.Fields(s.others) {
			if diff := cmp.Diff(want, lintLines(t, other, s.parts)); diff != "" {
				t.Errorf("%s (-) and %s (+), %s:\n%s", s.first, other, s.parts, diff)
			}
		}
	}
}

// lintLines lists the parts of all findings.
func lintLines(t *testing.T, name, parts string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(fixtures, "lint", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := parsers.Parse(f, name)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, 0, len(r.Lint.Findings))
	for _, x := range r.Lint.Findings {
		out = append(out, lintParts(x, strings.Fields(parts)))
	}
	slices.Sort(out)
	return out
}

func lintParts(x metric.Finding, parts []string) string {
	out := filepath.Base(x.File)
	for _, part := range parts {
		switch part {
		case "place":
			out += fmt.Sprintf(":%d:%d", x.Line, x.Column)
		case "line":
			out += fmt.Sprintf(":%d", x.Line)
		case "level":
			out += " " + x.Level.String()
		case "rule":
			out += " " + x.Rule
		case "type":
			out += fmt.Sprint(" ", x.Type)
		}
	}
	return out
}
