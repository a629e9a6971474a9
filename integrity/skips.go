package integrity

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// skipRules are about tests that are there and are not run, or not to their end.
var skipRules = []rule{
	{"TP-04", "dead_code", metric.Critical, findDead},
	{"TP-05", "unconditional_skip", metric.Critical, findSkipped},
	{"TP-06", "disguised_skip", metric.High, findDisguised},
	{"TP-07", "group_disabled", metric.Critical, findGroupDisabled},
	{"TP-08", "focus", metric.Critical, findFocus},
}

// marks returns the marks of a kind that bear on a test.
func (t *test) marks(kind source.MarkKind) []source.Mark {
	var out []source.Mark
	for _, m := range t.s.source().Marks {
		if m.Kind == kind && m.From <= t.Line && t.Line <= m.To {
			out = append(out, m)
		}
	}
	return out
}

// skipped reports whether a test does not run in any case.
func (t *test) skipped() bool {
	return t.Skipped || slices.ContainsFunc(t.marks(source.Skip), source.Mark.Always)
}

// newSkip is a skip that an existing test has now and had not before.
type newSkip struct {
	pair
	source.Mark
}

// newSkips lists them, those of a group or a file once.
func (c *change) newSkips() []newSkip {
	if c.skipsRead {
		return c.skips
	}
	c.skipsRead = true
	type place struct {
		s    *side
		line int
	}
	seen := map[place]bool{}
	for _, p := range c.tests().pairs {
		if p.was.skipped() {
			continue
		}
		old := p.was.marks(source.Skip)
		for _, m := range p.now.marks(source.Skip) {
			at := place{p.now.s, m.Line}
			if seen[at] || slices.ContainsFunc(old, func(o source.Mark) bool { return sameMark(o, m) }) {
				continue
			}
			seen[at] = true
			c.skips = append(c.skips, newSkip{p, m})
		}
	}
	return c.skips
}

// sameMark reports whether two marks say the same, wherever they stand.
func sameMark(a, b source.Mark) bool {
	return squash(a.Condition) == squash(b.Condition) && a.Constant == b.Constant && (a.Condition != "" || a.Always() == b.Always())
}

func squash(s string) string { return strings.Join(strings.Fields(s), "") }

func (s newSkip) finding(severity metric.Severity) Finding {
	f := Finding{Severity: severity, File: s.now.s.path, Line: s.Line, Test: s.now.Name, Evidence: evidence(s.Text)}
	if s.Condition != "" && !strings.Contains(squash(s.Text), squash(s.Condition)) {
		f.Evidence = evidence(s.Text + " when " + s.Condition)
	}
	return f
}

// unless returns the finding of a skip that holds anywhere: as grave as the rule says,
// unless it is meant, or has a reason as far as the text can tell.
func (s newSkip) unless(meant bool) Finding {
	switch {
	case meant:
		return s.finding(metric.High)
	case s.reasoned():
		f := s.finding(metric.High)
		f.IfRan = metric.Critical
		return f
	}
	return s.finding(0)
}

func findSkipped(c *change) []Finding {
	var out []Finding
	for _, s := range c.newSkips() {
		if s.Scope == source.OnTest && s.Condition == "" {
			out = append(out, s.unless(maybeMeant.MatchString(s.Text)))
		}
	}
	return out
}

// maybeMeant matches expected failures that may be what a test is about.
var maybeMeant = regexp.MustCompile(`should_panic|XCTExpectFailure|withKnownIssue|\b(?:test|it)\.(?:\w+\.)?fail(?:s|ing)\b`)

func findGroupDisabled(c *change) []Finding {
	var out []Finding
	for _, s := range c.newSkips() {
		switch {
		case s.Scope == source.OnTest:
		case s.Condition == "":
			out = append(out, s.unless(false))
		case !s.Constant:
			severity := conditionSeverity(s.Condition)
			if customTag(s) || customConfig(s) || c.customSymbol(s) || c.unknownFeature(s) {
				severity = metric.High
			}
			out = append(out, s.finding(severity))
		default:
			out = append(out, s.finding(metric.Critical))
		}
	}
	return out
}

// customTag reports whether a Go file is built only under a tag that says
// nothing of the platform.
func customTag(s newSkip) bool {
	tag, ok := strings.CutPrefix(s.Text, "//go:build ")
	return ok && !strings.HasPrefix(tag, "!") && !goPlatform.MatchString(tag)
}

// customConfig reports whether tests of Rust that were built with the tests are
// built only under a configuration that nothing sets, "#[cfg(disabled)]".
func customConfig(s newSkip) bool {
	m := rustConfig.FindStringSubmatch(s.Text)
	return m != nil && !slices.Contains(rustKnown, m[1]) && strings.Contains(string(s.was.s.text), "#[cfg(test)]")
}

var rustFeature = regexp.MustCompile(`\bfeature\s*=\s*"([^"]+)"`)

// unknownFeature reports whether a test of Rust runs only with a feature that no
// manifest of the project has.
func (c *change) unknownFeature(s newSkip) bool {
	m := rustFeature.FindStringSubmatch(s.Text)
	if m == nil || s.now.s.language() != source.Rust || strings.Contains(string(s.was.s.text), `"`+m[1]+`"`) || c.base.Paths == nil || c.base.Texts == nil {
		return false
	}
	manifest := func(name string) bool { return path.Base(name) == "Cargo.toml" }
	texts := c.base.Texts(slices.DeleteFunc(slices.Clone(c.base.Paths()), func(name string) bool { return !manifest(name) }))
	for _, f := range c.files {
		if manifest(f.Path) {
			texts[f.Path] = f.after().text
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

// customSymbol reports whether tests are built only where a symbol is defined that
// nothing known sets and that no changed file had before.
func (c *change) customSymbol(s newSkip) bool {
	m := buildSymbols.FindStringSubmatch(s.Text)
	if m == nil || strings.ContainsAny(m[1], "<>") { // a version
		return false
	}
	names := symbol.FindAllString(strings.ReplaceAll(m[1], "defined", ""), -1)
	for _, name := range names {
		if knownSymbols.MatchString(name) || strings.Contains(string(s.was.s.text), name) {
			return false
		}
		use := regexp.MustCompile(`(?m)(?:#\s*define\s+|-D\s*|<DefineConstants>.*|\b(?:define|definitions)\W+)` + name + `\b`)
		if slices.ContainsFunc(c.files, func(f *file) bool { return use.Match(f.after().text) }) {
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

func findDisguised(c *change) []Finding {
	var out []Finding
	for _, s := range c.newSkips() {
		if s.Scope != source.OnTest || s.Condition == "" || strings.HasPrefix(s.Condition, "never: ") {
			continue
		}
		severity := metric.High
		if !s.Constant {
			severity = conditionSeverity(s.Condition)
			if c.unknownFeature(s) {
				severity = metric.High
			}
		}
		out = append(out, s.finding(severity))
	}
	return append(out, c.chosenSkips()...)
}

// chosen matches a call of one of two functions that define tests, of which one
// skips: (cond ? it.skip : it)("title", …), and the other way round.
var chosen = regexp.MustCompile("\\(\\s*(.+?)\\s*\\?\\s*((?:x|f)?(?:it|test|describe)\\b[\\w.]*)\\s*:\\s*((?:x|f)?(?:it|test|describe)\\b[\\w.]*)\\s*\\)\\s*\\(\\s*[\"'`](.*)")

// skipping matches the functions that define tests which are not run.
var skipping = regexp.MustCompile(`^x|\.(?:skip|todo)\b`)

// chosenSkips finds tests that were there and are defined by such a call now.
func (c *change) chosenSkips() []Finding {
	var out []Finding
	for _, l := range c.tests().lost {
		how, where, at := c.lostBy(l)
		if how != byChoice {
			continue
		}
		text := where.lineAt(at)
		m := chosen.FindStringSubmatch(text)
		x := Finding{File: where.path, Line: at, Test: l.Name, Evidence: evidence(text), Severity: conditionSeverity(m[1])}
		if value, known := source.Constant(m[1]); known && value == skipping.MatchString(m[2]) {
			x.Severity = metric.High
		}
		out = append(out, x)
	}
	return out
}

// chosenAt returns the line by which a lost test is defined now, if it is called so;
// 0 for none.
func (l loss) chosenAt() int {
	title := strings.TrimSpace(strings.TrimPrefix(l.Name, l.Class))
	for _, a := range l.f.addedLines() {
		m := chosen.FindStringSubmatch(a.text)
		if m != nil && title != "" && strings.HasPrefix(m[4], title) && skipping.MatchString(m[2]) != skipping.MatchString(m[3]) {
			return a.n
		}
	}
	return 0
}

var (
	// whereRun matches conditions on who runs the tests: a test that does not run
	// where it would be seen to fail.
	whereRun = regexp.MustCompile(`\bCI\b|["'.]CI["']|GITHUB_ACTIONS|GITLAB|TRAVIS|JENKINS|CIRCLECI|BUILDKITE|(?i:host_?name)|\buname\b|nodename|\bUSER(?:NAME)?\b|getpass|getlogin|whoami`)
	// machine matches conditions on what the machine has.
	machine = regexp.MustCompile(`(?i)platform|\bos\b|os\.|goos|goarch|version|linux|darwin|win(?:dows|32)|mac_?os|posix|\barch|hasattr|respond_to|defined\?|importlib|importorskip|import|which\b|lookpath|short\(\)|avail|install|\bhas_|\bhave_|support|feature|target_|unix|python|pypy|\bpy_?\d|node|jdk|jre|java|ruby|engine|getuid|root|docker|network|missing|locale|symlink|chmod|libc|endian|byteorder|cpu|is_none|is none|== nil|== null|none\b|err\b|error|exist|not ready|timeout|verbose|race|deno|bun\b|browser|jit|typeof|is_file|is_dir|permission|privileg|admin|deps|optional|backend|driver|database|gpu|cuda|memory|tty`)
)

var (
	// environment matches conditions on a variable that somebody may set.
	environment = regexp.MustCompile(`(?i)getenv|lookupenv|environ|option_env|process\.env|\benv\[|env::var|getproperty\("(?:ci|skip|run)`)
	// service matches the names of variables that say where something is.
	service = regexp.MustCompile(`(?i)_(?:url|uri|host|port|dsn|path|home|dir|key|token|secret|addr)\b|database|postgres|mysql|redis|mongo|docker|\b(?:path|home|display|term|shell|tz|lang)\b`)
)

// conditionSeverity says how grave a new condition on a skip is.
func conditionSeverity(cond string) metric.Severity {
	switch {
	case whereRun.MatchString(cond), environment.MatchString(cond) && !service.MatchString(cond):
		return metric.High
	case machine.MatchString(cond):
		return metric.Low
	}
	return metric.Medium
}

// findFocus finds tests that are run alone.
func findFocus(c *change) []Finding {
	var out []Finding
	for _, f := range c.files {
		if !f.after().mayTest() || f.Added && dataFolders.MatchString(f.Path) { // what tests read
			continue
		}
		had := map[string]int{}
		for _, m := range f.before().source().Marks {
			if m.Kind == source.Focus {
				had[inNotation(m.Text)]++
			}
		}
		for _, m := range f.after().source().Marks {
			if m.Kind != source.Focus {
				continue
			}
			if text := inNotation(m.Text); had[text] > 0 {
				had[text]--
				continue
			}
			x := Finding{File: f.Path, Line: m.Line, Evidence: evidence(m.Text)}
			for _, t := range f.after().source().Tests {
				if t.Line == m.Line {
					x.Test = t.Name
				}
			}
			if f.Added {
				x.Severity = metric.High
			}
			out = append(out, x)
		}
	}
	return out
}

// findDead finds assertions of existing tests that are not reached any more.
func findDead(c *change) []Finding {
	var out []Finding
	for _, p := range c.tests().pairs {
		dead := p.now.dead()
		if len(dead) == 0 || len(p.was.dead()) > 0 || p.now.parent != nil && len(p.now.parent.dead()) > 0 {
			continue
		}
		in, all := p.now.assertionsIn(dead), len(p.now.Assertions)
		if in == 0 && all > 0 || all == 0 && len(p.was.Assertions) > 0 && !deadText(p) {
			continue
		}
		f := Finding{File: p.now.s.path, Line: dead[0].Line, Test: p.now.Name, Evidence: evidence(fmt.Sprintf("%s: %d of %d assertions are not reached", dead[0].Text, in, all))}
		if in < all || all == 0 {
			f.Severity = metric.High
		}
		out = append(out, f)
	}
	return out
}

// deadText reports whether what a test has lost are its assertions: then other
// rules tell.
func deadText(p pair) bool { return len(p.was.Assertions) == 0 }

// dead returns the marks of lines within a test that are not reached.
func (t *test) dead() []source.Mark {
	return t.within(source.Dead)
}

// within returns the marks of a kind that stand in a test.
func (t *test) within(kind source.MarkKind) []source.Mark {
	var out []source.Mark
	for _, m := range t.s.source().Marks {
		if m.Kind == kind && t.Line <= m.Line && m.Line <= t.End {
			out = append(out, m)
		}
	}
	return out
}

// assertionsIn counts the assertions of a test that stand in the lines of marks.
func (t *test) assertionsIn(marks []source.Mark) int {
	n := 0
	for _, at := range t.assertionLines() {
		if slices.ContainsFunc(marks, func(m source.Mark) bool { return m.From <= at && at <= m.To }) {
			n++
		}
	}
	return n
}

// opening returns the line with which an assertion of several lines begins, -1 for
// none: "assert [".
func opening(list []string, used []bool, assertion string) int {
	for i, s := range list {
		if !used[i] && len(s) > len("assert") && strings.HasPrefix(assertion, s) {
			return i
		}
	}
	return -1
}

// assertionLines returns the line of each assertion of a test; where it is not
// found, it is that of the test.
func (t *test) assertionLines() []int {
	if t.at == nil {
		t.at = t.findAssertions()
	}
	return t.at
}

func (t *test) findAssertions() []int {
	var squashed []string
	for n := t.Line; n <= t.End; n++ {
		squashed = append(squashed, squash(t.s.lineAt(n)))
	}
	used := make([]bool, len(squashed))
	out := make([]int, len(t.Assertions))
	for i, a := range t.Assertions {
		out[i] = t.Line
		for _, key := range keys(a) {
			if n := find(squashed, used, key); n >= 0 {
				out[i], used[n] = t.Line+n, true
				break
			}
		}
		if n := opening(squashed, used, squash(a)); out[i] == t.Line && n >= 0 {
			out[i], used[n] = t.Line+n, true
		}
	}
	return out
}

// keys are the beginnings by which an assertion is found in the text, the
// longest first.
func keys(a string) []string {
	cond, _, failure := strings.Cut(a, " => t.")
	if failure {
		cond = cond[strings.LastIndex(cond, "; ")+1:]
		cond = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(cond), "!("), ")")
		cond = strings.TrimPrefix(cond, "case ")
	}
	s := squash(cond)
	var out []string
	for _, n := range []int{60, 30, 16, 9} {
		if len(s) > n {
			out = append(out, s[:n])
		} else if len(out) == 0 || len(out[len(out)-1]) != len(s) {
			out = append(out, s)
		}
	}
	return out
}

func find(list []string, used []bool, key string) int {
	for i, s := range list {
		if !used[i] && key != "" && strings.Contains(s, key) {
			return i
		}
	}
	return -1
}
