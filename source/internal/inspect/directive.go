package inspect

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// directiveRule is a regular expression for directives that silence one or more tools.
type directiveRule struct {
	re       *regexp.Regexp // matches the start of the directive: "noqa", "@Suppress"
	comment  bool           // the directive is a comment; otherwise it is code
	blanket  *regexp.Regexp // matches a directive that silences everything; nil for none
	coverage bool           // the directive excludes lines from the measurement of test coverage
}

// newDirectiveRule compiles a rule. An empty pattern for blanket means that no directive silences
// everything.
func newDirectiveRule(re string, comment bool, blanket string, coverage bool) directiveRule {
	r := directiveRule{re: regexp.MustCompile(re), comment: comment, coverage: coverage}
	if blanket != "" {
		r.blanket = regexp.MustCompile(blanket)
	}
	return r
}

// directiveRules are the rules of each language. Samples of what they match:
//
//	Python      # noqa: E501               Elixir      # credo:disable-for-this-file
//	JavaScript  /* istanbul ignore next    Java        @SuppressWarnings("unchecked")
//	C           // NOLINTNEXTLINE          Rust        #[allow(dead_code)]
//	Ruby        # rubocop:disable all      PHP         // @phpstan-ignore-line
//	C#          #pragma warning disable    Shell       # shellcheck disable=SC2086
var directiveRules = func() (out [language.Count][]directiveRule) {
	js := []directiveRule{
		newDirectiveRule(framework.NodeSuppression, true, framework.NodeFileSuppression, false),
		newDirectiveRule(`(?:istanbul|c8|v8)\s+ignore\b`, true, `ignore file`, true),
		newDirectiveRule(`\bas any\b`, false, "", false),
	}
	jvm := []directiveRule{
		newDirectiveRule(`@Suppress(?:Warnings|Lint)?\b|@file:Suppress\b`, false, `"all"|@file:`, false),
		newDirectiveRule(`\bnoinspection\b|\bNOSONAR\b|\bktlint-disable\b|\bdetekt:`, true, "", false),
	}
	c := []directiveRule{
		newDirectiveRule(`\bNOLINT(?:NEXTLINE|BEGIN)?\b|cppcheck-suppress|clang-format off|coverity\[`, true, `NOLINTBEGIN`, false),
		newDirectiveRule(`\bLCOV_EXCL_\w+|\bGCOVR?_EXCL_\w+`, true, "", true),
		newDirectiveRule(`#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored`, false, "", false),
	}

	out[language.Go] = []directiveRule{newDirectiveRule(`nolint\b|#nosec\b|lint:ignore\b|lint:file-ignore\b`, true, `nolint\s*(?://|$)|nolint:all|file-ignore`, false), newDirectiveRule(`coverage:ignore`, true, `file`, true)}
	out[language.Python] = []directiveRule{
		newDirectiveRule(`noqa\b|type:\s*ignore\b|pylint:\s*(?:disable|skip-file)|mypy:\s*(?:ignore-errors|disable)|pyright:\s*(?:ignore|basic|off)|ruff:\s*noqa|flake8:\s*noqa|nosec\b|fmt:\s*off`, true, `ruff:\s*noqa\s*$|flake8:\s*noqa|skip-file|ignore-errors`, false),
		newDirectiveRule(`pragma:\s*no\s*(?:cover|branch)`, true, "", true),
	}
	out[language.JavaScript], out[language.TypeScript], out[language.Java], out[language.Kotlin], out[language.C], out[language.CPP] = js, js, jvm, jvm, c, c
	out[language.Rust] = []directiveRule{newDirectiveRule(`#!?\[(?:cfg_attr\([^\]]*)?\ballow\(`, false, `#!\[|\bwarnings\b|clippy::all`, false), newDirectiveRule(`coverage\(off\)`, false, "", true)}
	out[language.Ruby] = []directiveRule{newDirectiveRule(`(?:rubocop|standard):(?:disable|todo)\b|steep:ignore|typed:\s*ignore`, true, `disable all|typed:`, false), newDirectiveRule(`:nocov:`, true, "", true)}
	out[language.PHP] = []directiveRule{newDirectiveRule(`@phpstan-ignore\S*|@psalm-suppress|phpcs:(?:ignore|disable)|@noinspection`, true, `ignoreFile|disable\s*$`, false), newDirectiveRule(`@codeCoverageIgnore\w*`, true, "", true)}
	out[language.CSharp] = []directiveRule{newDirectiveRule(`#pragma warning disable|\[(?:assembly:\s*)?SuppressMessage\b`, false, `disable\s*$|assembly:`, false), newDirectiveRule(`ExcludeFromCodeCoverage`, false, "", true), newDirectiveRule(`ReSharper disable`, true, "", false)}
	out[language.Swift] = []directiveRule{newDirectiveRule(`swiftlint:disable\b`, true, `disable all`, false)}
	out[language.Elixir] = []directiveRule{newDirectiveRule(`credo:disable`, true, `for-this-file`, false), newDirectiveRule(`coveralls-ignore`, true, "", true)}
	out[language.Shell] = []directiveRule{newDirectiveRule(`shellcheck\s+disable`, true, "", false)}
	return out
}()

// findDirectives returns the directives in the comments and in the code.
func (in *inspector) findDirectives() []Directive {
	var out []Directive
	comments := in.findComments()
	code := in.linesWithAny(directiveWords)
	for _, r := range directiveRules[in.Lang] {
		if r.comment {
			for _, c := range comments {
				out = in.appendDirectives(out, r, c[0], c[1], in.Src)
			}
			continue
		}
		for _, n := range code {
			from, to := in.lineSpan(n)
			out = in.appendDirectives(out, r, from, to, in.Masked)
		}
	}
	return out
}

// directiveWords contains at least one word of each pattern for code. Only lines with one of
// these words are searched.
var directiveWords = lex.WordSet(`any SuppressWarnings SuppressLint Suppress pragma allow coverage SuppressMessage ExcludeFromCodeCoverage`)

// appendDirectives appends the matches of a rule in text[from:to]. text is the source or the
// masked source; the text of each directive is taken from the source.
func (in *inspector) appendDirectives(out []Directive, r directiveRule, from, to int, text []byte) []Directive {
	for _, at := range r.re.FindAllIndex(text[from:to], -1) {
		start, end := from+at[0], from+at[1]
		word := end
		for end < len(in.Src) && in.Src[end] != '\n' {
			end++
		}

		d := Directive{Line: in.lineAt(start), Text: strings.Join(strings.Fields(string(in.Src[start:end])), " "), Coverage: r.coverage}
		if d.Comment = r.comment; r.comment || r.coverage {
			d.From, d.To = start, word
		}
		d.Blanket = r.blanket != nil && r.blanket.MatchString(d.Text)
		out = append(out, d)
	}
	return out
}

// findComments returns the byte offsets of the start and the end of each comment.
func (in *inspector) findComments() [][2]int {
	var out [][2]int
	for i := 0; i < len(in.kinds); i++ {
		if in.kinds[i] != lex.Comment {
			continue
		}
		from := i
		for i < len(in.kinds) && in.kinds[i] == lex.Comment {
			i++
		}
		out = append(out, [2]int{from, i})
	}
	return out
}

// lineAt returns the line, from 1, of a byte offset in the source.
func (in *inspector) lineAt(pos int) int {
	in.lineSpan(1)
	n, startsLine := slices.BinarySearch(in.lineStarts, pos)
	if startsLine {
		n++
	}
	return n
}
