package facts

import (
	"slices"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// Marks returns the marks of a kind that bear on a test.
func (t *Test) Marks(kind source.MarkKind) []source.Mark {
	var out []source.Mark
	for _, m := range t.Side.Source().Marks {
		if m.Kind == kind && m.From <= t.Line && t.Line <= m.To {
			out = append(out, m)
		}
	}
	return out
}

// NeverRuns reports whether a test does not run in any case.
func (t *Test) NeverRuns() bool {
	return t.Skipped || slices.ContainsFunc(t.Marks(source.Skip), source.Mark.Always)
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

// ConditionSeverity is the severity of a new condition on a skip.
func ConditionSeverity(cond string) metric.Severity {
	switch {
	case whereRun.MatchString(cond), environment.MatchString(cond) && !service.MatchString(cond):
		return metric.High
	case machine.MatchString(cond):
		return metric.Low
	}
	return metric.Medium
}

// Within returns the marks of a kind within a test.
func (t *Test) Within(kind source.MarkKind) []source.Mark {
	var out []source.Mark
	for _, m := range t.Side.Source().Marks {
		if m.Kind == kind && t.Line <= m.Line && m.Line <= t.End {
			out = append(out, m)
		}
	}
	return out
}

// AssertionsIn counts the assertions of a test in the lines of marks.
func (t *Test) AssertionsIn(marks []source.Mark) int {
	n := 0
	for _, at := range t.assertionLines() {
		if slices.ContainsFunc(marks, func(m source.Mark) bool { return m.From <= at && at <= m.To }) {
			n++
		}
	}
	return n
}
