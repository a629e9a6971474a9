package inspect

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// NotAwaited is the condition of a [Guard] whose lines run concurrently with the test, which
// does not wait for them.
const NotAwaited = "the test does not wait for it"

// markGuards marks the lines of tests that run only under a condition: those in an if without
// an else, those after a conditional return or continue, and those that run concurrently
// without the test waiting for them.
func (in *inspector) markGuards() {
	for k := range in.file.Tests {
		t := &in.file.Tests[k]
		if t.Kind == tests.Subtest || t.Kind == tests.Example || len(t.Assertions) == 0 {
			continue
		}
		if function.Shapes[in.Lang].Indented {
			in.markGuardedLines(t)
		} else {
			in.markGuardedBlocks(t)
			in.markNotAwaited(t)
		}
	}
}

// addGuard adds a mark at line n for the lines between from and to, both included. It adds none
// if there are no such lines, or if the condition is empty or constant.
func (in *inspector) addGuard(n, from, to int, cond string) {
	if _, known := in.constantValue(cond); from <= to && cond != "" && !known {
		in.marks = append(in.marks, Mark{Kind: Guard, Line: n, From: from, To: to, Text: in.lineText(n), Condition: cond})
	}
}

var (
	// leavingWords are the statements that skip the remaining lines of a test or of a loop
	// body.
	leavingWords = lex.WordSet(`return continue break next`)
	// oneLineIfRE matches a Python block on one line, as in "if ci: return". The groups are its
	// condition and its statement.
	oneLineIfRE = regexp.MustCompile(`^if\b(.*?):\s*(\S.*)$`)
	// elseLineRE matches the start of a line that continues an if with another branch: "else",
	// "elif" or "elsif".
	elseLineRE = regexp.MustCompile(`^(?:else|elif|elsif)\b`)
)

// markGuardedLines marks the guarded lines of a test whose body is indented.
func (in *inspector) markGuardedLines(t *tests.TestDef) {
	for n := t.Line + 1; n <= t.End; n++ {
		i, ok := in.firstTokenOf(n)
		if !ok {
			continue
		}

		text := in.lineText(n)
		if in.Lang == language.Python {
			if m := oneLineIfRE.FindStringSubmatch(in.maskedLine(n)[in.Indent(i):]); m != nil {
				in.markGuardedStatement(t, n, in.tokenAt(in.List[i].Pos+strings.Index(in.plainLine(n)[in.Indent(i):], m[2])), strings.TrimSpace(m[1]))
				continue
			}
		} else if m := rubyModifierRE.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text, m[1]) {
			in.markGuardedStatement(t, n, i, negateIf(m[1] == "unless", m[2]))
			continue
		}

		m := indentedHeadRE.FindStringSubmatch(text)
		if m == nil || m[1] != "if" && m[1] != "unless" {
			continue
		}

		end := in.indentedBlockEnd(n, in.Indent(i), t.End)
		if j := in.nextCodeLine(end, t.End); j > 0 && elseLineRE.MatchString(in.lineText(j)) {
			continue
		}

		if first := in.nextCodeLine(n, t.End); first > 0 && first <= end {
			if at, _ := in.firstTokenOf(first); leavingWords[in.Text(at)] {
				in.markGuardedRest(t, n, end, in.Text(at), conditionOfHead(m))
				continue
			}
			in.addGuard(n, first, end, conditionOfHead(m))
		}
	}
}

// nextCodeLine returns the first line with code after line n, up to line last, or 0 if there
// is none.
func (in *inspector) nextCodeLine(n, last int) int {
	for n++; n <= last; n++ {
		if _, ok := in.firstTokenOf(n); ok {
			return n
		}
	}
	return 0
}

// markGuardedStatement marks the statement at token i of line n, which runs only under a
// condition. If the statement leaves the test or its loop, the lines after it are marked instead.
func (in *inspector) markGuardedStatement(t *tests.TestDef, n, i int, cond string) {
	if i < len(in.List) && leavingWords[in.Text(i)] {
		in.markGuardedRest(t, n, n, in.Text(i), cond)
		return
	}
	in.addGuard(n, n, n, cond)
}

// markGuardedRest marks the lines after a conditional block, from line n to end, that leaves the
// test or its loop. word is the statement that leaves: "return" skips the remainder of the test,
// any other word the remainder of the loop body.
func (in *inspector) markGuardedRest(t *tests.TestDef, n, end int, word, cond string) {
	to := t.End
	if i, _ := in.firstTokenOf(n); word != "return" {
		level := in.Indent(i)
		for up := n - 1; up > t.Line; up-- {
			if j, ok := in.firstTokenOf(up); ok && in.Indent(j) < level {
				to = in.indentedBlockEnd(up, in.Indent(j), t.End)
				break
			}
		}
	}
	in.addGuard(n, end+1, to, negateIf(true, cond))
}

// markGuardedBlocks marks the guarded blocks of a test whose body is in braces.
func (in *inspector) markGuardedBlocks(t *tests.TestDef) {
	from, to, ok := in.testBody(t)
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
		if !in.Is(open, "{") { // the body is a statement without braces
			end := in.statementEnd(body)
			in.markGuardedBlock(t, j, [3]int{body, end - 1, end}, cond)
			continue
		}

		end := in.List[open].Partner
		in.markGuardedBlock(t, j, [3]int{body, end, end + 1}, cond)
	}
}

// markGuardedBlock marks a conditional block. block is its first token, its last token and the
// token after it. A block with an else is not marked.
func (in *inspector) markGuardedBlock(t *tests.TestDef, head int, block [3]int, cond string) {
	first, last, after := block[0], block[1], block[2]
	n := in.Line(head)
	switch {
	case in.Is(after, "else"):
	case leavingWords[in.Text(first)]:
		to := t.End
		for b := in.enclosing[head]; b >= 0 && in.List[b].Line > t.Line; b = in.enclosing[b] {
			word, _ := in.blockHead(b)
			if in.Is(b, "{") && (in.Is(first, "return") && functionHeadWords[word] || !in.Is(first, "return") && (word == "for" || word == "foreach" || word == "while")) {
				to = in.Line(in.List[b].Partner)
				break
			}
		}
		in.addGuard(n, in.Line(min(last, len(in.List)-1))+1, to, negateIf(true, cond))
	default:
		in.addGuard(n, in.Line(first), in.Line(min(last, len(in.List)-1)), cond)
	}
}

// ifBody returns the token that ends the condition of the if at token i, and the first token of
// its body. The first is a brace, or the body itself if it has no braces. Both are after token to
// if there is no body.
func (in *inspector) ifBody(i, to int) (open, body int) {
	if in.Is(i+1, "(") && in.List[i+1].Partner > i && in.Lang != language.Go && in.Lang != language.Rust && in.Lang != language.Swift {
		open = in.List[i+1].Partner + 1
		if in.Is(open, "{") {
			return open, open + 1
		}
		return open, open
	}
	for j := i + 1; j <= to; j = in.Skip(j) {
		if in.Is(j, "{") && in.List[j].Partner > j {
			return j, j + 1
		}
	}
	return to + 1, to + 1
}

// concurrency matches how a test starts concurrent work (startRE), and how it waits for that work
// (waitRE).
type concurrency struct{ startRE, waitRE *regexp.Regexp }

// concurrencies are the expressions of each language. They match, for example, "go func(" and
// "wg.Wait(" in Go, and "new Thread(" and "thread.join(" in Java.
var concurrencies = map[language.Language]concurrency{
	language.Go:         {regexp.MustCompile(`\bgo func\(`), regexp.MustCompile(`Wait\(|<-|\bselect\b|Eventually|synctest|\.Do\(`)},
	language.Rust:       {regexp.MustCompile(`\bspawn\(`), regexp.MustCompile(`join|await|recv`)},
	language.Java:       {regexp.MustCompile(`\bnew Thread\(|\.(?:submit|execute)\(|CompletableFuture\.\w+Async\(`), regexp.MustCompile(`join\(|\.get\(|await|invokeAll|shutdown|Latch`)},
	language.JavaScript: {regexp.MustCompile(`\.(?:then|finally)\(|\b(?:setTimeout|setImmediate|queueMicrotask|nextTick)\(|\bforEach\(\s*async\b|(?m:^\s*;?\(async\b)`), regexp.MustCompile(`\b(?:done|resolve|cb|callback|next|end)\b\s*[(,)]|[tT]imers?\b|\btick\(|\bplan\(|waitFor`)},
}

// markNotAwaited marks the lines that run concurrently with a test that does not wait for
// them.
func (in *inspector) markNotAwaited(t *tests.TestDef) {
	how, ok := concurrencies[in.handlerLanguage()]
	if !ok {
		return
	}
	if text := in.maskedLines(t.Line, t.End); !how.startRE.MatchString(text) || how.waitRE.MatchString(text) {
		return
	}

	for n := t.Line; n <= t.End; n++ {
		at := how.startRE.FindStringIndex(in.maskedLine(n))
		if at == nil {
			continue
		}
		from, _ := in.lineSpan(n)

		// Token i is the bracket that contains the concurrent code.
		i := in.tokenAt(from + at[1] - 1)
		for i < len(in.List) && in.List[i].Partner <= i {
			i++
		}
		if i >= len(in.List) || in.Line(i) != n || in.handlerLanguage() == language.JavaScript && in.isAwaited(i) {
			continue
		}

		end := in.Line(in.List[i].Partner)
		if in.Lang == language.Go && in.Is(in.List[i].Partner+1, "{") { // the body follows the parameters
			end = in.Line(in.List[in.List[i].Partner+1].Partner)
		}
		in.addGuard(n, n+1, end, NotAwaited)
		if end == n {
			in.addGuard(n, n, n, NotAwaited)
		}
	}
}

// maskedLines returns the lines between from and to, both included, without comments and the
// contents of strings.
func (in *inspector) maskedLines(from, to int) string {
	start, _ := in.lineSpan(from)
	_, end := in.lineSpan(min(to, in.lastLine()))
	return string(in.Masked[start:end])
}

// isAwaited reports whether the result of the call whose parenthesis is token i is used: awaited,
// returned or assigned.
func (in *inspector) isAwaited(i int) bool {
	k := i - 1
	for k >= 0 && !valueUseTokens[in.Text(k)] && (!in.StartsLine(k+1) || in.continuesStatement(k+1)) {
		if in.List[k].Partner >= 0 && in.List[k].Partner < k {
			k = in.List[k].Partner
		}
		k--
	}
	return k >= 0 && valueUseTokens[in.Text(k)]
}

// valueUseTokens are the tokens before a call that use its result.
var valueUseTokens = lex.WordSet(`=> = ( , [ : ? && || + return await yield`)
