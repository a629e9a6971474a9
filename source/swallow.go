package source

import (
	"bytes"
	"strings"

	"supervise/internal/regexp"
)

// catching matches by language the heads of handlers that take the failure of an
// assertion, whatever they do then. What they do is looked at by isIdle.
var catching = map[Language]*regexp.Regexp{
	Python:     regexp.MustCompile(`(?m)^[ \t]*except\b(?:[ \t]*\*?[ \t]*\(?[\w., ]*\b(?:Exception|AssertionError|BaseException|Failed|OutcomeException)\b[\w., ]*\)?)?(?:[ \t]+as[ \t]+\w+)?[ \t]*:`),
	JavaScript: regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{`),
	Java:       regexp.MustCompile(`\bcatch\s*\(\s*(?:final\s+)?[\w.| ]*\b(?:Throwable|Exception|AssertionError|Error|AssertionFailedError|ComparisonFailure)\b\s*\w*\s*\)\s*\{`),
	Kotlin:     regexp.MustCompile(`\bcatch\s*\(\s*\w+\s*:\s*(?:Throwable|Exception|AssertionError|Error)\s*\)\s*\{`),
	Ruby:       regexp.MustCompile(`(?m)^[ \t]*rescue\b(?:[ \t]*$|[ \t]*=>|[^\n]*\b(?:Exception|StandardError|Assertion|ExpectationNotMetError|AssertionFailedError)\b)[^\n]*`),
	PHP:        regexp.MustCompile(`\bcatch\s*\(\s*[\w\\| ]*\b(?:Throwable|Exception|AssertionFailedError|ExpectationFailedException|Error)\b\s*(?:\$\w+)?\s*\)\s*\{`),
	CSharp:     regexp.MustCompile(`\bcatch\s*(?:\(\s*(?:[\w.]+\.)?(?:Exception|\w*Assert\w*Exception|XunitException)\s*\w*\s*\))?\s*(?:when\s*\([^)]*\)\s*)?\{`),
	CPP:        regexp.MustCompile(`\bcatch\s*\(\s*(?:\.\.\.|(?:const\s+)?std::(?:exception|runtime_error|logic_error)\s*(?:const\s*)?&?\s*\w*)\s*\)\s*\{`),
	Swift:      regexp.MustCompile(`\bcatch\s*(?:let\s+\w+\s*)?\{`),
	Elixir:     regexp.MustCompile(`(?m)^[ \t]*(?:rescue|catch)[ \t]*$`),
}

// idleStatement matches statements of a handler by which a failure is dropped,
// or no more than written down, in lower case.
var idleStatement = regexp.MustCompile(`^(?:pass|\.\.\.|continue|break|next|nil|null|none|true|false|:ok|:error|:skip|ok|_|0|void \w+|_\s*=\s*\w+|\w+\.printstacktrace\(\)|\w+\.message|e|ex|err|error|exception|ignored` +
	`|return(?:\s+(?:none|nil|null|true|false|undefined|:ok|0))?` +
	`|(?:self\.|this\.|\$this->|std::)?(?:print|println|puts|pp|p|warn|warnings|log\w*|console|system\.(?:out|err)|fmt|io|trace|debug|nslog|os_log|error_log|echo|var_dump|printf|fprintf|cout|cerr|testcontext|output|_output|eprintln!?)\b.*)$`)

// swallowedInTests notes the handlers in tests that drop failures in more words than an
// empty block, and what drops them without a handler.
func (in *inspector) swallowedInTests() {
	lang := in.lang
	if like, ok := alike[lang]; ok {
		lang = like
	}
	noted := map[int]bool{}
	for _, m := range in.marks {
		noted[m.Line] = noted[m.Line] || m.Kind == Swallow
	}
	if re := catching[lang]; re != nil {
		for _, at := range re.FindAllIndex(in.masked, -1) {
			i := in.tokenAt(at[0])
			if i >= len(in.list) || noted[in.line(i)] || in.testAround(in.line(i)) == nil {
				continue
			}
			m := Mark{Kind: Swallow, Line: in.line(i), Text: in.lineText(in.line(i))}
			if in.isIdle(i, at[1]) && in.triedBefore(&m, i) {
				in.marks = append(in.marks, m)
			}
		}
	}
	in.droppedInline()
	if lang == Kotlin || lang == Rust || lang == CSharp {
		in.droppedResults()
	}
}

// triedBefore is triedLines, for Elixir, too, where what is tried stands above.
func (in *inspector) triedBefore(m *Mark, i int) bool {
	if in.lang != Elixir {
		return in.triedLines(m, i)
	}
	level := in.indent(i)
	for n := m.Line - 1; n >= 1; n-- {
		if j, ok := in.begins(n); ok && in.indent(j) <= level {
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
	switch in.lang {
	case Python, Ruby, Elixir:
		line := in.line(i)
		last := in.indentedEnd(line, in.indent(i), in.lastLine())
		_, stop := in.lineSpan(last)
		_, head := in.lineSpan(line)
		if in.lang == Python {
			head = end
		}
		text = string(in.masked[min(head, stop):stop])
	default:
		open := in.tokenAt(end - 1)
		if open >= len(in.list) || !in.is(open, "{") || in.list[open].mate < 0 {
			return false
		}
		text = string(in.masked[in.list[open].end:in.list[in.list[open].mate].pos])
	}
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == '\r' }) {
		s = strings.TrimSpace(s)
		if in.lang == Elixir {
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
	dropped = map[Language]*regexp.Regexp{
		Ruby:       regexp.MustCompile(`\S[ \t]+rescue[ \t]+(?:nil|true|false|0|:\w+|puts\b[^\n]*|warn\b[^\n]*)[ \t]*$`),
		JavaScript: regexp.MustCompile(`\.catch\(\s*(?:(?:async\s*)?(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*\}|undefined|null|void 0|true|false|\(\s*\{\s*\}\s*\)|console\.\w+\([^)]*\))|function\s*\w*\(\s*\w*\s*\)\s*\{\s*\}|_?\.?noop)\s*\)`),
	}
	statementHead = regexp.MustCompile(`^\s*[.)}\]]`)
)

// droppedInline notes the lines that drop their own failure.
func (in *inspector) droppedInline() {
	lang := in.lang
	if like, ok := alike[lang]; ok {
		lang = like
	}
	re := dropped[lang]
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
var catchers = words(`runCatching catch_unwind`)

// droppedResults notes the calls that hand a failure back where nobody takes it.
func (in *inspector) droppedResults() {
	for i := range in.list {
		if !in.list[i].word || !catchers[in.text(i)] && (in.text(i) != "Exception" && in.text(i) != "ExceptionAsync" || !in.is(i-1, ".") || !in.is(i-2, "Record")) {
			continue
		}
		open := i + 1
		if open >= len(in.list) || in.list[open].mate < 0 || in.testAround(in.line(i)) == nil {
			continue
		}
		end := in.list[open].mate
		if in.is(end+1, ".") && !dropsResult[in.text(end+2)] || !in.unused(i) {
			continue
		}
		in.marks = append(in.marks, Mark{Kind: Swallow, Line: in.line(i), From: in.line(open), To: in.line(end), Text: in.lineText(in.line(i))})
	}
}

// dropsResult are the methods of a result that say nothing of a failure.
var dropsResult = words(`ok is_ok is_err isSuccess isFailure getOrNull unwrap_or_default unwrap_or getOrDefault`)

// unused reports whether the value of the call that holds token i is not used: a
// statement begins with it, or it is given to _.
func (in *inspector) unused(i int) bool {
	head := in.between(in.list[in.first[in.line(i)-1]].pos, in.list[i].pos)
	return discarding.MatchString(head)
}

var discarding = regexp.MustCompile(`^(?:(?:let|val|var|auto)?\s*_\w*\s*(?::[^=]*)?=\s*|drop\(|await\s+)*(?:std::|panic::|core::|kotlin\.|Record\.)*$`)

// swallowing matches what catches failures, by language: the head of what
// handles them in masked text, with everything that it does.
var swallowing = map[Language]*regexp.Regexp{
	Python:     regexp.MustCompile(`(?m)^[ \t]*except(?:[ \t]+\(?[\w., ]*\b(?:Exception|AssertionError|BaseException)\b[\w., ]*\)?(?:[ \t]+as[ \t]+\w+)?)?[ \t]*:\s*(?:pass|\.\.\.|return|continue|print\([^\n]*\))[ \t]*(?:\n|$)`),
	JavaScript: regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*(?:return;?|console\.\w+\([^)]*\);?)?\s*\}`),
	Java:       regexp.MustCompile(`\bcatch\s*\(\s*(?:final\s+)?(?:[\w.| ]*\b(?:Throwable|Exception|AssertionError|Error|AssertionFailedError)\b)\s*\w*\s*\)\s*\{\s*(?:return;?|System\.\w+\.print\w*\([^)]*\);?)?\s*\}`),
	Kotlin:     regexp.MustCompile(`\bcatch\s*\(\s*\w+\s*:\s*(?:Throwable|Exception|AssertionError|Error)\s*\)\s*\{\s*(?:return|println\([^)]*\))?\s*\}`),
	Ruby:       regexp.MustCompile(`(?m)^[ \t]*rescue\b[^\n]*\n(?:[ \t]*(?:nil|true|puts[^\n]*)[ \t]*\n|[ \t]*\n)*[ \t]*end\b`),
	PHP:        regexp.MustCompile(`\bcatch\s*\(\s*\\?(?:Throwable|Exception|[\w\\]*AssertionFailedError|[\w\\]*ExpectationFailedException|Error)\s*(?:\$\w+)?\s*\)\s*\{\s*(?:return;?)?\s*\}`),
	CSharp:     regexp.MustCompile(`\bcatch\s*(?:\(\s*(?:System\.)?(?:Exception|\w*Assert\w*Exception)\s*\w*\s*\))?\s*\{\s*(?:return;?)?\s*\}`),
	CPP:        regexp.MustCompile(`\bcatch\s*\(\s*(?:\.\.\.|(?:const\s+)?std::exception\s*&?\s*\w*)\s*\)\s*\{\s*(?:return;?)?\s*\}`),
	Swift:      regexp.MustCompile(`\bcatch\s*\{\s*(?:return)?\s*\}`),
	Go:         regexp.MustCompile(`\bdefer func\(\)\s*\{\s*(?:_\s*=\s*)?recover\(\)\s*\}\(\)|\bif r := recover\(\); r != nil \{\s*\}`),
	Rust:       regexp.MustCompile(`\blet\s+_\w*\s*=\s*(?:std::)?(?:panic::)?catch_unwind\b`),
}

// alike are languages that are read as another.
var alike = map[Language]Language{TypeScript: JavaScript, C: CPP}

// suppressing matches what drops failures of the block behind it.
var suppressing = regexp.MustCompile(`\bwith\s+(?:contextlib\.)?suppress\([^)]*\b(?:Exception|AssertionError|BaseException)\b`)

// swallowed notes the lines of tests whose failures are caught and dropped.
func (in *inspector) swallowed() {
	lang := in.lang
	if like, ok := alike[lang]; ok {
		lang = like
	}
	re := swallowing[lang]
	if re == nil {
		return
	}
	for _, at := range re.FindAllIndex(in.masked, -1) {
		i := in.tokenAt(at[0])
		for i < len(in.list) && isSpace(in.masked[in.list[i].pos]) {
			i++
		}
		if i >= len(in.list) {
			continue
		}
		m := Mark{Kind: Swallow, Line: in.line(i), Text: in.between(in.list[i].pos, at[1])}
		if in.dropsAll(i, at[0]) && in.triedLines(&m, i) && (!in.inTest || in.testAround(m.From) != nil) {
			in.marks = append(in.marks, m)
		}
	}
	if lang == Python {
		for _, at := range suppressing.FindAllIndex(in.masked, -1) {
			i := in.tokenAt(at[0])
			line := in.line(i)
			m := Mark{Kind: Swallow, Line: line, From: line + 1, Text: in.lineText(line)}
			m.To = in.indentedEnd(line, in.indent(i), in.lastLine())
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
	case in.lang == Python:
		return in.isIdle(i, at+bytes.IndexByte(in.masked[at:], ':')+1)
	case in.lang == Ruby:
		return catching[Ruby].MatchString(in.maskedLine(in.line(i)))
	}
	return true
}

// triedLines finds the lines that a handler at token i is for.
func (in *inspector) triedLines(m *Mark, i int) bool {
	if in.lang == Go || in.lang == Rust {
		m.From, m.To = m.Line, m.Line
		if t := in.testAround(m.Line); t != nil {
			m.To = t.End
		}
		return true
	}
	if in.lang == Python || in.lang == Ruby {
		return in.triedAbove(m, in.indent(i))
	}
	if !in.is(i-1, "}") || in.list[i-1].mate < 0 {
		return false
	}
	m.From, m.To = in.line(in.list[i-1].mate), in.line(i-1)
	return true
}

// triedAbove finds the lines above a handler of the same indentation.
func (in *inspector) triedAbove(m *Mark, level int) bool {
	for n := m.Line - 1; n >= 1; n-- {
		j, ok := in.begins(n)
		if !ok || in.indent(j) > level {
			continue
		}
		text := in.lineText(n)
		if strings.HasPrefix(text, "try:") || text == "begin" || in.lang == Ruby && in.indent(j) == level && !strings.HasPrefix(text, "rescue") {
			m.From, m.To = n+1, m.Line-1
			return true
		}
		if in.indent(j) < level {
			return false
		}
	}
	return false
}

// tokensFor returns the code in tokens, but for Go code that is no test and drops no
// failure: its functions are read by Go's own parser, and nobody asks for more.
func tokensFor(r *reading, inTest bool) *tokens {
	if r.lang == Go && !inTest && !r.isSplit() {
		if masked := mask(r.src, r.kinds); !swallowing[Go].Match(masked) {
			return &tokens{lang: Go, src: r.src, masked: masked}
		}
	}
	return r.tokens()
}
