package inspect

import (
	"supervise/internal/regexp"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// returnWords are the statements that end a test.
var returnWords = lex.WordSet(`return`)

var (
	// conditionHeadRE matches the head of a conditional block, as in "if False:". The groups are
	// its word and its condition.
	conditionHeadRE = regexp.MustCompile(`^(if|elif|while|unless)\b\s*(.*?)(?::|\bthen|\bdo)?\s*$`)
	// rubyNextRE matches a Ruby line that ends the block of a test: "next" or "break".
	rubyNextRE = regexp.MustCompile(`^(?:next|break)$`)
)

// markUnreachable marks the lines of tests that never run: those after an unconditional
// return, and those under conditions that are always false.
func (in *inspector) markUnreachable() {
	for k := range in.file.Tests {
		t := &in.file.Tests[k]
		if t.Kind == tests.Example {
			continue
		}
		from, to, ok := in.testBody(t)
		switch {
		case !ok:
		case function.Shapes[in.Lang].Indented:
			in.markUnreachableInIndented(t, from, to)
		default:
			in.markUnreachableInBraces(t, from, to)
		}
	}
}

// testBody returns the first and last token of the body of a test. ok is false if the test
// has no body.
func (in *inspector) testBody(t *tests.TestDef) (from, to int, ok bool) {
	if t.Line < 1 || t.End >= len(in.FirstOfLine)+1 {
		return 0, 0, false
	}
	head := in.FirstOfLine[t.Line-1]
	to = in.FirstOfLine[min(t.End, in.lastLine())] - 1
	if function.Shapes[in.Lang].Indented {
		headEnd := in.testHeadEnd(t, head, to)
		return headEnd + 1, to, headEnd < to
	}
	for i := head; i <= to; i++ {
		if in.opensBlock(i) && in.opensFunctionBody(i) {
			return i + 1, in.List[i].Partner - 1, true
		}
	}
	return 0, 0, false
}

// testHeadEnd returns the last token of the head of a test whose body is indented. In
// Python, decorators may precede the word def.
func (in *inspector) testHeadEnd(t *tests.TestDef, head, to int) int {
	if in.Lang != language.Python {
		return in.FirstOfLine[t.Line] - 1
	}
	def := head
	for def < to && !in.Is(def, "def") {
		def++
	}
	return function.Shapes[language.Python].HeadEnd(in.Tokens, def, def+1)
}

// opensBlock reports whether token i is a brace that is closed later.
func (in *inspector) opensBlock(i int) bool { return in.Is(i, "{") && in.List[i].Partner > i }

// opensFunctionBody reports whether the brace at token i opens the body of a function:
// parameters, a result type or an arrow precede it.
func (in *inspector) opensFunctionBody(i int) bool {
	if in.Is(i-1, ")") || in.Is(i-1, "=>") || in.Is(i-1, "|") {
		return true
	}
	word, _ := in.blockHead(i)
	return functionHeadWords[word] || word == "" && in.IsWord(i-1)
}

// markUnreachableInBraces marks the unreachable statements of a body in braces.
func (in *inspector) markUnreachableInBraces(t *tests.TestDef, from, to int) {
	for i := from; i <= to; i++ {
		if in.opensBlock(i) {
			last, isEnd := in.markUnreachableBlock(t, i, to)
			if isEnd {
				return
			}
			i = last
			continue
		}
		isTopLevel := in.enclosing[i] == in.enclosing[from]
		if !in.isReturn(i) || !isTopLevel && !in.isUnconditional(i, from) {
			continue
		}
		if in.startsStatement(i) || in.isUnderTrueIf(i) {
			if next := in.statementEnd(i); next <= to {
				in.addUnreachable(t, in.List[i].Line, in.List[next].Line, in.List[to].Line)
			}
			return
		}
	}
}

// markUnreachableBlock marks the block that token i opens if its condition is always
// false, and what follows it if it always returns. It returns the token to continue after,
// and whether nothing after the block runs.
func (in *inspector) markUnreachableBlock(t *tests.TestDef, i, to int) (last int, isEnd bool) {
	word, head := in.blockHead(i)
	end := in.List[i].Partner

	if functionHeadWords[word] {
		return end, false
	}
	if word != "if" && word != "while" {
		return i, false
	}

	value, known := in.constantValue(in.headCondition(head, i))
	line := in.List[head].Line
	if known && !value {
		in.addUnreachable(t, line, line, in.Line(end))
	}
	if known && value && in.isReturn(i+1) && end < to {
		in.addUnreachable(t, line, in.Line(end)+1, t.End)
		return end, true
	}
	if word == "if" {
		return end, false // a return in the block depends on its condition
	}
	return i, false
}

// isUnderTrueIf reports whether token i is the statement of an if that is always true, as in
// "if (true) return".
func (in *inspector) isUnderTrueIf(i int) bool {
	if !in.Is(i-1, ")") || in.List[i-1].Partner < 1 || !in.Is(in.List[i-1].Partner-1, "if") {
		return false
	}
	value, known := in.constantValue(in.between(in.List[in.List[i-1].Partner].End, in.List[i-1].Pos))
	return known && value
}

// isUnconditional reports whether all blocks between token i and the body that starts at
// token from are plain blocks, without an if, a loop, a function or a class.
func (in *inspector) isUnconditional(i, from int) bool {
	for open := in.enclosing[i]; open >= 0 && open != in.enclosing[from]; open = in.enclosing[open] {
		followsStatement := in.Is(open-1, ";") || in.Is(open-1, "{") || in.Is(open-1, "}")
		if !in.Is(open, "{") || !followsStatement {
			return false
		}
		if word, _ := in.blockHead(open); word != "" {
			return false
		}
	}
	return true
}

// isReturn reports whether token i starts a return statement.
func (in *inspector) isReturn(i int) bool { return returnWords[in.Text(i)] }

// startsStatement reports whether token i is the first token of a statement.
func (in *inspector) startsStatement(i int) bool {
	return in.StartsLine(i) || in.Is(i-1, ";") || in.Is(i-1, "{") || in.Is(i-1, "}")
}

// statementEnd returns the token after the statement at token i, or the number of tokens if the
// file ends with it.
func (in *inspector) statementEnd(i int) int {
	for k := i + 1; k < len(in.List); k = in.Skip(k) {
		if in.Is(k, ";") {
			return k + 1
		}
		if in.StartsLine(k) && !in.continuesStatement(k) || in.Is(k, "}") {
			return k
		}
	}
	return len(in.List)
}

var (
	// leadingOperators start a line that continues the statement of the line before.
	leadingOperators = lex.WordSet(`. ?. && || +`)
	// trailingOperators end a line whose statement continues on the next line.
	trailingOperators = lex.WordSet(`, && ||`)
)

// continuesStatement reports whether token i, the first of its line, belongs to the
// statement of the line before.
func (in *inspector) continuesStatement(i int) bool {
	return leadingOperators[in.Text(i)] || trailingOperators[in.Text(i-1)]
}

// addUnreachable adds a mark at the given line for the lines of a test between from and to, both
// included. It adds none if there are no such lines.
func (in *inspector) addUnreachable(t *tests.TestDef, line, from, to int) {
	if to >= from {
		in.marks = append(in.marks, Mark{Kind: Unreachable, Line: line, From: from, To: min(to, t.End), Text: in.lineText(line)})
	}
}

// markUnreachableInIndented marks the unreachable statements of an indented body.
func (in *inspector) markUnreachableInIndented(t *tests.TestDef, from, to int) {
	if from >= len(in.List) || in.List[from].Line == t.Line { // the body is on the same line as the head
		return
	}

	bodyIndent := in.Indent(from)
	for n := in.List[from].Line; n <= t.End; n++ {
		i, ok := in.firstTokenOf(n)
		if !ok || i > to {
			continue
		}
		if open := in.enclosing[i]; open >= 0 && in.List[open].Line > t.Line {
			continue // a line within the brackets of a statement
		}

		end, isEnd := in.markUnreachableBranch(t, n, to)
		if isEnd {
			return
		}
		if end > n {
			n = end
			continue
		}

		if in.Indent(i) == bodyIndent && in.returnsUnconditionally(i, n) {
			in.addUnreachableRest(t, n)
			return
		}
	}
}

// returnsUnconditionally reports whether line n, which starts with token i, ends the test in
// any case.
func (in *inspector) returnsUnconditionally(i, n int) bool {
	if in.Lang == language.Ruby && rubyNextRE.MatchString(in.lineText(n)) {
		return true
	}
	return in.isReturn(i) && !rubyModifierRE.MatchString(in.maskedLine(n))
}

// addUnreachableRest adds a mark for all lines of a test after line n. In languages other than
// Python, the last line is the word that ends the test and is not included.
func (in *inspector) addUnreachableRest(t *tests.TestDef, n int) {
	end := t.End
	if in.Lang != language.Python {
		end--
	}
	if n < end {
		in.addUnreachable(t, n, n+1, end)
	}
}

// markUnreachableBranch reads line n as the head of a conditional block. It marks the block
// if it never runs, and returns its last line. isEnd reports that nothing after the block
// runs, because the block always returns.
func (in *inspector) markUnreachableBranch(t *tests.TestDef, n, to int) (end int, isEnd bool) {
	m := conditionHeadRE.FindStringSubmatch(in.lineText(n))
	if m == nil {
		return 0, false
	}

	value, known := in.constantValue(m[2])
	if !known {
		return 0, false
	}
	if m[1] == "unless" {
		value = !value
	}

	if !value {
		end = in.indentedBlockEnd(n, in.Indent(in.FirstOfLine[n-1]), t.End)
		in.addUnreachable(t, n, n, end)
		return end, false
	}

	if next := in.FirstOfLine[n]; m[1] != "while" && next <= to && in.isReturn(next) {
		in.addUnreachable(t, n, n+2, t.End)
		return 0, true
	}
	return 0, false
}

// indentedBlockEnd returns the last line, up to line last, of the block whose head is line n
// with the given indentation.
func (in *inspector) indentedBlockEnd(n, indent, last int) int {
	end := n
	for k := n + 1; k <= last; k++ {
		i, ok := in.firstTokenOf(k)
		if !ok {
			continue
		}
		if in.Indent(i) <= indent {
			break
		}
		end = k
	}
	return end
}
