package function

import (
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// maxHeadTokens limits how far the head of a function is followed, in tokens outside brackets.
const maxHeadTokens = 200

// readBody finds the body of the function f whose head continues at token i: a block in braces,
// or an expression. It returns false if the declaration has no body.
func (s *Shape) readBody(t *lex.Tokens, f lex.Span, i int) (lex.Span, bool) {
	for n := 0; i < len(t.List) && n < maxHeadTokens; n++ {
		switch {
		case t.Is(i, "{") && (s.isOtherBrace == nil || !s.isOtherBrace(t, f.Head, i)):
			f.Body, f.End = i, t.List[i].Partner
			return f, f.End > i
		case s.expressionMark != "" && t.Is(i, s.expressionMark):
			return s.readExpressionBody(t, f, i)
		case s.endsDeclaration(t, f, i):
			return lex.Span{}, false
		}
		i = t.Skip(i)
	}
	return lex.Span{}, false
}

// endsDeclaration reports whether the declaration of f ends at token i without a body.
func (s *Shape) endsDeclaration(t *lex.Tokens, f lex.Span, i int) bool {
	// The declaration continues on a line that starts, or follows a line that ends, with such a
	// token.
	switch t.Text(i) {
	case ";", "}", ")":
		return true
	case "=":
		return s.definesByHeader // the value of a variable, or "= default" of C++
	}

	if t.List[i].Word && s.keywords[t.Text(i)] && t.Lang != language.Scala {
		return true
	}
	if t.List[i].Word && s.definesByHeader && declarationWords[t.Text(i)] && !t.Is(i-1, ":") && !t.Is(i-1, ",") {
		return true // not the constraint "where T : class" of C#
	}

	if !s.endsAtNewline || !t.StartsLine(i) {
		return false
	}
	switch t.Text(i) {
	case "(", ":", "->", "where", "throws", "rethrows", "async":
		return false
	}
	switch t.Text(i - 1) {
	case ":", "->", ",", "where":
		return false
	}
	return i > f.Head+1
}

// isTypeBrace reports whether a brace in the head of a TypeScript function opens a type.
func isTypeBrace(t *lex.Tokens, _, i int) bool {
	switch t.Text(i - 1) {
	case ":", "|", "&", "=>", "<", ",":
		return true
	}
	return false
}

// isInitializerBrace reports whether a brace in the head of a C++ constructor contains the
// value of a member.
func isInitializerBrace(t *lex.Tokens, head, i int) bool {
	return (t.IsWord(i-1) || t.Is(i-1, ">")) && isInitializer(t, head, i)
}

// isInitializer reports whether token i is in the list of initializers of a constructor.
func isInitializer(t *lex.Tokens, head, i int) bool {
	for j := i - 1; j > head; j-- {
		if m := t.List[j].Partner; m >= 0 && m < j {
			j = m
		}
		if t.Is(j, ":") {
			return true
		}
	}
	return false
}

// readExpressionBody reads the body after token i, an arrow or similar: an expression, or a block
// in braces.
func (s *Shape) readExpressionBody(t *lex.Tokens, f lex.Span, i int) (lex.Span, bool) {
	if t.Is(i+1, "{") {
		f.Body, f.End = i+1, t.List[i+1].Partner
		return f, f.End > i
	}
	return s.Block(t, f, i)
}

// HeadEnd returns the last token of the head of a function whose body is indented: the colon
// in Python, otherwise the end of the parameters.
func (s *Shape) HeadEnd(t *lex.Tokens, head, from int) int {
	if t.Lang != language.Python {
		if t.Is(from, "(") && t.List[from].Partner > from {
			return t.List[from].Partner
		}
		return from - 1
	}
	for i := from; i < len(t.List) && i < from+maxHeadTokens; i = t.Skip(i) {
		if t.Is(i, ":") {
			return i
		}
	}
	return head
}

// Block reads an indented body that starts after token last. The body ends before the next line
// whose indentation is not greater than that of the head. Lines within brackets or strings do not
// count. It returns false if the body is empty.
func (s *Shape) Block(t *lex.Tokens, f lex.Span, last int) (lex.Span, bool) {
	base := t.Indent(f.Head)
	f.Body, f.End = last+1, last
	for i := last + 1; i < len(t.List) && t.Budget > 0; t.Budget-- {
		if t.StartsLine(i) && t.List[i].Line > t.Line(last) && !t.InText[t.List[i].Line-1] {
			level := t.Indent(i)
			if level == base && s.closingWords[t.Text(i)] {
				f.End = i
				break
			}
			if level < base || level == base && !s.continuingWords[t.Text(i)] {
				break
			}
		}
		if s.closesOuter(t, i) {
			break
		}
		i = t.Skip(i)
		f.End = i - 1
	}
	return f, f.End > last || t.Lang == language.Python // in Python, the body may be only documentation
}

// closesOuter reports whether token i closes what surrounds a body without brackets: a bracket
// that opened before it, or the statement.
func (s *Shape) closesOuter(t *lex.Tokens, i int) bool {
	switch t.Text(i) {
	case "}", ")", "]":
		return true
	case ";":
		return !s.Indented
	}
	return false
}

// readAssignment reads a function that is assigned to the name at token i, as in "name = (…) =>
// …" and "name: function (…) { … }". It returns false if the value is no function.
func (s *Shape) readAssignment(t *lex.Tokens, i int) (lex.Span, bool) {
	f := lex.Span{Name: t.Text(i), Head: i}
	if t.Is(i-1, "type") {
		return lex.Span{}, false
	}
	if t.Is(i-1, ":") && t.IsWord(i-2) && t.Is(i+1, "=") { // the name precedes the type: const f: Handler = …
		f.Name = t.Text(i - 2)
	}

	j := i + 2
	if t.Is(j, "async") {
		j++
	}
	if t.Is(j, "function") {
		for j++; j < len(t.List) && !t.Is(j, "("); j++ {
			if !t.IsWord(j) && !t.Is(j, "*") {
				return lex.Span{}, false
			}
		}
		return s.readBody(t, f, j)
	}

	at, ok := findArrow(t, j)
	if !ok || t.Is(i+1, ":") && !t.Is(at+1, "{") { // after a colon, it may be the type of a function
		return lex.Span{}, false
	}
	return s.readExpressionBody(t, f, at)
}

// findArrow returns the arrow of the function literal that starts at token i. It returns false if
// there is none.
func findArrow(t *lex.Tokens, i int) (int, bool) {
	if t.Is(i, "<") { // type parameters
		for n := 0; n < 20 && i < len(t.List) && !t.Is(i, "("); n++ {
			i++
		}
	}
	switch {
	case t.IsWord(i):
		return i + 1, t.Is(i+1, "=>")
	case !t.Is(i, "(") || t.List[i].Partner < 0:
		return 0, false
	}
	i = t.List[i].Partner + 1
	if t.Is(i, ":") {
		for n := 0; n < 40 && i < len(t.List) && !t.Is(i, "=>"); n++ {
			if t.Is(i, ";") || t.Is(i, "=") {
				return 0, false
			}
			i = t.Skip(i)
		}
	}
	return i, t.Is(i, "=>")
}
