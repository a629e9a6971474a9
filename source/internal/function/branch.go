package function

import (
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// branching lists the tokens of a language that start another path through the code. Each adds
// one to the cyclomatic complexity (McCabe 1976). The default branch of a switch does not.
type branching struct {
	words         map[string]bool // keywords, such as if
	operators     map[string]bool // operators of two bytes, such as &&
	countsTernary bool            // a question mark between spaces counts
	// isExcluded reports whether token i does not count although it is in the table. in is the
	// innermost open brace around it, -1 for none. A nil isExcluded excludes nothing.
	isExcluded func(t *lex.Tokens, i, in int) bool
}

var (
	andOr  = lex.WordSet(`&& ||`)
	andOrQ = lex.WordSet(`&& || ??`)

	cBranches      = branching{words: lex.WordSet(`if for while case catch`), operators: andOr, countsTernary: true, isExcluded: excludeNative}
	scriptBranches = branching{words: lex.WordSet(`if for while case catch`), operators: andOrQ, countsTernary: true}
)

// branchings are the decision points of each language.
var branchings = [language.Count]branching{
	language.Go:         {words: lex.WordSet(`if for case`), operators: andOr},
	language.Python:     {words: lex.WordSet(`if elif for while except and or case`), isExcluded: excludePython},
	language.JavaScript: scriptBranches,
	language.TypeScript: scriptBranches,
	language.Java:       {words: lex.WordSet(`if for while case catch`), operators: andOr, countsTernary: true},
	language.Kotlin:     {words: lex.WordSet(`if for while catch`), operators: lex.WordSet(`&& || ?: ->`), isExcluded: excludeKotlin},
	language.Rust:       {words: lex.WordSet(`if for while`), operators: lex.WordSet(`&& || =>`), isExcluded: excludeRust},
	language.Ruby:       {words: lex.WordSet(`if elsif unless while until for when rescue and or`), operators: andOr, countsTernary: true},
	language.PHP: {
		words: lex.WordSet(`if elseif for foreach while case catch and or`), operators: lex.WordSet(`&& || ?? ?:`),
		countsTernary: true,
	},
	language.CSharp: {words: lex.WordSet(`if for foreach while case catch`), operators: andOrQ, countsTernary: true, isExcluded: excludeNative},
	language.C:      cBranches,
	language.CPP:    cBranches,
	language.Swift:  {words: lex.WordSet(`if guard for while case catch`), operators: andOrQ, countsTernary: true, isExcluded: excludeSwift},
	language.Elixir: {words: lex.WordSet(`if unless for and or`), operators: lex.WordSet(`&& || ->`), isExcluded: excludeElixir},
	language.Scala:  {words: lex.WordSet(`if for while case`), operators: andOr, isExcluded: excludeScala},
	language.Shell:  {words: lex.WordSet(`if elif for while until`), operators: lex.WordSet(`&& || ;;`), isExcluded: excludeShell},
}

// findDecisions returns the tokens that are decision points, in order.
func findDecisions(t *lex.Tokens) []int {
	b := &branchings[t.Lang]
	var found, openBraces []int
	for i := range t.List {
		switch {
		case t.List[i].Partner > i && t.Is(i, "{"):
			openBraces = append(openBraces, i)
		case t.List[i].Partner >= 0 && len(openBraces) > 0 && t.List[i].Partner == openBraces[len(openBraces)-1] && t.Is(i, "}"):
			openBraces = openBraces[:len(openBraces)-1]
		}
		brace := -1
		if len(openBraces) > 0 {
			brace = openBraces[len(openBraces)-1]
		}
		if b.isDecision(t, i) && (b.isExcluded == nil || !b.isExcluded(t, i, brace)) {
			found = append(found, i)
		}
	}
	return found
}

// isDecision reports whether token i is one of the words and operators of the table.
func (b *branching) isDecision(t *lex.Tokens, i int) bool {
	tok := t.List[i]
	read := t.Masked[tok.Pos:tok.End]
	if tok.Word {
		return b.words[string(read)] && !isNamed(t, i)
	}
	if b.countsTernary && len(read) == 1 && read[0] == '?' {
		return isTernary(t, i)
	}
	return len(read) == 2 && b.operators[string(read)]
}

// isNamed reports whether a keyword is used as a name: a member (x.for), a variable ($if), a
// symbol (:if) or a key (if: 1).
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

// isTernary reports whether a question mark is the ternary operator. The marks of optional
// types, optional members and wildcards have no space on at least one side.
func isTernary(t *lex.Tokens, i int) bool {
	before, after := t.Spaced(i)
	return before && after && !t.Is(i-1, ",") && !t.Is(i-1, "<") && !t.Is(i-1, "(")
}

// excludeNative excludes the preprocessor (#if is no decision at run time) and the rvalue
// references of C++ (T&& x).
func excludeNative(t *lex.Tokens, i, _ int) bool {
	if t.Is(i, "&&") {
		before, after := t.Spaced(i)
		return before != after
	}
	return t.Is(i-1, "#")
}

// excludePython excludes variables named case, and the default "case _:".
func excludePython(t *lex.Tokens, i, _ int) bool {
	if !t.Is(i, "case") {
		return false
	}
	if !t.StartsLine(i) || t.Is(i+1, "_") && t.Is(i+2, ":") {
		return true
	}
	return !isCaseClause(t, i+1)
}

// isCaseClause reports whether a colon ends the line from token i, as it does for the pattern
// of a case.
func isCaseClause(t *lex.Tokens, i int) bool {
	if t.Is(i, "=") || t.Is(i, ":") || t.Is(i, ".") {
		return false
	}
	for n := 0; n < maxHeadTokens && i < len(t.List) && (n == 0 || !t.StartsLine(i)); n++ {
		if t.Is(i, ":") {
			return true
		}
		i = t.Skip(i)
	}
	return false
}

// excludeKotlin excludes arrows that are not branches of when.
func excludeKotlin(t *lex.Tokens, i, in int) bool {
	if !t.Is(i, "->") {
		return false
	}
	if in < 0 || t.Is(i-1, "else") {
		return true
	}
	head := in - 1
	if t.Is(head, ")") && t.List[head].Partner >= 0 {
		head = t.List[head].Partner - 1
	}
	return !t.Is(head, "when")
}

// excludeRust excludes the default arm, closures without parameters (|| x) and references to
// references (&&x).
func excludeRust(t *lex.Tokens, i, _ int) bool {
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

// excludeSwift excludes the patterns of "if case" and the cases of an enum declaration.
func excludeSwift(t *lex.Tokens, i, in int) bool {
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

// excludeElixir excludes arrows that are not clauses, and the default clause.
func excludeElixir(t *lex.Tokens, i, _ int) bool {
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

// excludeScala excludes case classes and the default case.
func excludeScala(t *lex.Tokens, i, _ int) bool {
	return t.Is(i, "case") && (t.Is(i+1, "class") || t.Is(i+1, "object") || t.Is(i+1, "_") && t.Is(i+2, "=>"))
}

// excludeShell excludes keywords that are not commands, as in "echo if".
func excludeShell(t *lex.Tokens, i, _ int) bool {
	if !t.IsWord(i) || t.StartsLine(i) {
		return false
	}
	switch t.Text(i - 1) {
	case ";", "&", "&&", "|", "||", "(", "{", ")", ";;", "!", "do", "then", "else", "time":
		return false
	}
	return true
}
