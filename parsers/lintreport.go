package parsers

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// lintReport gathers the findings of one report.
type lintReport struct {
	metric.Lint
	problems textstream.Problems
	seen     map[metric.Finding]bool // those with a place
}

func newLint() *lintReport {
	return &lintReport{Lint: metric.Lint{Findings: []metric.Finding{}}, seen: map[metric.Finding]bool{}}
}

// heard tells that a tool ran, whether or not it found something.
func (l *lintReport) heard(tool string) {
	if tool != "" && !slices.Contains(l.Tools, tool) {
		l.Tools = append(l.Tools, tool)
		slices.Sort(l.Tools)
	}
}

// keep takes a finding. One that stands twice, at one place with one message, is
// one.
func (l *lintReport) keep(f metric.Finding) {
	l.heard(f.Tool)
	if f.Line > 0 {
		if l.seen[f] {
			return
		}
		l.seen[f] = true
	}
	l.Findings = keep(l.Findings, f)
}

// hollow reports whether none of the findings names a file, rule or message:
// then they are something else of the same name.
func (l *lintReport) hollow() bool {
	return len(l.Findings) > 0 && !slices.ContainsFunc(l.Findings, func(f metric.Finding) bool {
		return f.Rule != "" || f.Message != "" || f.File != ""
	})
}

// report returns what was gathered. Noise is the first line of text that did
// not belong to the report.
func (l *lintReport) report(producer, noise string, err error) (Report, error) {
	if noise = strings.Trim(noise, "\x00"); noise != "" {
		l.problems.Add("text outside of the report: %s", noise)
	}
	if err == nil && l.hollow() {
		err = fmt.Errorf("%w: what stands in place of its findings names no file, rule or message", ErrUnknownFormat)
	}
	return Report{Producer: producer, Lint: &l.Lint, Problems: l.problems.All()}, err
}

// typeCheckers are the tools whose errors are type or compiler errors.
var typeCheckers = map[string]bool{
	"mypy": true, "pyright": true, "basedpyright": true, "ty": true, "pyre": true, "pyrefly": true, "tsc": true, "typescript": true,
	"rustc": true, "gcc": true, "clang": true, "clang++": true, "g++": true, "javac": true, "ecj": true, "kotlinc": true, "scalac": true,
	"go build": true, "csc": true, "msvc": true, "flow": true, "sorbet": true,
}

// typeRules are tools that pass on the errors of a compiler beside their own:
// the rules by which those are told.
var typeRules = map[string]*regexp.Regexp{
	"clippy":                              rustcError,
	"microsoft (r) visual c# compiler":    regexp.MustCompile(`^CS\d{4}$`),
	"microsoft (r) visual basic compiler": regexp.MustCompile(`^BC\d{4,5}$`),
}

// checksTypes reports whether errors of the tool are type or compiler errors.
func checksTypes(tool string) bool {
	tool = strings.ToLower(tool)
	return typeCheckers[tool] || strings.HasPrefix(tool, "gnu c") || strings.HasPrefix(tool, "microsoft (r) c/c++")
}

// typeError is checksTypes for an error of the rule.
func typeError(tool, rule string) bool {
	rules := typeRules[strings.ToLower(tool)]
	return checksTypes(tool) || rules != nil && rules.MatchString(rule)
}

// nothingFound gives the error of a report in which nothing of its format is.
func nothingFound(err error, found bool, what string) error {
	if err == nil && !found {
		err = fmt.Errorf("%w: there is no %s in it", ErrUnknownFormat, what)
	}
	return err
}
