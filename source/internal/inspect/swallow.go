package inspect

import (
	"bytes"
	"cmp"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// catching matches by language the heads of handlers that take the failure of an
// assertion, whatever they do then. What they do is looked at by isIdle.
var catching = map[language.Language]*regexp.Regexp{
	language.Python:     regexp.MustCompile(`(?m)^[ \t]*except\b(?:[ \t]*\*?[ \t]*\(?[\w., ]*\b(?:Exception|AssertionError|BaseException|Failed|OutcomeException)\b[\w., ]*\)?)?(?:[ \t]+as[ \t]+\w+)?[ \t]*:`),
	language.JavaScript: regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{`),
	language.Java:       regexp.MustCompile(`\bcatch\s*\(\s*(?:final\s+)?[\w.| ]*\b(?:Throwable|Exception|AssertionError|Error|AssertionFailedError|ComparisonFailure)\b\s*\w*\s*\)\s*\{`),
	language.Kotlin:     regexp.MustCompile(`\bcatch\s*\(\s*\w+\s*:\s*(?:Throwable|Exception|AssertionError|Error)\s*\)\s*\{`),
	language.Ruby:       regexp.MustCompile(`(?m)^[ \t]*rescue\b(?:[ \t]*$|[ \t]*=>|[^\n]*\b(?:Exception|StandardError|Assertion|ExpectationNotMetError|AssertionFailedError)\b)[^\n]*`),
	language.PHP:        regexp.MustCompile(`\bcatch\s*\(\s*[\w\\| ]*\b(?:Throwable|Exception|AssertionFailedError|ExpectationFailedException|Error)\b\s*(?:\$\w+)?\s*\)\s*\{`),
	language.CSharp:     regexp.MustCompile(`\bcatch\s*(?:\(\s*(?:[\w.]+\.)?(?:Exception|\w*Assert\w*Exception|XunitException)\s*\w*\s*\))?\s*(?:when\s*\([^)]*\)\s*)?\{`),
	language.CPP:        regexp.MustCompile(`\bcatch\s*\(\s*(?:\.\.\.|(?:const\s+)?std::(?:exception|runtime_error|logic_error)\s*(?:const\s*)?&?\s*\w*)\s*\)\s*\{`),
	language.Swift:      regexp.MustCompile(`\bcatch\s*(?:let\s+\w+\s*)?\{`),
	language.Elixir:     regexp.MustCompile(`(?m)^[ \t]*(?:rescue|catch)[ \t]*$`),
}

// idleStatement matches statements of a handler by which a failure is dropped,
// or no more than written down, in lower case.
var idleStatement = regexp.MustCompile(`^(?:pass|\.\.\.|continue|break|next|nil|null|none|true|false|:ok|:error|:skip|ok|_|0|void \w+|_\s*=\s*\w+|\w+\.printstacktrace\(\)|\w+\.message|e|ex|err|error|exception|ignored` +
	`|return(?:\s+(?:none|nil|null|true|false|undefined|:ok|0))?` +
	`|(?:self\.|this\.|\$this->|std::)?(?:print|println|puts|pp|p|warn|warnings|log\w*|console|system\.(?:out|err)|fmt|io|trace|debug|nslog|os_log|error_log|echo|var_dump|printf|fprintf|cout|cerr|testcontext|output|_output|eprintln!?)\b.*)$`)

// swallowedInTests notes the handlers in tests that drop failures in more words than an
// empty block, and what drops them without a handler.
func (in *inspector) swallowedInTests() {
	lang := in.likeLang()
	noted := map[int]bool{}
	for _, m := range in.marks {
		noted[m.Line] = noted[m.Line] || m.Kind == Swallow
	}
	if re := catching[lang]; re != nil {
		for _, at := range re.FindAllIndex(in.Masked, -1) {
			i := in.tokenAt(at[0])
			if i >= len(in.List) || noted[in.Line(i)] || in.testAround(in.Line(i)) == nil {
				continue
			}
			m := Mark{Kind: Swallow, Line: in.Line(i), Text: in.lineText(in.Line(i))}
			if in.isIdle(i, at[1]) && in.triedBefore(&m, i) {
				in.marks = append(in.marks, m)
			}
		}
	}
	in.droppedInline()
	if lang == language.Kotlin || lang == language.Rust || lang == language.CSharp {
		in.droppedResults()
	}
}

// triedBefore is triedLines, for Elixir, too, where what is tried is above.
func (in *inspector) triedBefore(m *Mark, i int) bool {
	if in.Lang != language.Elixir {
		return in.triedLines(m, i)
	}
	level := in.Indent(i)
	for n := m.Line - 1; n >= 1; n-- {
		if j, ok := in.begins(n); ok && in.Indent(j) <= level {
			m.From, m.To = n+1, m.Line-1
			return strings.HasSuffix(in.lineText(n), "do")
		}
	}
	return false
}

// isIdle reports whether the handler at token i, whose head ends at a place,
// does nothing with the failure.
func (in *inspector) isIdle(i, end int) bool {
	var text string
	switch in.Lang {
	case language.Python, language.Ruby, language.Elixir:
		line := in.Line(i)
		last := in.indentedEnd(line, in.Indent(i), in.lastLine())
		_, stop := in.lineSpan(last)
		_, head := in.lineSpan(line)
		if in.Lang == language.Python {
			head = end
		}
		text = string(in.Masked[min(head, stop):stop])
	default:
		open := in.tokenAt(end - 1)
		if open >= len(in.List) || !in.Is(open, "{") || in.List[open].Mate < 0 {
			return false
		}
		text = string(in.Masked[in.List[open].End:in.List[in.List[open].Mate].Pos])
	}
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == '\r' }) {
		s = strings.TrimSpace(s)
		if in.Lang == language.Elixir {
			_, s, _ = strings.Cut(s, "->")
			s = strings.TrimSpace(s)
		}
		if s != "" && !idleStatement.MatchString(strings.ToLower(s)) {
			return false
		}
	}
	return true
}

var (
	// dropped matches what drops the failure of the statement that it ends.
	dropped = map[language.Language]*regexp.Regexp{
		language.Ruby:       regexp.MustCompile(`\S[ \t]+rescue[ \t]+(?:nil|true|false|0|:\w+|puts\b[^\n]*|warn\b[^\n]*)[ \t]*$`),
		language.JavaScript: regexp.MustCompile(`\.catch\(\s*(?:(?:async\s*)?(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*\}|undefined|null|void 0|true|false|\(\s*\{\s*\}\s*\)|console\.\w+\([^)]*\))|function\s*\w*\(\s*\w*\s*\)\s*\{\s*\}|_?\.?noop)\s*\)`),
	}
	statementHead = regexp.MustCompile(`^\s*[.)}\]]`)
)

// droppedInline notes the lines that drop their own failure.
func (in *inspector) droppedInline() {
	re := dropped[in.likeLang()]
	if re == nil {
		return
	}
	for n := 1; n <= in.lastLine(); n++ {
		line := in.maskedLine(n)
		if !strings.Contains(line, "catch(") && !strings.Contains(line, "rescue") || !re.MatchString(line) || in.testAround(n) == nil {
			continue
		}
		m := Mark{Kind: Swallow, Line: n, From: n, To: n, Text: in.lineText(n)}
		for m.From > 1 && statementHead.MatchString(in.maskedLine(m.From)) {
			m.From--
		}
		in.marks = append(in.marks, m)
	}
}

// catchers are the functions that hand a failure back as a value.
var catchers = lex.WordSet(`runCatching catch_unwind`)

// droppedResults notes the calls that return a failure that is not used.
func (in *inspector) droppedResults() {
	for i := range in.List {
		if !in.List[i].Word || !catchers[in.Text(i)] && (in.Text(i) != "Exception" && in.Text(i) != "ExceptionAsync" || !in.Is(i-1, ".") || !in.Is(i-2, "Record")) {
			continue
		}
		open := i + 1
		if open >= len(in.List) || in.List[open].Mate < 0 || in.testAround(in.Line(i)) == nil {
			continue
		}
		end := in.List[open].Mate
		if in.Is(end+1, ".") && !dropsResult[in.Text(end+2)] || !in.unused(i) {
			continue
		}
		in.marks = append(in.marks, Mark{Kind: Swallow, Line: in.Line(i), From: in.Line(open), To: in.Line(end), Text: in.lineText(in.Line(i))})
	}
}

// dropsResult are the methods of a result that say nothing of a failure.
var dropsResult = lex.WordSet(`ok is_ok is_err isSuccess isFailure getOrNull unwrap_or_default unwrap_or getOrDefault`)

// unused reports whether the value of the call that holds token i is not used: a
// statement begins with it, or it is given to _.
func (in *inspector) unused(i int) bool {
	head := in.between(in.List[in.First[in.Line(i)-1]].Pos, in.List[i].Pos)
	return discarding.MatchString(head)
}

var discarding = regexp.MustCompile(`^(?:(?:let|val|var|auto)?\s*_\w*\s*(?::[^=]*)?=\s*|drop\(|await\s+)*(?:std::|panic::|core::|kotlin\.|Record\.)*$`)

// swallowing matches what catches failures, by language: the head of what
// handles them in masked text, with everything that it does.
var swallowing = map[language.Language]*regexp.Regexp{
	language.Python:     regexp.MustCompile(`(?m)^[ \t]*except(?:[ \t]+\(?[\w., ]*\b(?:Exception|AssertionError|BaseException)\b[\w., ]*\)?(?:[ \t]+as[ \t]+\w+)?)?[ \t]*:\s*(?:pass|\.\.\.|return|continue|print\([^\n]*\))[ \t]*(?:\n|$)`),
	language.JavaScript: regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*(?:return;?|console\.\w+\([^)]*\);?)?\s*\}`),
	language.Java:       regexp.MustCompile(`\bcatch\s*\(\s*(?:final\s+)?(?:[\w.| ]*\b(?:Throwable|Exception|AssertionError|Error|AssertionFailedError)\b)\s*\w*\s*\)\s*\{\s*(?:return;?|System\.\w+\.print\w*\([^)]*\);?)?\s*\}`),
	language.Kotlin:     regexp.MustCompile(`\bcatch\s*\(\s*\w+\s*:\s*(?:Throwable|Exception|AssertionError|Error)\s*\)\s*\{\s*(?:return|println\([^)]*\))?\s*\}`),
	language.Ruby:       regexp.MustCompile(`(?m)^[ \t]*rescue\b[^\n]*\n(?:[ \t]*(?:nil|true|puts[^\n]*)[ \t]*\n|[ \t]*\n)*[ \t]*end\b`),
	language.PHP:        regexp.MustCompile(`\bcatch\s*\(\s*\\?(?:Throwable|Exception|[\w\\]*AssertionFailedError|[\w\\]*ExpectationFailedException|Error)\s*(?:\$\w+)?\s*\)\s*\{\s*(?:return;?)?\s*\}`),
	language.CSharp:     regexp.MustCompile(`\bcatch\s*(?:\(\s*(?:System\.)?(?:Exception|\w*Assert\w*Exception)\s*\w*\s*\))?\s*\{\s*(?:return;?)?\s*\}`),
	language.CPP:        regexp.MustCompile(`\bcatch\s*\(\s*(?:\.\.\.|(?:const\s+)?std::exception\s*&?\s*\w*)\s*\)\s*\{\s*(?:return;?)?\s*\}`),
	language.Swift:      regexp.MustCompile(`\bcatch\s*\{\s*(?:return)?\s*\}`),
	language.Go:         regexp.MustCompile(`\bdefer func\(\)\s*\{\s*(?:_\s*=\s*)?recover\(\)\s*\}\(\)|\bif r := recover\(\); r != nil \{\s*\}`),
	language.Rust:       regexp.MustCompile(`\blet\s+_\w*\s*=\s*(?:std::)?(?:panic::)?catch_unwind\b`),
}

// alike are languages that are read as another.
var alike = map[language.Language]language.Language{language.TypeScript: language.JavaScript, language.C: language.CPP}

// likeLang is the language, or the one whose handlers read like its own.
func (in *inspector) likeLang() language.Language { return cmp.Or(alike[in.Lang], in.Lang) }

// suppressing matches what drops failures of the block after it.
var suppressing = regexp.MustCompile(`\bwith\s+(?:contextlib\.)?suppress\([^)]*\b(?:Exception|AssertionError|BaseException)\b`)

// swallowed notes the lines of tests whose failures are caught and dropped.
func (in *inspector) swallowed() {
	re := swallowing[in.likeLang()]
	if re == nil {
		return
	}
	for _, at := range re.FindAllIndex(in.Masked, -1) {
		i := in.tokenAt(at[0])
		for i < len(in.List) && lex.IsSpace(in.Masked[in.List[i].Pos]) {
			i++
		}
		if i >= len(in.List) {
			continue
		}
		m := Mark{Kind: Swallow, Line: in.Line(i), Text: in.between(in.List[i].Pos, at[1])}
		if in.dropsAll(i, at[0]) && in.triedLines(&m, i) && (!in.inTest || in.testAround(m.From) != nil) {
			in.marks = append(in.marks, m)
		}
	}
	if in.Lang == language.Python {
		for _, at := range suppressing.FindAllIndex(in.Masked, -1) {
			i := in.tokenAt(at[0])
			line := in.Line(i)
			m := Mark{Kind: Swallow, Line: line, From: line + 1, Text: in.lineText(line)}
			m.To = in.indentedEnd(line, in.Indent(i), in.lastLine())
			in.marks = append(in.marks, m)
		}
	}
}

// dropsAll reports whether the handler of a test at token i, which begins at a place,
// drops the failures of assertions: it says so of one kind of error, or does more.
func (in *inspector) dropsAll(i, at int) bool {
	switch {
	case !in.inTest:
		return true
	case in.Lang == language.Python:
		return in.isIdle(i, at+bytes.IndexByte(in.Masked[at:], ':')+1)
	case in.Lang == language.Ruby:
		return catching[language.Ruby].MatchString(in.maskedLine(in.Line(i)))
	}
	return true
}

// triedLines finds the lines that a handler at token i is for.
func (in *inspector) triedLines(m *Mark, i int) bool {
	if in.Lang == language.Go || in.Lang == language.Rust {
		m.From, m.To = m.Line, m.Line
		if t := in.testAround(m.Line); t != nil {
			m.To = t.End
		}
		return true
	}
	if in.Lang == language.Python || in.Lang == language.Ruby {
		return in.triedAbove(m, in.Indent(i))
	}
	if !in.Is(i-1, "}") || in.List[i-1].Mate < 0 {
		return false
	}
	m.From, m.To = in.Line(in.List[i-1].Mate), in.Line(i-1)
	return true
}

// triedAbove finds the lines above a handler of the same indentation.
func (in *inspector) triedAbove(m *Mark, level int) bool {
	for n := m.Line - 1; n >= 1; n-- {
		j, ok := in.begins(n)
		if !ok || in.Indent(j) > level {
			continue
		}
		text := in.lineText(n)
		if strings.HasPrefix(text, "try:") || text == "begin" || in.Lang == language.Ruby && in.Indent(j) == level && !strings.HasPrefix(text, "rescue") {
			m.From, m.To = n+1, m.Line-1
			return true
		}
		if in.Indent(j) < level {
			return false
		}
	}
	return false
}

// tokensFor returns the code in tokens, but for Go code that is not a test and drops no
// failure: its functions are read by Go's own parser, and no rule needs more.
func tokensFor(r *lex.Reading, inTest bool) *lex.Tokens {
	if r.Lang == language.Go && !inTest && !r.IsSplit() {
		if masked := lex.Mask(r.Src, r.Kinds); !swallowing[language.Go].Match(masked) {
			return &lex.Tokens{Lang: language.Go, Src: r.Src, Masked: masked}
		}
	}
	return r.Tokens()
}
