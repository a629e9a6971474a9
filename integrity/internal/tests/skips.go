package tests

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// newSkip is a skip that an existing test has now and had not before.
type newSkip struct {
	facts.Pair
	source.Mark
}

// newSkips are all new skips. The skip of a group or a file is listed once.
var newSkips = facts.Define(func(c *facts.Change) []newSkip {
	var out []newSkip
	type place struct {
		s    *facts.Side
		line int
	}
	seen := map[place]bool{}
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Before.NeverRuns() {
			continue
		}
		old := p.Before.MarksCovering(source.Skip)
		for _, m := range p.After.MarksCovering(source.Skip) {
			at := place{p.After.Side, m.Line}
			if seen[at] || facts.IsPanicAttribute(p, m.Text) || slices.ContainsFunc(old, func(o source.Mark) bool { return areEquivalentMarks(o, m) }) {
				continue
			}
			seen[at] = true
			out = append(out, newSkip{p, m})
		}
	}
	return out
})

// areEquivalentMarks reports whether two skips have the same condition, wherever they are.
func areEquivalentMarks(a, b source.Mark) bool {
	return facts.RemoveSpace(a.Condition) == facts.RemoveSpace(b.Condition) && a.Constant == b.Constant && (a.Condition != "" || a.IsUnconditional() == b.IsUnconditional())
}

// finding returns the finding about a skip, with its condition if the text of the skip does not
// contain it.
func (s newSkip) finding(severity metric.Severity) facts.Finding {
	f := s.After.NewFinding(s.Line, s.Text).WithSeverity(severity)
	if s.Condition != "" && !strings.Contains(facts.RemoveSpace(s.Text), facts.RemoveSpace(s.Condition)) {
		f.Evidence = facts.ShortenEvidence(s.Text + " when " + s.Condition)
	}
	return f
}

// unconditionalFinding returns the finding of an unconditional skip: with the severity of the rule,
// unless it is intended, or states a reason.
func (s newSkip) unconditionalFinding(intended bool) facts.Finding {
	switch {
	case intended:
		return s.finding(metric.High)
	case s.statesReason():
		f := s.finding(metric.High)
		f.SeverityIfRan = metric.Critical
		return f
	}
	return s.finding(0)
}

// findSkippedTests finds tests that are now skipped unconditionally.
func findSkippedTests(_ *facts.Change, s newSkip, report facts.Report) {
	if s.Scope == source.OnTest && s.Condition == "" {
		report(s.unconditionalFinding(intendedFailureRE.MatchString(s.Text)))
	}
}

// intendedFailureRE matches expected failures that may be the purpose of a test, such as
// #[should_panic] and it.fails.
var intendedFailureRE = regexp.MustCompile(`should_panic|XCTExpectFailure|withKnownIssue|\b(?:test|it)\.(?:\w+\.)?fail(?:s|ing)\b`)

// findDisabledGroups finds groups and files of tests that are now skipped, or built only under a
// condition.
func findDisabledGroups(c *facts.Change, s newSkip, report facts.Report) {
	switch {
	case s.Scope == source.OnTest:
	case s.Condition == "":
		report(s.unconditionalFinding(false))
	case s.Constant:
		report(s.finding(metric.Critical))
	case hasCustomTag(s), hasCustomConfig(s), hasCustomSymbol(c, s), hasUnknownFeature(c, s):
		report(s.finding(metric.High))
	default:
		report(s.finding(facts.ConditionSeverity(s.Condition)))
	}
}

// hasCustomTag reports whether a Go file is built only with a tag that does not name a platform,
// such as the tag slow.
func hasCustomTag(s newSkip) bool {
	tag, ok := strings.CutPrefix(s.Text, "//go:build ")
	return ok && !strings.HasPrefix(tag, "!") && !goPlatformRE.MatchString(tag)
}

// hasCustomConfig reports whether tests of Rust, which were built with the other tests before, are
// built only under a configuration that nothing sets, as in #[cfg(disabled)].
func hasCustomConfig(s newSkip) bool {
	m := rustConfigRE.FindStringSubmatch(s.Text)
	return m != nil && !slices.Contains(knownRustConfigs, m[1]) && strings.Contains(string(s.Before.Side.Text), "#[cfg(test)]")
}

// rustFeatureRE matches a condition on a feature of Cargo: feature = "slow".
var rustFeatureRE = regexp.MustCompile(`\bfeature\s*=\s*"([^"]+)"`)

// hasUnknownFeature reports whether a test of Rust runs only with a feature that no manifest of the
// project has. It is false if the project is not known.
func hasUnknownFeature(c *facts.Change, s newSkip) bool {
	m := rustFeatureRE.FindStringSubmatch(s.Text)
	isBaseKnown := c.Base.Paths != nil && c.Base.Texts != nil
	if m == nil || !isBaseKnown || s.After.Side.Language() != source.Rust || strings.Contains(string(s.Before.Side.Text), `"`+m[1]+`"`) {
		return false
	}

	manifest := func(name string) bool { return path.Base(name) == "Cargo.toml" }
	texts := c.Base.Texts(slices.DeleteFunc(slices.Clone(c.Base.Paths()), func(name string) bool { return !manifest(name) }))
	for _, f := range c.Files {
		if manifest(f.Path) {
			texts[f.Path] = f.After().Text
		}
	}

	for _, text := range texts {
		if strings.Contains(string(text), m[1]) {
			return false
		}
	}
	return len(texts) > 0
}

// preprocessorRE matches a condition of the preprocessor of C, as in "#ifdef RUN_SLOW", and symbolRE
// the symbols in it.
var (
	preprocessorRE = regexp.MustCompile(`^#\s*(?:if|ifdef|ifndef|elif)\s+(.*)$`)
	symbolRE       = regexp.MustCompile(`[A-Za-z_]\w{2,}`)
	// knownSymbolRE matches names that compilers, platforms and build systems set, or that say what
	// a build has, such as HAVE_ZLIB and linux.
	knownSymbolRE = regexp.MustCompile(`(?i)^(?:and|not|true|_|win|linux|unix|apple|mac|osx|ios|tvos|watchos|android|msvc|mingw|cygwin|emscripten|wasm|cplusplus|cpp\d|net\d|net_|netcore|netstandard|netframework|netfx|mono|unity|n?debug|release|canimport|compiler|swift|arch|os$|targetenv|hasfeature|hasattribute|xcode|darwin|windows|freebsd|posix|glibc|boost|gtest|catch)|(?:^|_)(?:USE|HAS|HAVE|HAVES|ENABLE|ENABLED|SUPPORT\w*|WITH|WITHOUT|NO|FEATURE\w*|VERSION|VER|MSC|GCC|GNUC|CLANG|STD|API|PLATFORM|ARCH|SSE|AVX|EXCEPTIONS|RTTI|THREADS|LOCALE|UNICODE|CONSTEXPR|MODULES|SHARED|STATIC|CPLUSPLUS|CPP|CXX|LANG|OS|TARGET|COMPILER|INTEL|ARM|GPU|CUDA|OPENSSL|ZLIB|ICU)(?:_|$|\d)`)
)

// hasCustomSymbol reports whether tests are built only if a symbol is defined that no known tool
// sets, that their file did not use before, and that no changed file defines.
func hasCustomSymbol(c *facts.Change, s newSkip) bool {
	m := preprocessorRE.FindStringSubmatch(s.Text)
	if m == nil || strings.ContainsAny(m[1], "<>") { // a version
		return false
	}
	names := symbolRE.FindAllString(strings.ReplaceAll(m[1], "defined", ""), -1)
	for _, name := range names {
		if knownSymbolRE.MatchString(name) || strings.Contains(string(s.Before.Side.Text), name) {
			return false
		}
		use := regexp.MustCompile(`(?m)(?:#\s*define\s+|-D\s*|<DefineConstants>.*|\b(?:define|definitions)\W+)` + name + `\b`)
		if slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return use.Match(f.After().Text) }) {
			return false
		}
	}
	return len(names) > 0
}

// rustConfigRE matches an attribute with a single condition, such as #[cfg(unix)]. knownRustConfigs
// are conditions that the compiler or a tool sets.
var (
	rustConfigRE     = regexp.MustCompile(`^#!?\[cfg\((\w+)\)\]`)
	knownRustConfigs = strings.Fields("test unix windows debug_assertions miri doc doctest loom fuzzing tarpaulin nightly proc_macro panic overflow_checks")
)

// goPlatformRE matches tags that name a platform or are set by the go command.
var goPlatformRE = regexp.MustCompile(`\b(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|unix|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|cgo|race|go1\.\d+|gc|gccgo|purego|appengine|tinygo)\b`)

// findConditionalSkips finds tests that are now skipped under a condition.
func findConditionalSkips(c *facts.Change, s newSkip, report facts.Report) {
	switch {
	case s.Scope != source.OnTest || s.Condition == "" || strings.HasPrefix(s.Condition, "never: "):
	case s.Constant, hasUnknownFeature(c, s):
		report(s.finding(metric.High))
	default:
		report(s.finding(facts.ConditionSeverity(s.Condition)))
	}
}

// chosenCallRE matches a call of one of two functions that define tests, of which one skips: (cond
// ? it.skip : it)("title", and the reverse. The groups are the condition, the two functions, and
// the text from the title on.
var chosenCallRE = regexp.MustCompile("\\(\\s*(.+?)\\s*\\?\\s*((?:x|f)?(?:it|test|describe)\\b[\\w.]*)\\s*:\\s*((?:x|f)?(?:it|test|describe)\\b[\\w.]*)\\s*\\)\\s*\\(\\s*[\"'`](.*)")

// skippingCallRE matches functions that define tests which are not run, such as xit and it.skip.
var skippingCallRE = regexp.MustCompile(`^x|\.(?:skip|todo)\b`)

// findChosenSkips finds existing tests that a call of one of two functions defines now.
func findChosenSkips(_ *facts.Change, l lostTest, report facts.Report) {
	if l.kind != lostByChoice {
		return
	}
	f := l.finding(l.side.LineAt(l.line))
	m := chosenCallRE.FindStringSubmatch(l.side.LineAt(l.line))
	f.ExplainedBy, f.Severity = "", facts.ConditionSeverity(m[1])
	if value, known := source.ConstantValue(m[1]); known && value == skippingCallRE.MatchString(m[2]) {
		f.Severity = metric.High
	}
	report(f)
}

// chosenLine returns the line of the call that defines a lost test now, 0 if there is none.
func chosenLine(l facts.Loss) int {
	title := strings.TrimSpace(strings.TrimPrefix(l.Name, l.Class))
	for _, a := range l.File.AddedLines() {
		m := chosenCallRE.FindStringSubmatch(a.Text)
		if m != nil && title != "" && strings.HasPrefix(m[4], title) && skippingCallRE.MatchString(m[2]) != skippingCallRE.MatchString(m[3]) {
			return a.Number
		}
	}
	return 0
}

// findFocus finds the first new focus on a test, because of which other tests do not run.
func findFocus(f *facts.ChangedFile, report facts.Report) {
	if !f.After().MayHoldTests() || f.Added && configtext.DataFolderRE.MatchString(f.Path) { // what tests read
		return
	}
	added := f.NewMarks(source.Focus)
	if len(added) == 0 {
		return
	}
	x := f.NewFinding(added[0].Line, added[0].Text)
	for _, t := range f.After().Inspection().Tests {
		if t.Line == x.Line {
			x.Test = t.Name
		}
	}
	if f.Added {
		x.Severity = metric.High
	}
	report(x)
}

// findDeadAssertions finds assertions of existing tests that are no longer reached. A test that
// lost all its assertions is left to other rules.
func findDeadAssertions(_ *facts.Change, p facts.Pair, report facts.Report) {
	dead := deadMarks(p.After)
	isParentDead := p.After.Parent != nil && len(deadMarks(p.After.Parent)) > 0
	if len(dead) == 0 || len(deadMarks(p.Before)) > 0 || isParentDead {
		return
	}
	unreached, total := p.After.CountAssertionsIn(dead), len(p.After.Assertions)
	losesAll := total == 0 && len(p.Before.Assertions) > 0
	if unreached == 0 && total > 0 || losesAll {
		return
	}
	f := p.After.NewFinding(dead[0].Line, fmt.Sprintf("%s: %d of %d assertions are not reached", dead[0].Text, unreached, total))
	if unreached < total || total == 0 {
		f.Severity = metric.High
	}
	report(f)
}

// deadMarks returns the marks of lines within a test that are never reached.
func deadMarks(t *facts.Test) []source.Mark { return t.MarksWithin(source.Unreachable) }
