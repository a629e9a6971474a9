package inspect

import (
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// directiveRow is one way in which a tool is silenced.
type directiveRow struct {
	re       *regexp.Regexp
	comment  bool // it is in a comment
	blanket  *regexp.Regexp
	coverage bool
}

func silence(re string, comment bool, blanket string, coverage bool) directiveRow {
	r := directiveRow{re: regexp.MustCompile(re), comment: comment, coverage: coverage}
	if blanket != "" {
		r.blanket = regexp.MustCompile(blanket)
	}
	return r
}

// directiveRows is the table of suppressions by language.
var directiveRows = func() (out [language.Count][]directiveRow) {
	js := []directiveRow{
		silence(framework.NodeSuppression, true, framework.NodeFileSuppression, false),
		silence(`(?:istanbul|c8|v8)\s+ignore\b`, true, `ignore file`, true),
		silence(`\bas any\b`, false, "", false),
	}
	jvm := []directiveRow{
		silence(`@Suppress(?:Warnings|Lint)?\b|@file:Suppress\b`, false, `"all"|@file:`, false),
		silence(`\bnoinspection\b|\bNOSONAR\b|\bktlint-disable\b|\bdetekt:`, true, "", false),
	}
	c := []directiveRow{
		silence(`\bNOLINT(?:NEXTLINE|BEGIN)?\b|cppcheck-suppress|clang-format off|coverity\[`, true, `NOLINTBEGIN`, false),
		silence(`\bLCOV_EXCL_\w+|\bGCOVR?_EXCL_\w+`, true, "", true),
		silence(`#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored`, false, "", false),
	}
	out[language.Go] = []directiveRow{silence(`nolint\b|#nosec\b|lint:ignore\b|lint:file-ignore\b`, true, `nolint\s*(?://|$)|nolint:all|file-ignore`, false), silence(`coverage:ignore`, true, `file`, true)}
	out[language.Python] = []directiveRow{
		silence(`noqa\b|type:\s*ignore\b|pylint:\s*(?:disable|skip-file)|mypy:\s*(?:ignore-errors|disable)|pyright:\s*(?:ignore|basic|off)|ruff:\s*noqa|flake8:\s*noqa|nosec\b|fmt:\s*off`, true, `ruff:\s*noqa\s*$|flake8:\s*noqa|skip-file|ignore-errors`, false),
		silence(`pragma:\s*no\s*(?:cover|branch)`, true, "", true),
	}
	out[language.JavaScript], out[language.TypeScript], out[language.Java], out[language.Kotlin], out[language.C], out[language.CPP] = js, js, jvm, jvm, c, c
	out[language.Rust] = []directiveRow{silence(`#!?\[(?:cfg_attr\([^\]]*)?\ballow\(`, false, `#!\[|\bwarnings\b|clippy::all`, false), silence(`coverage\(off\)`, false, "", true)}
	out[language.Ruby] = []directiveRow{silence(`(?:rubocop|standard):(?:disable|todo)\b|steep:ignore|typed:\s*ignore`, true, `disable all|typed:`, false), silence(`:nocov:`, true, "", true)}
	out[language.PHP] = []directiveRow{silence(`@phpstan-ignore\S*|@psalm-suppress|phpcs:(?:ignore|disable)|@noinspection`, true, `ignoreFile|disable\s*$`, false), silence(`@codeCoverageIgnore\w*`, true, "", true)}
	out[language.CSharp] = []directiveRow{silence(`#pragma warning disable|\[(?:assembly:\s*)?SuppressMessage\b`, false, `disable\s*$|assembly:`, false), silence(`ExcludeFromCodeCoverage`, false, "", true), silence(`ReSharper disable`, true, "", false)}
	out[language.Swift] = []directiveRow{silence(`swiftlint:disable\b`, true, `disable all`, false)}
	out[language.Elixir] = []directiveRow{silence(`credo:disable`, true, `for-this-file`, false), silence(`coveralls-ignore`, true, "", true)}
	out[language.Shell] = []directiveRow{silence(`shellcheck\s+disable`, true, "", false)}
	return out
}()

// directives finds what silences tools, in comments or in code.
func (in *inspector) directives() []Directive {
	var out []Directive
	comments := in.commentSpans()
	var code []int
	for _, r := range directiveRows[in.Lang] {
		if !r.comment && code == nil {
			code = in.lines(directiveWords)
		}
		if r.comment {
			for _, c := range comments {
				out = in.silenced(out, r, c[0], c[1], in.Src)
			}
			continue
		}
		for _, n := range code {
			from, to := in.lineSpan(n)
			out = in.silenced(out, r, from, to, in.Masked)
		}
	}
	return out
}

// directiveWords are words of which the patterns in code have one each.
var directiveWords = lex.WordSet(`any SuppressWarnings SuppressLint Suppress pragma allow coverage SuppressMessage ExcludeFromCodeCoverage`)

func (in *inspector) silenced(out []Directive, r directiveRow, from, to int, text []byte) []Directive {
	for _, at := range r.re.FindAllIndex(text[from:to], -1) {
		start, end := from+at[0], from+at[1]
		word := end
		for end < len(in.Src) && in.Src[end] != '\n' {
			end++
		}
		d := Directive{Line: in.lineOfPos(start), Text: strings.Join(strings.Fields(string(in.Src[start:end])), " "), Coverage: r.coverage}
		if d.Comment = r.comment; r.comment || r.coverage {
			d.From, d.To = start, word
		}
		d.Blanket = r.blanket != nil && r.blanket.MatchString(d.Text)
		out = append(out, d)
	}
	return out
}

// commentSpans returns where the comments are.
func (in *inspector) commentSpans() [][2]int {
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

// lineOfPos returns the line of a place in the text.
func (in *inspector) lineOfPos(pos int) int {
	in.lineSpan(1)
	lo, hi := 0, len(in.lineStarts)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; in.lineStarts[mid] <= pos {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1
}
