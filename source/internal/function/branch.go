package function

import (
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// branching says which tokens of a language start another path through the
// code. Each counts one towards the cyclomatic complexity (McCabe 1976), the
// default path of a choice does not.
type branching struct {
	words   map[string]bool
	ops     map[string]bool
	ternary bool                                // ? between blanks
	not     func(t *lex.Tokens, i, in int) bool // exceptions; in is the brace around token i, -1 at the top
}

var (
	andOr  = lex.WordSet(`&& ||`)
	andOrQ = lex.WordSet(`&& || ??`)

	cBranches      = branching{words: lex.WordSet(`if for while case catch`), ops: andOr, ternary: true, not: notNative}
	scriptBranches = branching{words: lex.WordSet(`if for while case catch`), ops: andOrQ, ternary: true}
)

var branchings = [language.Count]branching{
	language.Go:         {words: lex.WordSet(`if for case`), ops: andOr},
	language.Python:     {words: lex.WordSet(`if elif for while except and or case`), not: notPython},
	language.JavaScript: scriptBranches,
	language.TypeScript: scriptBranches,
	language.Java:       {words: lex.WordSet(`if for while case catch`), ops: andOr, ternary: true},
	language.Kotlin:     {words: lex.WordSet(`if for while catch`), ops: lex.WordSet(`&& || ?: ->`), not: notKotlin},
	language.Rust:       {words: lex.WordSet(`if for while`), ops: lex.WordSet(`&& || =>`), not: notRust},
	language.Ruby:       {words: lex.WordSet(`if elsif unless while until for when rescue and or`), ops: andOr, ternary: true},
	language.PHP: {
		words: lex.WordSet(`if elseif for foreach while case catch and or`), ops: lex.WordSet(`&& || ?? ?:`),
		ternary: true,
	},
	language.CSharp: {words: lex.WordSet(`if for foreach while case catch`), ops: andOrQ, ternary: true, not: notNative},
	language.C:      cBranches,
	language.CPP:    cBranches,
	language.Swift:  {words: lex.WordSet(`if guard for while case catch`), ops: andOrQ, ternary: true, not: notSwift},
	language.Elixir: {words: lex.WordSet(`if unless for and or`), ops: lex.WordSet(`&& || ->`), not: notElixir},
	language.Scala:  {words: lex.WordSet(`if for while case`), ops: andOr, not: notScala},
	language.Shell:  {words: lex.WordSet(`if elif for while until`), ops: lex.WordSet(`&& || ;;`), not: notShell},
}

// decisions returns the indexes of the tokens that are decision points, in order.
func decisions(t *lex.Tokens) []int {
	b := &branchings[t.Lang]
	var found, open []int
	for i := range t.List {
		switch {
		case t.List[i].Mate > i && t.Is(i, "{"):
			open = append(open, i)
		case t.List[i].Mate >= 0 && len(open) > 0 && t.List[i].Mate == open[len(open)-1] && t.Is(i, "}"):
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

func (b *branching) decides(t *lex.Tokens, i int) bool {
	tok := t.List[i]
	read := t.Masked[tok.Pos:tok.End]
	if tok.Word {
		return b.words[string(read)] && !isNamed(t, i)
	}
	if b.ternary && len(read) == 1 && read[0] == '?' {
		return ternary(t, i)
	}
	return len(read) == 2 && b.ops[string(read)]
}

// isNamed reports whether a word only looks like a keyword: a member (x.for), a
// variable ($if), a symbol (:if) or a key (if: 1).
func isNamed(t *lex.Tokens, i int) bool {
	tok := t.List[i]
	if tok.Pos > 0 {
		switch t.Masked[tok.Pos-1] {
		case '.', '@', '$':
			return true
		case ':':
			if t.Lang == language.Ruby || t.Lang == language.Elixir {
				return true
			}
		}
	}
	return t.Lang != language.Python && tok.End < len(t.Masked) && t.Masked[tok.End] == ':'
}

// ternary distinguishes the operator from the marks of optional types, optional
// members and wildcards, which are written without blanks on both sides.
func ternary(t *lex.Tokens, i int) bool {
	before, after := t.Spaced(i)
	return before && after && !t.Is(i-1, ",") && !t.Is(i-1, "<") && !t.Is(i-1, "(")
}

// notNative excludes the preprocessor (#if decides nothing at run time) and
// the references to temporaries of C++ (T&& x).
func notNative(t *lex.Tokens, i, _ int) bool {
	if t.Is(i, "&&") {
		before, after := t.Spaced(i)
		return before != after
	}
	return t.Is(i-1, "#")
}

// notPython excludes names called case, and the default "case _:".
func notPython(t *lex.Tokens, i, _ int) bool {
	if !t.Is(i, "case") {
		return false
	}
	if !t.StartsLine(i) || t.Is(i+1, "_") && t.Is(i+2, ":") {
		return true
	}
	return !clause(t, i+1)
}

// clause reports whether what begins at token i is closed by a colon, as the
// pattern of a case is and what is done to a variable of that name is not.
func clause(t *lex.Tokens, i int) bool {
	if t.Is(i, "=") || t.Is(i, ":") || t.Is(i, ".") {
		return false
	}
	for n := 0; n < headLimit && i < len(t.List) && (n == 0 || !t.StartsLine(i)); n++ {
		if t.Is(i, ":") {
			return true
		}
		i = t.Skip(i)
	}
	return false
}

// notKotlin keeps arrows only where they belong to a branch of when.
func notKotlin(t *lex.Tokens, i, in int) bool {
	if !t.Is(i, "->") {
		return false
	}
	if in < 0 || t.Is(i-1, "else") {
		return true
	}
	head := in - 1
	if t.Is(head, ")") && t.List[head].Mate >= 0 {
		head = t.List[head].Mate - 1
	}
	return !t.Is(head, "when")
}

// notRust excludes the default arm, closures without arguments (|| x) and
// references to references (&&x).
func notRust(t *lex.Tokens, i, _ int) bool {
	if t.Is(i, "=>") {
		return t.Is(i-1, "_")
	}
	if t.IsWord(i) || i == 0 {
		return false
	}
	switch t.Text(i - 1) {
	case ")", "]", "}", "\"", "'", "?":
		return false
	case "return", "move", "in", "else", "match", "if", "while":
		return true
	}
	return !t.IsWord(i - 1)
}

// notSwift excludes the patterns of if case and the cases that an enumeration
// declares.
func notSwift(t *lex.Tokens, i, in int) bool {
	if !t.Is(i, "case") {
		return false
	}
	switch t.Text(i - 1) {
	case "if", "guard", "for", "while", ",":
		return true
	}
	for j := in - 1; j >= 0 && in-j < 30; j-- {
		switch t.Text(j) {
		case "enum":
			return true
		case "{", "}", ";":
			return false
		}
	}
	return false
}

// notElixir keeps arrows only where they are a clause, and not the last resort.
func notElixir(t *lex.Tokens, i, _ int) bool {
	if !t.Is(i, "->") {
		return false
	}
	if t.Is(i-1, "_") || t.Is(i-1, "true") {
		return true
	}
	for j := i - 1; j >= 0 && i-j < 60 && t.List[j].Line == t.List[i].Line; j-- {
		if t.Is(j, "fn") || t.Is(j, "::") {
			return true
		}
	}
	return false
}

// notScala excludes case classes and the default case.
func notScala(t *lex.Tokens, i, _ int) bool {
	return t.Is(i, "case") && (t.Is(i+1, "class") || t.Is(i+1, "object") || t.Is(i+1, "_") && t.Is(i+2, "=>"))
}

// notShell keeps keywords only where a command can be: "echo if" decides
// nothing.
func notShell(t *lex.Tokens, i, _ int) bool {
	if !t.IsWord(i) || t.StartsLine(i) {
		return false
	}
	switch t.Text(i - 1) {
	case ";", "&", "&&", "|", "||", "(", "{", ")", ";;", "!", "do", "then", "else", "time":
		return false
	}
	return true
}
