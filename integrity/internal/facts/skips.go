package facts

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// MarksCovering returns the marks of a kind whose lines include the head of a test.
func (t *Test) MarksCovering(kind source.MarkKind) []source.Mark {
	return Filter(t.Side.Inspection().Marks, func(m source.Mark) bool {
		return m.Kind == kind && m.From <= t.Line && t.Line <= m.To
	})
}

// NeverRuns reports whether a test is skipped unconditionally.
func (t *Test) NeverRuns() bool {
	return t.Skipped || slices.ContainsFunc(t.MarksCovering(source.Skip), source.Mark.IsUnconditional)
}

var (
	// runLocationRE matches conditions on who runs the tests, such as os.environ["CI"]. Such a test
	// is skipped where its failure would be seen.
	runLocationRE = regexp.MustCompile(`\bCI\b|["'.]CI["']|GITHUB_ACTIONS|GITLAB|TRAVIS|JENKINS|CIRCLECI|BUILDKITE|(?i:host_?name)|\buname\b|nodename|\bUSER(?:NAME)?\b|getpass|getlogin|whoami`)
	// platformRE matches conditions on what the machine has, such as runtime.GOOS == "windows".
	platformRE = regexp.MustCompile(`(?i)platform|\bos\b|os\.|goos|goarch|version|linux|darwin|win(?:dows|32)|mac_?os|posix|\barch|hasattr|respond_to|defined\?|importlib|importorskip|import|which\b|lookpath|short\(\)|avail|install|\bhas_|\bhave_|support|feature|target_|unix|python|pypy|\bpy_?\d|node|jdk|jre|java|ruby|engine|getuid|root|docker|network|missing|locale|symlink|chmod|libc|endian|byteorder|cpu|is_none|is none|== nil|== null|none\b|err\b|error|exist|not ready|timeout|verbose|race|` + framework.OtherRuntimes + `|browser|jit|typeof|is_file|is_dir|permission|privileg|admin|deps|optional|backend|driver|database|gpu|cuda|memory|tty`)
)

var (
	// userVariableRE matches conditions on a variable that a user may set, such as
	// os.Getenv("SKIP_SLOW").
	userVariableRE = regexp.MustCompile(`(?i)getenv|lookupenv|environ|option_env|process\.env|\benv\[|env::var|getproperty\("(?:ci|skip|run)`)
	// serviceVariableRE matches the names of variables that say where something is, such as
	// DATABASE_URL.
	serviceVariableRE = regexp.MustCompile(`(?i)_(?:url|uri|host|port|dsn|path|home|dir|key|token|secret|addr)\b|database|postgres|mysql|redis|mongo|docker|\b(?:path|home|display|term|shell|tz|lang)\b`)
)

// ConditionSeverity returns the severity of a new condition under which a test is skipped: High if
// it depends on who runs the tests, Low if it depends on the machine, otherwise Medium.
func ConditionSeverity(condition string) metric.Severity {
	dependsOnUser := userVariableRE.MatchString(condition) && !serviceVariableRE.MatchString(condition)
	switch {
	case runLocationRE.MatchString(condition), dependsOnUser:
		return metric.High
	case platformRE.MatchString(condition):
		return metric.Low
	}
	return metric.Medium
}

// MarksWithin returns the marks of a kind within a test.
func (t *Test) MarksWithin(kind source.MarkKind) []source.Mark {
	return Filter(t.Side.Inspection().Marks, func(m source.Mark) bool { return m.Kind == kind && t.Contains(m.Line) })
}

// NewMarks returns the marks of a kind that a file has more often than before, whatever their
// notation.
func (f *ChangedFile) NewMarks(kind source.MarkKind) []source.Mark {
	marks := func(s *Side) []source.Mark {
		return Filter(s.Inspection().Marks, func(m source.Mark) bool { return m.Kind == kind })
	}
	return Surplus(marks(f.After()), marks(f.Before()), func(m source.Mark) string { return NormalizeNotation(m.Text) })
}

// Contains reports whether a line is within a test, which starts with its head.
func (t *Test) Contains(line int) bool { return t.Line <= line && line <= t.End }

// CountAssertionsIn counts the assertions of a test in the lines of marks.
func (t *Test) CountAssertionsIn(marks []source.Mark) int {
	return Count(t.LocatedAssertions(), func(a Assertion) bool {
		return slices.ContainsFunc(marks, func(m source.Mark) bool { return m.From <= a.Line && a.Line <= m.To })
	})
}

// MaxReasonLines is how many lines are followed for the reason of a skip.
const MaxReasonLines = 8

// AnnotationLineRE matches lines that belong to what is below them: comments, annotations
// and attributes.
var AnnotationLineRE = regexp.MustCompile(`^\s*(?://|#|/?\*|--|@|\[|"""|''')`)

var (
	// directiveRE matches the beginning of a comment for a tool, such as "noqa: E501".
	// codeCommentRE matches code in a comment, such as "run();", and codeLikeRE matches signs of
	// code in a text, such as "x = 1". todoOwnerRE matches a note with an owner, "TODO(ann): ".
	directiveRE   = regexp.MustCompile(`(?i)^(?:eslint|prettier|biome|tslint|jshint|istanbul|c8|v8|noqa|nolint|nosec|type:|pyright|pylint|flake8|fmt:|isort|rubocop|noinspection|nosonar|checkstyle|ktlint|phpcs|phpstan|psalm|codecov|@ts-|@phpstan|@psalm|go:|\+build|clang|cspell|spell|coverage|pragma|region|endregion)`)
	codeCommentRE = regexp.MustCompile(`[;{}]\s*$|^[@})\]]|^\w+(?:\.\w+)*\(.*\)$`)
	codeLikeRE    = regexp.MustCompile(`[={}]|\w\(`)
	todoOwnerRE   = regexp.MustCompile(`^[A-Z]{3,}\([\w@. -]*\):?\s*`) // TODO(name)
	proseWordRE   = regexp.MustCompile(`[A-Za-z]{2,}`)
	// excuseRE matches words that are a reason by themselves, such as "flaky" and "#123".
	excuseRE = regexp.MustCompile(`(?i)\b(?:flak\w+|broken|slow|unstable|deprecated|obsolete|unsupported|hangs?|rac[ey]\w*|fail(?:s|ing)|https?:)|#\d`)
)

// NewRemarks returns the numbers of the added lines that have a comment in prose. A directive of a
// tool, and code that was there before, is no remark. Lines with another comment map to false.
func (f *ChangedFile) NewRemarks() map[int]bool {
	return f.remarks.get(f.findNewRemarks)
}

// findNewRemarks reads the comments of the added lines, see NewRemarks.
func (f *ChangedFile) findNewRemarks() map[int]bool {
	out := map[int]bool{}
	oldCode := SetOf(f.RemovedLines(), func(l Line) string { return trimCommentMarks(l.Text) })
	for _, l := range f.AddedLines() {
		code := strings.TrimRight(f.After().CodeAt(l.Number), " \t")
		text := trimCommentMarks(l.Text[min(len(code), len(l.Text)):])
		isCode := oldCode[text] || codeCommentRE.MatchString(text)
		if text == "" || isCode || directiveRE.MatchString(text) {
			continue
		}
		isProse := len(proseWordRE.FindAllString(text, 2)) > 1 && !codeLikeRE.MatchString(todoOwnerRE.ReplaceAllString(text, ""))
		out[l.Number] = isProse || excuseRE.MatchString(text)
	}
	return out
}

// trimCommentMarks returns a line without the marks of comments around it.
func trimCommentMarks(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), "*/")
	for {
		before := s
		for _, mark := range []string{"//", "#", "/*", "*", "--", "!", ";"} {
			s = strings.TrimSpace(strings.TrimPrefix(s, mark))
		}
		if s == before {
			return s
		}
	}
}

var (
	// shouldPanicRE matches the attribute by which a Rust test expects a panic with a message, as
	// in #[should_panic(expected = "overflow")]. assertionMessageRE matches the message of a failed
	// assertion, which says nothing about the code.
	shouldPanicRE      = regexp.MustCompile(`#\[should_panic\s*\(?\s*(?:expected\s*)?=\s*"([^"]{4,})"`)
	assertionMessageRE = regexp.MustCompile(`(?i)assert|left|right|unwrap|panicked`)
	// failureAssertionRE matches assertions of Rust that something fails, such as "res.is_err()".
	failureAssertionRE = regexp.MustCompile(`\bis_err\(\)|unwrap_err|expect_err|\bErr\(|catch_unwind|panic`)
)

// IsPanicAttribute reports whether a line is an attribute that expects the panic of a test
// with its message, in place of assertions that expected a failure.
func IsPanicAttribute(p Pair, line string) bool {
	m := shouldPanicRE.FindStringSubmatch(line)
	expectsPanic := m != nil && !assertionMessageRE.MatchString(m[1])
	return expectsPanic && len(p.After.Assertions) == 0 && ExpectsOnlyFailures(p.Before)
}

// ExpectsOnlyFailures reports whether all assertions of a test say that something fails.
func ExpectsOnlyFailures(t *Test) bool { return All(t.Assertions, failureAssertionRE.MatchString) }

// ExpectsPanic reports whether an attribute of a test expects its panic in place of the
// assertions that it lost.
func ExpectsPanic(p Pair) bool {
	return slices.ContainsFunc(p.After.MarksCovering(source.Skip), func(m source.Mark) bool { return IsPanicAttribute(p, m.Text) })
}
