package inspect

import (
	"bytes"
	"cmp"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// handlerHeadREs match the heads of exception handlers that catch the failure of an assertion, by
// language: "except Exception:", "catch (e) {", "catch (Throwable t) {". Handlers of other
// errors, such as "except KeyError:", do not match. isIdleHandler checks what the handler does.
var handlerHeadREs = map[language.Language]*regexp.Regexp{
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

// idleStatementRE matches a statement that drops a failure or only prints it, in lower case:
// "pass", "return nil", "console.log(e)".
var idleStatementRE = regexp.MustCompile(`^(?:pass|\.\.\.|continue|break|next|nil|null|none|true|false|:ok|:error|:skip|ok|_|0|void \w+|_\s*=\s*\w+|\w+\.printstacktrace\(\)|\w+\.message|e|ex|err|error|exception|ignored` +
	`|return(?:\s+(?:none|nil|null|true|false|undefined|:ok|0))?` +
	`|(?:self\.|this\.|\$this->|std::)?(?:print|println|puts|pp|p|warn|warnings|log\w*|console|system\.(?:out|err)|fmt|io|trace|debug|nslog|os_log|error_log|echo|var_dump|printf|fprintf|cout|cerr|testcontext|output|_output|eprintln!?)\b.*)$`)

// markIdleHandlers marks the lines of tests whose failures a handler with idle statements
// drops, and the failures that are dropped without a handler.
func (in *inspector) markIdleHandlers() {
	lang := in.handlerLanguage()
	noted := map[int]bool{}
	for _, m := range in.marks {
		noted[m.Line] = noted[m.Line] || m.Kind == Swallow
	}

	if re := handlerHeadREs[lang]; re != nil {
		for _, at := range re.FindAllIndex(in.Masked, -1) {
			i := in.tokenAt(at[0])
			if i >= len(in.List) || noted[in.Line(i)] || in.file.TestAround(in.Line(i)) == nil {
				continue
			}
			m := Mark{Kind: Swallow, Line: in.Line(i), Text: in.lineText(in.Line(i))}
			if in.isIdleHandler(i, at[1]) && in.locateTried(&m, i) {
				in.marks = append(in.marks, m)
			}
		}
	}

	in.markInlineDrops()
	if lang == language.Kotlin || lang == language.Rust || lang == language.CSharp {
		in.markDroppedResults()
	}
}

// locateTried sets the lines of m to those whose failures the handler at token i catches. It
// returns false if they are not found. In Elixir they are the lines between "do" and the handler.
func (in *inspector) locateTried(m *Mark, i int) bool {
	if in.Lang != language.Elixir {
		return in.locateTriedBlock(m, i)
	}
	level := in.Indent(i)
	for n := m.Line - 1; n >= 1; n-- {
		if j, ok := in.firstTokenOf(n); ok && in.Indent(j) <= level {
			m.From, m.To = n+1, m.Line-1
			return strings.HasSuffix(in.lineText(n), "do")
		}
	}
	return false
}

// isIdleHandler reports whether every statement of the handler at token i is idle: none passes
// the failure on. The head of the handler ends at byte offset end.
func (in *inspector) isIdleHandler(i, end int) bool {
	var text string
	switch in.Lang {
	case language.Python, language.Ruby, language.Elixir:
		line := in.Line(i)
		last := in.indentedBlockEnd(line, in.Indent(i), in.lastLine())
		_, stop := in.lineSpan(last)
		_, head := in.lineSpan(line)
		if in.Lang == language.Python {
			head = end
		}
		text = string(in.Masked[min(head, stop):stop])
	default:
		open := in.tokenAt(end - 1)
		if open >= len(in.List) || !in.Is(open, "{") || in.List[open].Partner < 0 {
			return false
		}
		text = string(in.Masked[in.List[open].End:in.List[in.List[open].Partner].Pos])
	}

	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == '\r' }) {
		s = strings.TrimSpace(s)
		if in.Lang == language.Elixir {
			_, s, _ = strings.Cut(s, "->")
			s = strings.TrimSpace(s)
		}
		if s != "" && !idleStatementRE.MatchString(strings.ToLower(s)) {
			return false
		}
	}
	return true
}

var (
	// inlineDropREs match code that drops the failure of the statement before it, as in "save
	// rescue nil" and ".catch(() => {})".
	inlineDropREs = map[language.Language]*regexp.Regexp{
		language.Ruby:       regexp.MustCompile(`\S[ \t]+rescue[ \t]+(?:nil|true|false|0|:\w+|puts\b[^\n]*|warn\b[^\n]*)[ \t]*$`),
		language.JavaScript: regexp.MustCompile(`\.catch\(\s*(?:(?:async\s*)?(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*\}|undefined|null|void 0|true|false|\(\s*\{\s*\}\s*\)|console\.\w+\([^)]*\))|function\s*\w*\(\s*\w*\s*\)\s*\{\s*\}|_?\.?noop)\s*\)`),
	}
	// continuationRE matches a line that continues the statement of the line before, as in "
	// .catch(noop)".
	continuationRE = regexp.MustCompile(`^\s*[.)}\]]`)
)

// markInlineDrops marks the statements that drop their own failure.
func (in *inspector) markInlineDrops() {
	re := inlineDropREs[in.handlerLanguage()]
	if re == nil {
		return
	}
	for n := 1; n <= in.lastLine(); n++ {
		line := in.maskedLine(n)
		if !strings.Contains(line, "catch(") && !strings.Contains(line, "rescue") || !re.MatchString(line) || in.file.TestAround(n) == nil {
			continue
		}
		m := Mark{Kind: Swallow, Line: n, From: n, To: n, Text: in.lineText(n)}
		for m.From > 1 && continuationRE.MatchString(in.maskedLine(m.From)) {
			m.From--
		}
		in.marks = append(in.marks, m)
	}
}

// catchFunctions return a failure as a value instead of raising it.
var catchFunctions = lex.WordSet(`runCatching catch_unwind`)

// markDroppedResults marks the calls that return a failure as a value which the test does not
// use, as in "let _ = catch_unwind(…)" and "Record.Exception(…);".
func (in *inspector) markDroppedResults() {
	for i := range in.List {
		if !in.List[i].Word || !catchFunctions[in.Text(i)] && (in.Text(i) != "Exception" && in.Text(i) != "ExceptionAsync" || !in.Is(i-1, ".") || !in.Is(i-2, "Record")) {
			continue
		}

		open := i + 1
		if open >= len(in.List) || in.List[open].Partner < 0 || in.file.TestAround(in.Line(i)) == nil {
			continue
		}

		end := in.List[open].Partner
		if in.Is(end+1, ".") && !errorHidingMethods[in.Text(end+2)] || !in.isResultUnused(i) {
			continue
		}
		in.marks = append(in.marks, Mark{Kind: Swallow, Line: in.Line(i), From: in.Line(open), To: in.Line(end), Text: in.lineText(in.Line(i))})
	}
}

// errorHidingMethods are the methods of a result that do not raise the failure in it.
var errorHidingMethods = lex.WordSet(`ok is_ok is_err isSuccess isFailure getOrNull unwrap_or_default unwrap_or getOrDefault`)

// isResultUnused reports whether the result of the call that contains token i is not used: the
// call is a statement, or its result is assigned to _.
func (in *inspector) isResultUnused(i int) bool {
	head := in.between(in.List[in.FirstOfLine[in.Line(i)-1]].Pos, in.List[i].Pos)
	return discardRE.MatchString(head)
}

// discardRE matches the start of a statement whose result is discarded, as in "let _ = ".
var discardRE = regexp.MustCompile(`^(?:(?:let|val|var|auto)?\s*_\w*\s*(?::[^=]*)?=\s*|drop\(|await\s+)*(?:std::|panic::|core::|kotlin\.|Record\.)*$`)

// emptyHandlerREs match complete exception handlers that do nothing, by language: "except: pass",
// "catch (e) {}", "defer func() { recover() }()". They are also used for code without tests.
var emptyHandlerREs = map[language.Language]*regexp.Regexp{
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

// equivalentLanguages maps a language to another one with the same exception handlers.
var equivalentLanguages = map[language.Language]language.Language{language.TypeScript: language.JavaScript, language.C: language.CPP}

// handlerLanguage returns the key of the file's language in tables of handlers.
func (in *inspector) handlerLanguage() language.Language {
	return cmp.Or(equivalentLanguages[in.Lang], in.Lang)
}

// suppressRE matches the Python context manager that drops the failures of its block, as in "with
// suppress(Exception".
var suppressRE = regexp.MustCompile(`\bwith\s+(?:contextlib\.)?suppress\([^)]*\b(?:Exception|AssertionError|BaseException)\b`)

// markEmptyHandlers marks the lines whose failures an empty handler drops.
func (in *inspector) markEmptyHandlers() {
	re := emptyHandlerREs[in.handlerLanguage()]
	if re == nil {
		return
	}

	for _, at := range re.FindAllIndex(in.Masked, -1) {
		i := in.tokenAt(at[0])
		// The match may start with the white space before the handler.
		for i < len(in.List) && lex.IsSpace(in.Masked[in.List[i].Pos]) {
			i++
		}
		if i >= len(in.List) {
			continue
		}

		m := Mark{Kind: Swallow, Line: in.Line(i), Text: in.between(in.List[i].Pos, at[1])}
		if in.dropsAssertions(i, at[0]) && in.locateTriedBlock(&m, i) && (!in.inTest || in.file.TestAround(m.From) != nil) {
			in.marks = append(in.marks, m)
		}
	}

	if in.Lang == language.Python {
		for _, at := range suppressRE.FindAllIndex(in.Masked, -1) {
			i := in.tokenAt(at[0])
			line := in.Line(i)
			m := Mark{Kind: Swallow, Line: line, From: line + 1, Text: in.lineText(line)}
			m.To = in.indentedBlockEnd(line, in.Indent(i), in.lastLine())
			in.marks = append(in.marks, m)
		}
	}
}

// dropsAssertions reports whether the handler at token i, which starts at byte offset at,
// drops failures of assertions, and not only of one other kind of error.
func (in *inspector) dropsAssertions(i, at int) bool {
	switch {
	case !in.inTest:
		return true
	case in.Lang == language.Python:
		return in.isIdleHandler(i, at+bytes.IndexByte(in.Masked[at:], ':')+1)
	case in.Lang == language.Ruby:
		return handlerHeadREs[language.Ruby].MatchString(in.maskedLine(in.Line(i)))
	}
	return true
}

// locateTriedBlock sets the lines of m to those whose failures the handler at token i catches. In
// Go and Rust they extend to the end of the test. It returns false if no block precedes the
// handler.
func (in *inspector) locateTriedBlock(m *Mark, i int) bool {
	if in.Lang == language.Go || in.Lang == language.Rust {
		m.From, m.To = m.Line, m.Line
		if t := in.file.TestAround(m.Line); t != nil {
			m.To = t.End
		}
		return true
	}

	if in.Lang == language.Python || in.Lang == language.Ruby {
		return in.locateTriedAbove(m, in.Indent(i))
	}

	if !in.Is(i-1, "}") || in.List[i-1].Partner < 0 {
		return false
	}
	m.From, m.To = in.Line(in.List[i-1].Partner), in.Line(i-1)
	return true
}

// locateTriedAbove sets the lines of m to those between a handler with the given indentation and
// the line that starts its block, such as "try:" or "begin". It returns false if there is no such
// line.
func (in *inspector) locateTriedAbove(m *Mark, level int) bool {
	for n := m.Line - 1; n >= 1; n-- {
		j, ok := in.firstTokenOf(n)
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

// tokensFor returns the tokens of the source. Go code that is neither a test nor drops a
// failure is not split: Go's own parser reads its functions, and no rule needs its tokens.
func tokensFor(r *lex.Source, inTest bool) *lex.Tokens {
	if r.Lang == language.Go && !inTest && !r.HasTokens() {
		if masked := lex.Mask(r.Src, r.Kinds); !emptyHandlerREs[language.Go].Match(masked) {
			return &lex.Tokens{Lang: language.Go, Src: r.Src, Masked: masked}
		}
	}
	return r.Tokens()
}
