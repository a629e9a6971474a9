package inspect

import (
	"supervise/internal/regexp"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// dead notes the lines of tests that are never reached: after a return that
// is under no condition, and under conditions that never hold.
func (in *inspector) dead() {
	for k := range in.file.Tests {
		t := &in.file.Tests[k]
		if t.Kind == tests.Example {
			continue
		}
		from, to, ok := in.bodyOf(t)
		if !ok {
			continue
		}
		if function.Shapes[in.Lang].Indented {
			in.deadLines(t, from, to)
		} else {
			in.deadTokens(t, from, to)
		}
	}
}

// bodyOf returns the first and last token of the body of a test.
func (in *inspector) bodyOf(t *tests.TestDef) (from, to int, ok bool) {
	if t.Line < 1 || t.End >= len(in.First)+1 {
		return 0, 0, false
	}
	head := in.First[t.Line-1]
	to = in.First[min(t.End, in.lastLine())] - 1
	if function.Shapes[in.Lang].Indented {
		var last int
		if in.Lang == language.Python {
			if last = head; !in.Is(head, "def") {
				for last < to && !in.Is(last, "def") {
					last++
				}
			}
			last = function.Shapes[language.Python].HeadEnd(in.Tokens, last, last+1)
		} else {
			last = in.First[t.Line] - 1
		}
		return last + 1, to, last < to
	}
	for j := head; j <= to; j++ {
		if in.Is(j, "{") && in.List[j].Mate > j && in.functionBrace(j) {
			return j + 1, in.List[j].Mate - 1, true
		}
	}
	return 0, 0, false
}

// functionBrace reports whether a brace opens the body of a function: the
// parameters, what they return, or an arrow are before it.
func (in *inspector) functionBrace(j int) bool {
	if in.Is(j-1, ")") || in.Is(j-1, "=>") || in.Is(j-1, "|") {
		return true
	}
	word, _ := in.blockHead(j)
	return functionHeads[word] || word == "" && in.IsWord(j-1)
}

// ends are the statements that leave a test.
var leaves = lex.WordSet(`return`)

// deadTokens looks at the statements of a body in braces.
func (in *inspector) deadTokens(t *tests.TestDef, from, to int) {
	for j := from; j <= to; j++ {
		if in.Is(j, "{") && in.List[j].Mate > j {
			next, done := in.deadBlock(t, j, to)
			if done {
				return
			}
			j = next
			continue
		}
		if !leaves[in.Text(j)] || in.up[j] != in.up[from] && !in.plainBlock(j, from) {
			continue
		}
		if in.startsStatement(j) || in.alwaysLeaves(j) {
			if next := in.statementEnd(j); next <= to {
				in.noteDead(t, in.List[j].Line, in.List[next].Line, in.List[to].Line)
			}
			return
		}
	}
}

// deadBlock looks at the block that token j opens. It returns the token to continue
// after, and whether nothing after it is reached.
func (in *inspector) deadBlock(t *tests.TestDef, j, to int) (next int, done bool) {
	word, at := in.blockHead(j)
	end := in.List[j].Mate
	switch {
	case functionHeads[word]:
		return end, false
	case word != "if" && word != "while":
		return j, false
	}
	value, known := in.constant(in.headCondition(at, j))
	switch {
	case known && !value:
		in.noteDead(t, in.List[at].Line, in.List[at].Line, in.Line(end))
	case known && in.leavesAt(j+1) && end < to:
		in.noteDead(t, in.List[at].Line, in.Line(end)+1, t.End)
		return end, true
	}
	if word == "if" {
		return end, false // a condition is around what it holds
	}
	return j, false
}

// alwaysLeaves reads "if (true) return".
func (in *inspector) alwaysLeaves(j int) bool {
	if !in.Is(j-1, ")") || in.List[j-1].Mate < 1 || !in.Is(in.List[j-1].Mate-1, "if") {
		return false
	}
	value, known := in.constant(in.between(in.List[in.List[j-1].Mate].End, in.List[j-1].Pos))
	return known && value
}

// plainBlock reports whether all blocks between token j and a body are bare.
func (in *inspector) plainBlock(j, from int) bool {
	for b := in.up[j]; b >= 0 && b != in.up[from]; b = in.up[b] {
		if !in.Is(b, "{") {
			return false
		}
		if word, _ := in.blockHead(b); word != "" {
			return false
		}
		if !in.Is(b-1, ";") && !in.Is(b-1, "{") && !in.Is(b-1, "}") { // of a function or class without its own word
			return false
		}
	}
	return true
}

func (in *inspector) leavesAt(j int) bool { return leaves[in.Text(j)] }

func (in *inspector) startsStatement(j int) bool {
	return in.StartsLine(j) || in.Is(j-1, ";") || in.Is(j-1, "{") || in.Is(j-1, "}")
}

// statementEnd returns the token after the statement at token j.
func (in *inspector) statementEnd(j int) int {
	for k := j + 1; k < len(in.List); k = in.Skip(k) {
		if in.Is(k, ";") {
			return k + 1
		}
		if in.StartsLine(k) && !in.goesOnAt(k) || in.Is(k, "}") {
			return k
		}
	}
	return len(in.List)
}

func (in *inspector) goesOnAt(k int) bool {
	return in.Is(k, ".") || in.Is(k, "?.") || in.Is(k, "&&") || in.Is(k, "||") || in.Is(k, "+") || in.Is(k-1, ",") || in.Is(k-1, "&&") || in.Is(k-1, "||")
}

func (in *inspector) noteDead(t *tests.TestDef, line, from, to int) {
	if to >= from {
		in.marks = append(in.marks, Mark{Kind: Unreachable, Line: line, From: from, To: min(to, t.End), Text: in.lineText(line)})
	}
}

var neverHead = regexp.MustCompile(`^(if|elif|while|unless)\b\s*(.*?)(?::|\bthen|\bdo)?\s*$`)

// deadLines looks at the statements of a body that is indented.
func (in *inspector) deadLines(t *tests.TestDef, from, to int) {
	if from >= len(in.List) {
		return
	}
	base := in.Indent(from)
	if in.List[from].Line == t.Line { // on the line of the head
		return
	}
	for n := in.List[from].Line; n <= t.End; n++ {
		i, ok := in.begins(n)
		if !ok || i > to || in.up[i] >= 0 && in.List[in.up[i]].Line > t.Line {
			continue
		}
		end, done := in.deadHead(t, n, to)
		if done {
			return
		}
		if end > n {
			n = end
			continue
		}
		if in.Indent(i) == base && in.leavesLine(i, n) {
			in.deadAfter(t, n)
			return
		}
	}
}

// leavesLine reports whether line n leaves the test in any case.
func (in *inspector) leavesLine(i, n int) bool {
	return in.leavesAt(i) && !modifiers.MatchString(in.maskedLine(n)) || in.Lang == language.Ruby && rubyNext.MatchString(in.lineText(n))
}

// deadAfter notes all lines of a test after line n.
func (in *inspector) deadAfter(t *tests.TestDef, n int) {
	end := t.End
	if in.Lang != language.Python { // but for the word that ends it
		end--
	}
	if n < end {
		in.noteDead(t, n, n+1, end)
	}
}

// deadHead looks at a line that begins a block. It returns the last line of a
// block that is never reached, and whether nothing after is reached.
func (in *inspector) deadHead(t *tests.TestDef, n, to int) (end int, done bool) {
	m := neverHead.FindStringSubmatch(in.lineText(n))
	if m == nil {
		return 0, false
	}
	value, known := in.constant(m[2])
	if m[1] == "unless" {
		value = !value
	}
	if known && !value {
		end = in.indentedEnd(n, in.Indent(in.First[n-1]), t.End)
		in.noteDead(t, n, n, end)
		return end, false
	}
	if next := in.First[n]; known && m[1] != "while" && next <= to && in.leavesAt(next) {
		in.noteDead(t, n, n+2, t.End)
		return 0, true
	}
	return 0, false
}

var rubyNext = regexp.MustCompile(`^(?:next|break)$`)

// indentedEnd returns the last line of the block whose head is at line n.
func (in *inspector) indentedEnd(n, level, most int) int {
	last := n
	for k := n + 1; k <= most; k++ {
		i := in.First[k-1]
		if i >= len(in.List) || in.List[i].Line != k || in.InText[k-1] {
			continue
		}
		if in.Indent(i) <= level {
			break
		}
		last = k
	}
	return last
}
