package source

import (
	"strings"

	"supervise/internal/regexp"
)

// catching matches by language the heads of handlers that take the failure of an
// assertion, whatever they do then. What they do is looked at by shruggedOff.
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

// shrugged notes the handlers in tests that drop failures in more words than an
// empty block, and what drops them without a handler.
func (in *inspector) shrugged() {
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
			if in.shruggedOff(i, at[1]) && in.triedBefore(&m, i) {
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

// shruggedOff reports whether the handler at token i, whose head ends at a place,
// does nothing with the failure.
func (in *inspector) shruggedOff(i, end int) bool {
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
