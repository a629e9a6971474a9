package source

// branching says which tokens of a language start another path through the
// code. Each counts one towards the cyclomatic complexity (McCabe 1976), the
// default path of a choice does not.
type branching struct {
	words   map[string]bool
	ops     map[string]bool
	ternary bool                            // ? between blanks
	not     func(t *tokens, i, in int) bool // exceptions; in is the brace around token i, -1 at the top
}

var (
	andOr  = words(`&& ||`)
	andOrQ = words(`&& || ??`)

	cBranches      = branching{words: words(`if for while case catch`), ops: andOr, ternary: true, not: notNative}
	scriptBranches = branching{words: words(`if for while case catch`), ops: andOrQ, ternary: true}
)

var branchings = [languageCount]branching{
	Go:         {words: words(`if for case`), ops: andOr},
	Python:     {words: words(`if elif for while except and or case`), not: notPython},
	JavaScript: scriptBranches,
	TypeScript: scriptBranches,
	Java:       {words: words(`if for while case catch`), ops: andOr, ternary: true},
	Kotlin:     {words: words(`if for while catch`), ops: words(`&& || ?: ->`), not: notKotlin},
	Rust:       {words: words(`if for while`), ops: words(`&& || =>`), not: notRust},
	Ruby:       {words: words(`if elsif unless while until for when rescue and or`), ops: andOr, ternary: true},
	PHP: {
		words: words(`if elseif for foreach while case catch and or`), ops: words(`&& || ?? ?:`),
		ternary: true,
	},
	CSharp: {words: words(`if for foreach while case catch`), ops: andOrQ, ternary: true, not: notNative},
	C:      cBranches,
	CPP:    cBranches,
	Swift:  {words: words(`if guard for while case catch`), ops: andOrQ, ternary: true, not: notSwift},
	Elixir: {words: words(`if unless for and or`), ops: words(`&& || ->`), not: notElixir},
	Scala:  {words: words(`if for while case`), ops: andOr, not: notScala},
	Shell:  {words: words(`if elif for while until`), ops: words(`&& || ;;`), not: notShell},
}

// decisions returns the indexes of the tokens that are decision points, in order.
func decisions(t *tokens) []int {
	b := &branchings[t.lang]
	var found, open []int
	for i := range t.list {
		switch {
		case t.list[i].mate > i && t.is(i, "{"):
			open = append(open, i)
		case t.list[i].mate >= 0 && len(open) > 0 && t.list[i].mate == open[len(open)-1] && t.is(i, "}"):
			open = open[:len(open)-1]
		}
		in := -1
		if len(open) > 0 {
			in = open[len(open)-1]
		}
		if b.decides(t, i) && (b.not == nil || !b.not(t, i, in)) {
			found = append(found, i)
		}
	}
	return found
}

func (b *branching) decides(t *tokens, i int) bool {
	tok := t.list[i]
	read := t.masked[tok.pos:tok.end]
	if tok.word {
		return b.words[string(read)] && !isNamed(t, i)
	}
	if b.ternary && len(read) == 1 && read[0] == '?' {
		return ternary(t, i)
	}
	return len(read) == 2 && b.ops[string(read)]
}

// isNamed reports whether a word only looks like a keyword: a member (x.for), a
// variable ($if), a symbol (:if) or a key (if: 1).
func isNamed(t *tokens, i int) bool {
	tok := t.list[i]
	if tok.pos > 0 {
		switch t.masked[tok.pos-1] {
		case '.', '@', '$':
			return true
		case ':':
			if t.lang == Ruby || t.lang == Elixir {
				return true
			}
		}
	}
	return t.lang != Python && tok.end < len(t.masked) && t.masked[tok.end] == ':'
}

// ternary tells the operator from the marks of optional types, optional
// members and wildcards, which are written without blanks on both sides.
func ternary(t *tokens, i int) bool {
	before, behind := t.spaced(i)
	return before && behind && !t.is(i-1, ",") && !t.is(i-1, "<") && !t.is(i-1, "(")
}

// notNative excludes the preprocessor (#if decides nothing at run time) and
// the references to temporaries of C++ (T&& x).
func notNative(t *tokens, i, _ int) bool {
	if t.is(i, "&&") {
		before, behind := t.spaced(i)
		return before != behind
	}
	return t.is(i-1, "#")
}

// notPython excludes names called case, and the default "case _:".
func notPython(t *tokens, i, _ int) bool {
	if !t.is(i, "case") {
		return false
	}
	if !t.startsLine(i) || t.is(i+1, "_") && t.is(i+2, ":") {
		return true
	}
	return !clause(t, i+1)
}

// clause reports whether what begins at token i is closed by a colon, as the
// pattern of a case is and what is done to a variable of that name is not.
func clause(t *tokens, i int) bool {
	if t.is(i, "=") || t.is(i, ":") || t.is(i, ".") {
		return false
	}
	for n := 0; n < headLimit && i < len(t.list) && (n == 0 || !t.startsLine(i)); n++ {
		if t.is(i, ":") {
			return true
		}
		i = t.skip(i)
	}
	return false
}

// notKotlin keeps arrows only where they belong to a branch of when.
func notKotlin(t *tokens, i, in int) bool {
	if !t.is(i, "->") {
		return false
	}
	if in < 0 || t.is(i-1, "else") {
		return true
	}
	head := in - 1
	if t.is(head, ")") && t.list[head].mate >= 0 {
		head = t.list[head].mate - 1
	}
	return !t.is(head, "when")
}

// notRust excludes the default arm, closures without arguments (|| x) and
// references to references (&&x).
func notRust(t *tokens, i, _ int) bool {
	if t.is(i, "=>") {
		return t.is(i-1, "_")
	}
	if t.isWord(i) || i == 0 {
		return false
	}
	switch t.text(i - 1) {
	case ")", "]", "}", "\"", "'", "?":
		return false
	case "return", "move", "in", "else", "match", "if", "while":
		return true
	}
	return !t.isWord(i - 1)
}

// notSwift excludes the patterns of if case and the cases that an enumeration
// declares.
func notSwift(t *tokens, i, in int) bool {
	if !t.is(i, "case") {
		return false
	}
	switch t.text(i - 1) {
	case "if", "guard", "for", "while", ",":
		return true
	}
	for j := in - 1; j >= 0 && in-j < 30; j-- {
		switch t.text(j) {
		case "enum":
			return true
		case "{", "}", ";":
			return false
		}
	}
	return false
}

// notElixir keeps arrows only where they are a clause, and not the last resort.
func notElixir(t *tokens, i, _ int) bool {
	if !t.is(i, "->") {
		return false
	}
	if t.is(i-1, "_") || t.is(i-1, "true") {
		return true
	}
	for j := i - 1; j >= 0 && i-j < 60 && t.list[j].line == t.list[i].line; j-- {
		if t.is(j, "fn") || t.is(j, "::") {
			return true
		}
	}
	return false
}

// notScala excludes case classes and the default case.
func notScala(t *tokens, i, _ int) bool {
	return t.is(i, "case") && (t.is(i+1, "class") || t.is(i+1, "object") || t.is(i+1, "_") && t.is(i+2, "=>"))
}

// notShell keeps keywords only where a command can stand: "echo if" decides
// nothing.
func notShell(t *tokens, i, _ int) bool {
	if !t.isWord(i) || t.startsLine(i) {
		return false
	}
	switch t.text(i - 1) {
	case ";", "&", "&&", "|", "||", "(", "{", ")", ";;", "!", "do", "then", "else", "time":
		return false
	}
	return true
}
