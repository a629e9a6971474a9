package inspect

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// NotAwaited is the condition of lines that run without the test waiting for them.
const NotAwaited = "the test does not wait for it"

// guards notes the lines of tests that are only reached under a condition, without an
// alternative: within an if, after a return or a continue that is under one, and those
// that run in addition to the test, which does not wait.
func (in *inspector) guards() {
	for k := range in.file.Tests {
		t := &in.file.Tests[k]
		if t.Kind == tests.Subtest || t.Kind == tests.Example || len(t.Assertions) == 0 {
			continue
		}
		if function.Shapes[in.Lang].Indented {
			in.guardedLines(t)
		} else {
			in.guardedTokens(t)
			in.concurrentWith(t)
		}
	}
}

func (in *inspector) guard(n, from, to int, cond string) {
	if _, known := in.constant(cond); from <= to && cond != "" && !known {
		in.marks = append(in.marks, Mark{Kind: Guard, Line: n, From: from, To: to, Text: in.lineText(n), Condition: cond})
	}
}

var (
	// leaving are the statements after which the rest of a test, or of a round of its
	// loop, is not run.
	leaving = lex.WordSet(`return continue break next`)
	// oneLineIf matches a block of Python that is one line, at its colon.
	oneLineIf = regexp.MustCompile(`^if\b(.*?):\s*(\S.*)$`)
	elseLine  = regexp.MustCompile(`^(?:else|elif|elsif)\b`)
)

// guardedLines looks at the lines of a test whose blocks are indented.
func (in *inspector) guardedLines(t *tests.TestDef) {
	for n := t.Line + 1; n <= t.End; n++ {
		i, ok := in.begins(n)
		if !ok {
			continue
		}
		text := in.lineText(n)
		if in.Lang == language.Python {
			if m := oneLineIf.FindStringSubmatch(in.maskedLine(n)[in.Indent(i):]); m != nil {
				in.guardedStatement(t, n, in.tokenAt(in.List[i].Pos+strings.Index(in.plainLine(n)[in.Indent(i):], m[2])), strings.TrimSpace(m[1]))
				continue
			}
		} else if m := modifiers.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text, m[1]) {
			in.guardedStatement(t, n, i, negatedIf(m[1] == "unless", m[2]))
			continue
		}
		m := indentedHead.FindStringSubmatch(text)
		if m == nil || m[1] != "if" && m[1] != "unless" {
			continue
		}
		end := in.indentedEnd(n, in.Indent(i), t.End)
		if j := in.nextLine(end, t.End); j > 0 && elseLine.MatchString(in.lineText(j)) {
			continue
		}
		if first := in.nextLine(n, t.End); first > 0 && first <= end {
			if at, _ := in.begins(first); leaving[in.Text(at)] {
				in.unreachedAfter(t, n, end, in.Text(at), headOf(m))
				continue
			}
			in.guard(n, first, end, headOf(m))
		}
	}
}

// nextLine returns the first line with code after a line, 0 for none.
func (in *inspector) nextLine(n, last int) int {
	for n++; n <= last; n++ {
		if _, ok := in.begins(n); ok {
			return n
		}
	}
	return 0
}

// guardedStatement notes the statement at token i of a line, which is under a condition.
func (in *inspector) guardedStatement(t *tests.TestDef, n, i int, cond string) {
	if i < len(in.List) && leaving[in.Text(i)] {
		in.unreachedAfter(t, n, n, in.Text(i), cond)
		return
	}
	in.guard(n, n, n, cond)
}

// unreachedAfter notes the lines after a block that leaves the test, or the round of its
// loop, as far as that is what it leaves.
func (in *inspector) unreachedAfter(t *tests.TestDef, n, end int, word, cond string) {
	to := t.End
	if i, _ := in.begins(n); word != "return" {
		level := in.Indent(i)
		for up := n - 1; up > t.Line; up-- {
			if j, ok := in.begins(up); ok && in.Indent(j) < level {
				to = in.indentedEnd(up, in.Indent(j), t.End)
				break
			}
		}
	}
	in.guard(n, end+1, to, negatedIf(true, cond))
}

// guardedTokens looks at the blocks of a test in braces.
func (in *inspector) guardedTokens(t *tests.TestDef) {
	from, to, ok := in.bodyOf(t)
	if !ok {
		return
	}
	for j := from; j <= to; j++ {
		if !in.Is(j, "if") || in.Is(j-1, "else") || in.Is(j-1, ".") || in.Is(j-1, "#") {
			continue
		}
		open, body := in.ifBody(j, to)
		if body > to {
			continue
		}
		cond := in.headCondition(j, open)
		if !in.Is(open, "{") { // a statement without braces
			end := in.statementEnd(body)
			in.guardedBlock(t, j, [3]int{body, end - 1, end}, cond)
			continue
		}
		end := in.List[open].Mate
		in.guardedBlock(t, j, [3]int{body, end, end + 1}, cond)
	}
}

// guardedBlock notes a block: its first and last token, and the one after it, which must
// not be an alternative.
func (in *inspector) guardedBlock(t *tests.TestDef, head int, block [3]int, cond string) {
	first, last, after := block[0], block[1], block[2]
	n := in.Line(head)
	switch {
	case in.Is(after, "else"):
	case leaving[in.Text(first)]:
		to := t.End
		for b := in.up[head]; b >= 0 && in.List[b].Line > t.Line; b = in.up[b] {
			word, _ := in.blockHead(b)
			if in.Is(b, "{") && (in.Is(first, "return") && functionHeads[word] || !in.Is(first, "return") && (word == "for" || word == "foreach" || word == "while")) {
				to = in.Line(in.List[b].Mate)
				break
			}
		}
		in.guard(n, in.Line(min(last, len(in.List)-1))+1, to, negatedIf(true, cond))
	default:
		in.guard(n, in.Line(first), in.Line(min(last, len(in.List)-1)), cond)
	}
}

// ifBody returns the token that ends the condition of the if at token i, the brace of its
// block if it has one, and the first token of what it runs.
func (in *inspector) ifBody(i, to int) (open, body int) {
	if in.Is(i+1, "(") && in.List[i+1].Mate > i && in.Lang != language.Go && in.Lang != language.Rust && in.Lang != language.Swift {
		open = in.List[i+1].Mate + 1
		if in.Is(open, "{") {
			return open, open + 1
		}
		return open, open
	}
	for j := i + 1; j <= to; j = in.Skip(j) {
		if in.Is(j, "{") && in.List[j].Mate > j {
			return j, j + 1
		}
	}
	return to + 1, to + 1
}

// concurrency is how a language runs something in addition to the test, and how a test waits for it.
type concurrency struct{ starts, waits *regexp.Regexp }

var concurrencies = map[language.Language]concurrency{
	language.Go:         {regexp.MustCompile(`\bgo func\(`), regexp.MustCompile(`Wait\(|<-|\bselect\b|Eventually|synctest|\.Do\(`)},
	language.Rust:       {regexp.MustCompile(`\bspawn\(`), regexp.MustCompile(`join|await|recv`)},
	language.Java:       {regexp.MustCompile(`\bnew Thread\(|\.(?:submit|execute)\(|CompletableFuture\.\w+Async\(`), regexp.MustCompile(`join\(|\.get\(|await|invokeAll|shutdown|Latch`)},
	language.JavaScript: {regexp.MustCompile(`\.(?:then|finally)\(|\b(?:setTimeout|setImmediate|queueMicrotask|nextTick)\(|\bforEach\(\s*async\b|(?m:^\s*;?\(async\b)`), regexp.MustCompile(`\b(?:done|resolve|cb|callback|next|end)\b\s*[(,)]|[tT]imers?\b|\btick\(|\bplan\(|waitFor`)},
}

// concurrentWith notes the lines that run in addition to a test, if it does not wait for them.
func (in *inspector) concurrentWith(t *tests.TestDef) {
	how, ok := concurrencies[in.likeLang()]
	if !ok {
		return
	}
	if text := in.maskedLines(t.Line, t.End); !how.starts.MatchString(text) || how.waits.MatchString(text) {
		return
	}
	for n := t.Line; n <= t.End; n++ {
		at := how.starts.FindStringIndex(in.maskedLine(n))
		if at == nil {
			continue
		}
		from, _ := in.lineSpan(n)
		i := in.tokenAt(from + at[1] - 1)
		for i < len(in.List) && in.List[i].Mate <= i {
			i++
		}
		if i >= len(in.List) || in.Line(i) != n || in.likeLang() == language.JavaScript && in.awaited(i) {
			continue
		}
		end := in.Line(in.List[i].Mate)
		if in.Lang == language.Go && in.Is(in.List[i].Mate+1, "{") { // after the parameters
			end = in.Line(in.List[in.List[i].Mate+1].Mate)
		}
		in.guard(n, n+1, end, NotAwaited)
		if end == n {
			in.guard(n, n, n, NotAwaited)
		}
	}
}

// maskedLines returns some lines without comments and the bodies of strings.
func (in *inspector) maskedLines(from, to int) string {
	start, _ := in.lineSpan(from)
	_, end := in.lineSpan(min(to, in.lastLine()))
	return string(in.Masked[start:end])
}

// awaited reports whether the value of the call chain in front of the parenthesis at token
// i is used: awaited, returned, given to a name.
func (in *inspector) awaited(i int) bool {
	k := i - 1
	for k >= 0 && !using[in.Text(k)] && (!in.StartsLine(k+1) || in.goesOnAt(k+1)) {
		if in.List[k].Mate >= 0 && in.List[k].Mate < k {
			k = in.List[k].Mate
		}
		k--
	}
	return k >= 0 && using[in.Text(k)]
}

// using are the tokens in front of a call that use its value.
var using = lex.WordSet(`=> = ( , [ : ? && || + return await yield`)
