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

// newSkips are all new skips; one of a group or a file is listed once.
var newSkips = facts.Define(func(c *facts.Set) []newSkip {
	var out []newSkip
	type place struct {
		s    *facts.Side
		line int
	}
	seen := map[place]bool{}
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Was.NeverRuns() {
			continue
		}
		old := p.Was.Marks(source.Skip)
		for _, m := range p.Now.Marks(source.Skip) {
			at := place{p.Now.Side, m.Line}
			if seen[at] || facts.FailsByAttribute(p, m.Text) || slices.ContainsFunc(old, func(o source.Mark) bool { return sameMark(o, m) }) {
				continue
			}
			seen[at] = true
			out = append(out, newSkip{p, m})
		}
	}
	return out
})

// sameMark reports whether two marks are equivalent, wherever they are.
func sameMark(a, b source.Mark) bool {
	return facts.Squash(a.Condition) == facts.Squash(b.Condition) && a.Constant == b.Constant && (a.Condition != "" || a.IsUnconditional() == b.IsUnconditional())
}

func (s newSkip) finding(severity metric.Severity) facts.Finding {
	f := facts.Finding{Severity: severity, File: s.Now.Side.Path, Line: s.Line, Test: s.Now.Name, Evidence: facts.Evidence(s.Text)}
	if s.Condition != "" && !strings.Contains(facts.Squash(s.Text), facts.Squash(s.Condition)) {
		f.Evidence = facts.Evidence(s.Text + " when " + s.Condition)
	}
	return f
}

// unless returns the finding of an unconditional skip: with the severity of the rule,
// unless it is intended, or states a reason.
func (s newSkip) unless(meant bool) facts.Finding {
	switch {
	case meant:
		return s.finding(metric.High)
	case s.reasoned():
		f := s.finding(metric.High)
		f.SeverityIfRan = metric.Critical
		return f
	}
	return s.finding(0)
}

func findSkipped(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, s := range newSkips.Of(c) {
		if s.Scope == source.OnTest && s.Condition == "" {
			out = append(out, s.unless(maybeMeant.MatchString(s.Text)))
		}
	}
	return out
}

// maybeMeant matches expected failures that may be the purpose of a test.
var maybeMeant = regexp.MustCompile(`should_panic|XCTExpectFailure|withKnownIssue|\b(?:test|it)\.(?:\w+\.)?fail(?:s|ing)\b`)

func findGroupDisabled(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, s := range newSkips.Of(c) {
		switch {
		case s.Scope == source.OnTest:
		case s.Condition == "":
			out = append(out, s.unless(false))
		case !s.Constant:
			severity := facts.ConditionSeverity(s.Condition)
			if customTag(s) || customConfig(s) || customSymbol(c, s) || unknownFeature(c, s) {
				severity = metric.High
			}
			out = append(out, s.finding(severity))
		default:
			out = append(out, s.finding(metric.Critical))
		}
	}
	return out
}

// customTag reports whether a Go file is built only with a tag that does not name a
// platform.
func customTag(s newSkip) bool {
	tag, ok := strings.CutPrefix(s.Text, "//go:build ")
	return ok && !strings.HasPrefix(tag, "!") && !goPlatform.MatchString(tag)
}

// customConfig reports whether tests of Rust that were built with the tests are
// built only under a configuration that nothing sets, "#[cfg(disabled)]".
func customConfig(s newSkip) bool {
	m := rustConfig.FindStringSubmatch(s.Text)
	return m != nil && !slices.Contains(rustKnown, m[1]) && strings.Contains(string(s.Was.Side.Text), "#[cfg(test)]")
}

var rustFeature = regexp.MustCompile(`\bfeature\s*=\s*"([^"]+)"`)

// unknownFeature reports whether a test of Rust runs only with a feature that no
// manifest of the project has.
func unknownFeature(c *facts.Set, s newSkip) bool {
	m := rustFeature.FindStringSubmatch(s.Text)
	if m == nil || s.Now.Side.Language() != source.Rust || strings.Contains(string(s.Was.Side.Text), `"`+m[1]+`"`) || c.Base.Paths == nil || c.Base.Texts == nil {
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

var (
	buildSymbols = regexp.MustCompile(`^#\s*(?:if|ifdef|ifndef|elif)\s+(.*)$`)
	symbol       = regexp.MustCompile(`[A-Za-z_]\w{2,}`)
	// knownSymbols are names that compilers, platforms and build systems set, or that
	// say what a build has.
	knownSymbols = regexp.MustCompile(`(?i)^(?:and|not|true|_|win|linux|unix|apple|mac|osx|ios|tvos|watchos|android|msvc|mingw|cygwin|emscripten|wasm|cplusplus|cpp\d|net\d|net_|netcore|netstandard|netframework|netfx|mono|unity|n?debug|release|canimport|compiler|swift|arch|os$|targetenv|hasfeature|hasattribute|xcode|darwin|windows|freebsd|posix|glibc|boost|gtest|catch)|(?:^|_)(?:USE|HAS|HAVE|HAVES|ENABLE|ENABLED|SUPPORT\w*|WITH|WITHOUT|NO|FEATURE\w*|VERSION|VER|MSC|GCC|GNUC|CLANG|STD|API|PLATFORM|ARCH|SSE|AVX|EXCEPTIONS|RTTI|THREADS|LOCALE|UNICODE|CONSTEXPR|MODULES|SHARED|STATIC|CPLUSPLUS|CPP|CXX|LANG|OS|TARGET|COMPILER|INTEL|ARM|GPU|CUDA|OPENSSL|ZLIB|ICU)(?:_|$|\d)`)
)

// customSymbol reports whether tests are built only if a symbol is defined that no known
// tool sets and that no changed file used before.
func customSymbol(c *facts.Set, s newSkip) bool {
	m := buildSymbols.FindStringSubmatch(s.Text)
	if m == nil || strings.ContainsAny(m[1], "<>") { // a version
		return false
	}
	names := symbol.FindAllString(strings.ReplaceAll(m[1], "defined", ""), -1)
	for _, name := range names {
		if knownSymbols.MatchString(name) || strings.Contains(string(s.Was.Side.Text), name) {
			return false
		}
		use := regexp.MustCompile(`(?m)(?:#\s*define\s+|-D\s*|<DefineConstants>.*|\b(?:define|definitions)\W+)` + name + `\b`)
		if slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return use.Match(f.After().Text) }) {
			return false
		}
	}
	return len(names) > 0
}

var (
	rustConfig = regexp.MustCompile(`^#!?\[cfg\((\w+)\)\]`)
	rustKnown  = strings.Fields("test unix windows debug_assertions miri doc doctest loom fuzzing tarpaulin nightly proc_macro panic overflow_checks")
)

var goPlatform = regexp.MustCompile(`\b(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|unix|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|cgo|race|go1\.\d+|gc|gccgo|purego|appengine|tinygo)\b`)

func findDisguised(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, s := range newSkips.Of(c) {
		if s.Scope != source.OnTest || s.Condition == "" || strings.HasPrefix(s.Condition, "never: ") {
			continue
		}
		severity := metric.High
		if !s.Constant {
			severity = facts.ConditionSeverity(s.Condition)
			if unknownFeature(c, s) {
				severity = metric.High
			}
		}
		out = append(out, s.finding(severity))
	}
	return append(out, chosenSkips(c)...)
}

// chosen matches a call of one of two functions that define tests, of which one
// skips: (cond ? it.skip : it)("title", …), and the other way round.
var chosen = regexp.MustCompile("\\(\\s*(.+?)\\s*\\?\\s*((?:x|f)?(?:it|test|describe)\\b[\\w.]*)\\s*:\\s*((?:x|f)?(?:it|test|describe)\\b[\\w.]*)\\s*\\)\\s*\\(\\s*[\"'`](.*)")

// skipping matches the functions that define tests which are not run.
var skipping = regexp.MustCompile(`^x|\.(?:skip|todo)\b`)

// chosenSkips finds existing tests that are now defined by such a call.
func chosenSkips(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, l := range lostTests.Of(c) {
		if l.how != byChoice {
			continue
		}
		text := l.where.LineAt(l.at)
		m := chosen.FindStringSubmatch(text)
		x := facts.Finding{File: l.where.Path, Line: l.at, Test: l.Name, Evidence: facts.Evidence(text), Severity: facts.ConditionSeverity(m[1])}
		if value, known := source.ConstantValue(m[1]); known && value == skipping.MatchString(m[2]) {
			x.Severity = metric.High
		}
		out = append(out, x)
	}
	return out
}

// chosenAt returns the line of such a call that defines a lost test now, 0 for none.
func chosenAt(l facts.Loss) int {
	title := strings.TrimSpace(strings.TrimPrefix(l.Name, l.Class))
	for _, a := range l.File.AddedLines() {
		m := chosen.FindStringSubmatch(a.Text)
		if m != nil && title != "" && strings.HasPrefix(m[4], title) && skipping.MatchString(m[2]) != skipping.MatchString(m[3]) {
			return a.Number
		}
	}
	return 0
}

// findFocus finds tests that are focused, so that others do not run.
func findFocus(f *facts.ChangedFile) []facts.Finding {
	if !f.After().MayTest() || f.Added && configtext.DataFolders.MatchString(f.Path) { // what tests read
		return nil
	}
	had := map[string]int{}
	for _, m := range f.Before().Source().Marks {
		if m.Kind == source.Focus {
			had[facts.InNotation(m.Text)]++
		}
	}
	for _, m := range f.After().Source().Marks {
		if m.Kind != source.Focus {
			continue
		}
		if text := facts.InNotation(m.Text); had[text] > 0 {
			had[text]--
			continue
		}
		x := facts.Finding{File: f.Path, Line: m.Line, Evidence: facts.Evidence(m.Text)}
		for _, t := range f.After().Source().Tests {
			if t.Line == m.Line {
				x.Test = t.Name
			}
		}
		if f.Added {
			x.Severity = metric.High
		}
		return []facts.Finding{x}
	}
	return nil
}

// findDead finds assertions of existing tests that are no longer reached.
func findDead(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		dead := deadMarks(p.Now)
		if len(dead) == 0 || len(deadMarks(p.Was)) > 0 || p.Now.Parent != nil && len(deadMarks(p.Now.Parent)) > 0 {
			continue
		}
		in, all := p.Now.AssertionsIn(dead), len(p.Now.Assertions)
		if in == 0 && all > 0 || all == 0 && len(p.Was.Assertions) > 0 && !deadText(p) {
			continue
		}
		f := facts.Finding{File: p.Now.Side.Path, Line: dead[0].Line, Test: p.Now.Name, Evidence: facts.Evidence(fmt.Sprintf("%s: %d of %d assertions are not reached", dead[0].Text, in, all))}
		if in < all || all == 0 {
			f.Severity = metric.High
		}
		out = append(out, f)
	}
	return out
}

// deadText reports whether a test had no assertions before: if it had, and lost them,
// other rules report it.
func deadText(p facts.Pair) bool { return len(p.Was.Assertions) == 0 }

// deadMarks returns the marks of lines within a test that are not reached.
func deadMarks(t *facts.Test) []source.Mark {
	return t.Within(source.Unreachable)
}
