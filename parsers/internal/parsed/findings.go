package parsed

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// RustcError is the code of an error; other codes are lints, which may be denied.
var RustcError = regexp.MustCompile(`^E\d{4}$`)

// FindingSet gathers the findings of one report.
type FindingSet struct {
	metric.Lint
	Problems textstream.Problems
	seen     Seen // those with a place
}

// NewFindingSet returns an empty set.
func NewFindingSet() *FindingSet {
	return &FindingSet{Lint: metric.Lint{Findings: []metric.Finding{}}}
}

// Heard records that a tool ran, whether or not it found something.
func (l *FindingSet) Heard(tool string) {
	if tool != "" && !slices.Contains(l.Tools, tool) {
		l.Tools = append(l.Tools, tool)
		slices.Sort(l.Tools)
	}
}

// Keep takes a finding. One that is repeated, at one place with one message,
// counts once.
func (l *FindingSet) Keep(f metric.Finding) {
	l.Heard(f.Tool)
	if f.Line > 0 && !l.seen.Add(f, "") {
		return
	}
	l.Findings = Keep(l.Findings, f)
}

// hollow reports whether none of the findings names a file, rule or message:
// then they are something else of the same name.
func (l *FindingSet) hollow() bool {
	return len(l.Findings) > 0 && !slices.ContainsFunc(l.Findings, func(f metric.Finding) bool {
		return f.Rule != "" || f.Message != "" || f.File != ""
	})
}

// Report returns what was gathered. Noise is the first line of text that did
// not belong to the report.
func (l *FindingSet) Report(producer, noise string, err error) (Report, error) {
	if noise = strings.Trim(noise, "\x00"); noise != "" {
		l.Problems.Add("text outside of the report: %s", noise)
	}
	if err == nil && l.hollow() {
		err = fmt.Errorf("%w: its findings name no file, rule or message", ErrUnknownFormat)
	}
	return Report{Producer: producer, Lint: &l.Lint, Problems: l.Problems.All()}, err
}

// typeCheckers are the tools whose errors are type or compiler errors.
var typeCheckers = map[string]bool{
	"mypy": true, "pyright": true, "basedpyright": true, "ty": true, "pyre": true, "pyrefly": true, "tsc": true, "typescript": true,
	"rustc": true, "gcc": true, "clang": true, "clang++": true, "g++": true, "javac": true, "ecj": true, "kotlinc": true, "scalac": true,
	"go build": true, "csc": true, "msvc": true, "flow": true, "sorbet": true,
}

// typeRules are tools that pass on the errors of a compiler in addition to their own:
// the rules of those errors.
var typeRules = map[string]*regexp.Regexp{
	"clippy":                              RustcError,
	"microsoft (r) visual c# compiler":    regexp.MustCompile(`^CS\d{4}$`),
	"microsoft (r) visual basic compiler": regexp.MustCompile(`^BC\d{4,5}$`),
}

// ChecksTypes reports whether errors of the tool are type or compiler errors.
func ChecksTypes(tool string) bool {
	tool = strings.ToLower(tool)
	return typeCheckers[tool] || strings.HasPrefix(tool, "gnu c") || strings.HasPrefix(tool, "microsoft (r) c/c++")
}

// strict are the tools that fail because of warnings or notes alone, always or as they
// are configured.
var strict = regexp.MustCompile(`^(actionlint|ansible-lint|bandit|(based)?pyright|biome|black|brakeman|checkstyle|clang-tidy|codechecker|codespell|cppcheck|cpplint|credo|` +
	`dart|detekt|dotenv-linter|doxygen|eslint|flake8|golangci-lint|hadolint|haml-lint|hlint|isort|javadoc|ktlint|luacheck|markdownlint|mypy|oxlint|` +
	`perlcritic|php(cs|stan)|prettier|psalm|puppet-lint|pydocstyle|pylint|reek|rubocop|ruff|rustfmt|scalastyle|semgrep|shellcheck|slim-lint|sphinx|spotbugs|` +
	`sqlfluff|standard|staticcheck|stylelint|svelte-check|swiftlint|tslint|yamllint)$`)

// FailsOnWarnings reports whether the tool may fail although it found no error. A
// compiler does not: it printed an error that was not read.
func FailsOnWarnings(tool string) bool { return strict.MatchString(strings.ToLower(tool)) }

// TypeError is checksTypes for an error of the rule.
func TypeError(tool, rule string) bool {
	rules := typeRules[strings.ToLower(tool)]
	return ChecksTypes(tool) || rules != nil && rules.MatchString(rule)
}

// NothingFound gives the error of a report in which nothing of its format is.
func NothingFound(err error, found bool, what string) error {
	if err == nil && !found {
		err = fmt.Errorf("%w: there is no %s in it", ErrUnknownFormat, what)
	}
	return err
}
