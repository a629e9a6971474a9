package linttext

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// summary is a line in which a tool counts its findings, or reports that there are none. The
// groups of its expression are counts that [lintReader.compareTotal] compares with the findings
// since the last summary:
//
//	errors      errors
//	warnings    warnings
//	total       findings of any level
//	left        findings that biome did not print
//	ahead       warnings that clang-tidy counts before it prints them
//	suppressed  warnings of these that clang-tidy does not print
type summary struct {
	tool   string // "" if several tools print it
	unless string // the line is not a summary if this tool ran, which prints it with another meaning
	re     *regexp.Regexp
}

// summaries returns the compiled [summaryForms].
var summaries = sync.OnceValue(func() []summary {
	out := make([]summary, len(summaryForms))
	for i, f := range summaryForms {
		out[i] = summary{f.tool, f.unless, regexp.MustCompile(`^\s*(?:` + f.pattern + `)$`)}
	}
	return out
})

// summaryForms lists the summaries of all tools. The first form that matches a line counts.
var summaryForms = []struct{ tool, unless, pattern string }{
	{"mypy", "", `Success: no issues found in \d+ source files?`},
	{"mypy", "", `Found (?P<errors>\d+) errors? in \d+ files? \(.*\)`},
	{"pyright", "", `(?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?(?:, \d+ (?:informations?|notes?))?\s*`},
	{"ruff", "", `All checks passed!`},
	{"ruff", "", `Found \d+ errors? \(\d+ fixed, (?P<total>\d+) remaining\)\.`},
	{"biome", "", `Diagnostics not shown: (?P<left>\d+)\.`},
	{"ruff", "biome", `Found (?P<total>\d+) errors?\.`},
	{"biome", "", `Found (?P<errors>\d+) errors?\.`},
	{"biome", "", `Found (?P<warnings>\d+) warnings?\.`},
	{"staticcheck", "", `✖ (?P<total>\d+) problems? \(.* ignored\)`},
	{"", "", `only showing the first \d+ errors, of (?P<errors>\d+) total;.*`},
	{"", "", `only showing the first \d+ warnings, of (?P<warnings>\d+) total;.*`},
	{"", "", `Found (?P<errors>\d+) errors?(?: in \d+ files?\.| in the same file, starting at: .*)`},
	{"", "", `✖ (?P<total>\d+) problems? \(.*\)`},
	{"", "", `(?P<total>\d+) problems?(?: \(\d+ errors?, \d+ warnings?\))?`},
	{"eslint", "", `✔ No problems found`},
	{"golangci-lint", "", `(?P<total>\d+) issues[.:]`},
	{"pylint", "", `Your code has been rated at .*`},
	{"rubocop", "", `\d+ files? inspected, (?P<total>\d+|no) offenses? detected.*`},
	{"shellcheck", "", `No issues detected!`},
	{"stylelint", "", `0 problems found`},
	{"prettier", "", `All matched files use Prettier code style!`},
	{"black", "", `\d+ files? (?:would be )?left unchanged\.`},
	{"swiftlint", "", `Done linting! Found (?P<total>\d+) violations?, \d+ serious in \d+ files?\.`},
	{"oxlint", "", `Found (?P<warnings>\d+) warnings? and (?P<errors>\d+) errors?\.`},
	{"markdownlint", "", `Summary: (?P<total>\d+) error\(s\)`},
	{"ansible-lint", "", `Passed: 0 failure\(s\), 0 warning\(s\) (?:on|in) \d+ files?\..*`},
	{"svelte-check", "", `svelte-check found 0 errors and 0 warnings.*`},
	{"bandit", "", `No issues identified\.`},
	{"sqlfluff", "", `All Finished.*`},
	{"credo", "", `\d+ mods/funs, found no issues\.`},
	{"eslint", "", `✔ No ESLint warnings or errors`},
	{"haml-lint", "", `\d+ files? inspected, (?P<total>\d+) lints? detected`},
	{"brakeman", "", `No warnings found`},
	{"sorbet", "", `No errors! Great job\.`},
	{"flow", "", `No errors!`},
	{"msbuild", "", `0 Error\(s\)`},
	{"phpstan", "", `\[OK\] No errors`},
	{"phpstan", "", `\[ERROR\] Found (?P<total>\d+) errors?`},
	{"psalm", "", `No errors found!`},
	{"luacheck", "", `Total: (?P<warnings>\d+) warnings? / (?P<errors>\d+) errors? in \d+ files?`},
	{"perlcritic", "", `\S+ source OK`},
	{"cpplint", "", `Total errors found: (?P<total>\d+)`},
	{"dart", "", `No issues found!.*`},
	{"crystal", "", `A total of (?P<warnings>\d+) warnings were found\.`},
	{"biome", "", `Checked \d+ files? in \S+ No fixes (?:applied|needed)\.`},
	{"clang-tidy", "", `Suppressed (?P<suppressed>\d+) warnings? \(.*\)\.?`},
	{"", "", `(?P<ahead>\d+) warnings? generated\.`},
	{"", "", `(?P<errors>\d+) errors?(?: generated\.)?`},
	{"", "", `(?P<warnings>\d+) warnings?`},
	{"", "", `(?P<warnings>\d+) warnings? and (?P<errors>\d+) errors? generated\.`},
	{"", "", `Finished .* target\(s\) in .*`},
}

// crashes are the first words of a tool that crashed.
var crashes = []string{
	"Traceback (most recent call last):", "Oops! Something went wrong! :(", "Error: Cannot find module ", "Exception in thread \"", "panic: ",
	"thread 'main' panicked at", "INTERNAL ERROR: ", "fatal error: unexpected signal", "Segmentation fault",
}

// noCommandPattern matches the message of a shell about a missing command: "sh: 1: eslint: not
// found".
var noCommandPattern = regexp.MustCompile(`^(?:\S*/)?(?:(?:ba|z|da|k)?sh|\S+\.sh): ?(?:line )?\d*:? ?.*not found`)

// rubyErrorPattern matches the first line of an exception of Ruby: "a.rb:3:in `x'".
var rubyErrorPattern = regexp.MustCompile(`^\S+:\d+:in ['` + "`" + `]`)

// handleCrash records the crash of a tool, and reports whether the line is one.
func (l *lintReader) handleCrash(s string) bool {
	hasPrefix := func(words string) bool { return strings.HasPrefix(s, words) }
	isMissingCommand := strings.Contains(s, "not found") && noCommandPattern.MatchString(s)
	isRubyError := strings.Contains(s, ":in ") && rubyErrorPattern.MatchString(s)
	if !isMissingCommand && !isRubyError && !slices.ContainsFunc(crashes, hasPrefix) {
		return false
	}
	if l.err == nil {
		l.err = l.line.Error("a tool broke off: %s", textstream.CleanText(s))
	}
	return true
}

// maxSummaryLength is longer than any summary.
const maxSummaryLength = 160

// handleSummary compares the counts in a summary with the findings, and reports whether the
// line is one.
func (l *lintReader) handleSummary(s string, known kinds) bool {
	if len(s) > maxSummaryLength {
		return false
	}
	for _, i := range known.summaries {
		form := &summaries()[i]
		m := form.re.FindStringSubmatch(s)
		if m == nil || slices.Contains(l.Tools, form.unless) {
			continue
		}
		if form.tool != "" {
			l.AddTool(form.tool)
			l.summarizedTools[form.tool] = true
		}

		for i, name := range form.re.SubexpNames() {
			if name != "" && m[i] != "" {
				n, _ := strconv.Atoi(m[i]) // "no" is 0
				l.compareTotal(name, n, s)
			}
		}
		return true
	}
	return false
}

// compareTotal compares one count of a summary with the findings since the last one, and adds a
// problem if they differ. What is the group of the count: see [summary].
func (l *lintReader) compareTotal(what string, n int, summary string) {
	switch {
	case what == "left":
		l.err = l.line.Error("biome left out %d diagnostics: run it with --max-diagnostics=none", n)
		return
	case what == "suppressed":
		if l.announced -= n; l.announced <= 0 {
			l.unconfirmed = ""
		}
		return
	case what == "ahead" && l.counts.total == 0: // clang-tidy counts first, with what it will suppress
		l.announced += n
		l.unconfirmed = textstream.CleanText(summary)
		return
	case what == "ahead":
		what = "warnings"
	}

	got := map[string]*int{"errors": &l.counts.errors, "warnings": &l.counts.warnings, "total": &l.counts.total}[what]
	if n > 0 {
		l.unconfirmed = textstream.CleanText(summary)
	}

	if *got != n {
		l.Problems.Add("%d %s were read where the summary says %q", *got, strings.Replace(what, "total", "findings", 1), textstream.CleanText(summary))
	}
	*got = 0
}
