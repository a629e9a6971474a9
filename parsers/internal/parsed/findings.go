package parsed

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// RustcErrorPattern matches the code of a compiler error, such as E0308. Other codes are lints.
var RustcErrorPattern = regexp.MustCompile(`^E\d{4}$`)

// FindingSet collects the findings of one report and the tools that ran. Equal findings with a
// line count once.
type FindingSet struct {
	metric.Lint
	Problems textstream.Problems
	seen     SeenFindings // findings with a line
}

// NewFindingSet returns an empty set.
func NewFindingSet() *FindingSet {
	return &FindingSet{Lint: metric.Lint{Findings: []metric.Finding{}}}
}

// AddTool records that a tool ran, whether or not it found something.
func (s *FindingSet) AddTool(tool string) {
	if tool != "" && !slices.Contains(s.Tools, tool) {
		s.Tools = append(s.Tools, tool)
		slices.Sort(s.Tools)
	}
}

// Add adds a finding, unless it has a line and was added before.
func (s *FindingSet) Add(f metric.Finding) {
	s.AddTool(f.Tool)
	if f.Line > 0 && !s.seen.Add(f, "") {
		return
	}
	s.Findings = AppendLimited(s.Findings, f)
}

// isMeaningless reports whether none of the findings has a file, rule or message. Then
// the report is of another format with the same member names.
func (s *FindingSet) isMeaningless() bool {
	hasContent := func(f metric.Finding) bool { return f.Rule != "" || f.Message != "" || f.File != "" }
	return len(s.Findings) > 0 && !slices.ContainsFunc(s.Findings, hasContent)
}

// Report returns the report with the collected findings, and err. Producer is the tool that
// wrote it. Noise is the first line of text outside of the report, "" for none. If err is nil
// and the findings have no content, the error is [ErrUnknownFormat].
func (s *FindingSet) Report(producer, noise string, err error) (Report, error) {
	if noise = strings.Trim(noise, "\x00"); noise != "" {
		s.Problems.Add("text outside of the report: %s", noise)
	}
	if err == nil && s.isMeaningless() {
		err = fmt.Errorf("%w: its findings name no file, rule or message", ErrUnknownFormat)
	}
	return Report{Producer: producer, Lint: &s.Lint, Problems: s.Problems.All()}, err
}

// typeCheckers lists the tools whose errors are type or compiler errors.
var typeCheckers = map[string]bool{
	"mypy": true, "pyright": true, "basedpyright": true, "ty": true, "pyre": true, "pyrefly": true, "tsc": true, "typescript": true,
	"rustc": true, "gcc": true, "clang": true, "clang++": true, "g++": true, "javac": true, "ecj": true, "kotlinc": true, "scalac": true,
	"go build": true, "csc": true, "msvc": true, "flow": true, "sorbet": true,
}

// compilerRules matches the rules of compiler errors, by tool in lower case. These tools report
// both compiler errors and other findings: "E0308" with clippy is an error of rustc, and
// "CS0103" one of the C# compiler.
var compilerRules = map[string]*regexp.Regexp{
	"clippy":                              RustcErrorPattern,
	"microsoft (r) visual c# compiler":    regexp.MustCompile(`^CS\d{4}$`),
	"microsoft (r) visual basic compiler": regexp.MustCompile(`^BC\d{4,5}$`),
}

// IsTypeChecker reports whether all errors of the tool are type or compiler errors.
func IsTypeChecker(tool string) bool {
	tool = strings.ToLower(tool)
	return typeCheckers[tool] || strings.HasPrefix(tool, "gnu c") || strings.HasPrefix(tool, "microsoft (r) c/c++")
}

// strictToolPattern matches the names, in lower case, of the tools that can exit with a failure
// for warnings or notes alone.
var strictToolPattern = regexp.MustCompile(`^(actionlint|ansible-lint|bandit|(based)?pyright|biome|black|brakeman|checkstyle|clang-tidy|codechecker|codespell|cppcheck|cpplint|credo|` +
	`dart|detekt|dotenv-linter|doxygen|eslint|flake8|golangci-lint|hadolint|haml-lint|hlint|isort|javadoc|ktlint|luacheck|markdownlint|mypy|oxlint|` +
	`perlcritic|php(cs|stan)|prettier|psalm|puppet-lint|pydocstyle|pylint|reek|rubocop|ruff|rustfmt|scalastyle|semgrep|shellcheck|slim-lint|sphinx|spotbugs|` +
	`sqlfluff|standard|staticcheck|stylelint|svelte-check|swiftlint|tslint|yamllint)$`)

// FailsOnWarnings reports whether the tool can fail without finding an error. A compiler
// cannot: if it failed, it printed an error that was not read.
func FailsOnWarnings(tool string) bool { return strictToolPattern.MatchString(strings.ToLower(tool)) }

// IsTypeError reports whether an error of the tool with the rule is a type or compiler error.
func IsTypeError(tool, rule string) bool {
	rules := compilerRules[strings.ToLower(tool)]
	return IsTypeChecker(tool) || rules != nil && rules.MatchString(rule)
}

// RequireFound returns err. If that is nil and nothing of the format was found in the report,
// it returns an error that says so. What names the thing, such as "finding".
func RequireFound(err error, found bool, what string) error {
	if err == nil && !found {
		err = fmt.Errorf("%w: there is no %s in it", ErrUnknownFormat, what)
	}
	return err
}
