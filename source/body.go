package source

// headLimit is the longest head of a function that is followed, in tokens
// outside brackets.
const headLimit = 200

// body finds the body of a function whose head goes on at token i, in braces
// or as an expression.
func (s *shape) body(t *tokens, f span, i int) (span, bool) {
	for n := 0; i < len(t.list) && n < headLimit; n++ {
		switch {
		case t.is(i, "{") && (s.foreign == nil || !s.foreign(t, f.head, i)):
			f.body, f.end = i, t.list[i].mate
			return f, f.end > i
		case s.exprs != "" && t.is(i, s.exprs):
			return s.expression(t, f, i)
		case s.stops(t, f, i):
			return span{}, false
		}
		i = t.skip(i)
	}
	return span{}, false
}

// stops reports whether a declaration ends at token i without a body.
func (s *shape) stops(t *tokens, f span, i int) bool {
	switch t.text(i) {
	case ";", "}", ")":
		return true
	case "=":
		return s.headers // a value, or "= default" of C++
	}
	if t.list[i].word && s.keywords[t.text(i)] && t.lang != Scala {
		return true
	}
	if t.list[i].word && s.headers && declarations[t.text(i)] && !t.is(i-1, ":") && !t.is(i-1, ",") {
		return true // of C# remains "where T : class"
	}
	if !s.newlines || !t.startsLine(i) {
		return false
	}
	switch t.text(i) {
	case "(", ":", "->", "where", "throws", "rethrows", "async":
		return false
	}
	switch t.text(i - 1) {
	case ":", "->", ",", "where":
		return false
	}
	return i > f.head+1
}

// typeBrace reports whether a brace in the head of a function of TypeScript
// opens a type.
func typeBrace(t *tokens, _, i int) bool {
	switch t.text(i - 1) {
	case ":", "|", "&", "=>", "<", ",":
		return true
	}
	return false
}

// initialiserBrace reports whether a brace in the head of a constructor of C++
// holds the value of a member.
func initialiserBrace(t *tokens, head, i int) bool {
	return (t.isWord(i-1) || t.is(i-1, ">")) && initialises(t, head, i)
}

// initialises reports whether token i stands in a list of initialisers.
func initialises(t *tokens, head, i int) bool {
	for j := i - 1; j > head; j-- {
		if m := t.list[j].mate; m >= 0 && m < j {
			j = m
		}
		if t.is(j, ":") {
			return true
		}
	}
	return false
}

// expression reads a body that is an expression behind token i.
func (s *shape) expression(t *tokens, f span, i int) (span, bool) {
	if t.is(i+1, "{") {
		f.body, f.end = i+1, t.list[i+1].mate
		return f, f.end > i
	}
	return s.block(t, f, i)
}

// headEnd returns the last token of the head of a function whose body is
// indented: the colon of Python, elsewhere the end of the parameters.
func (s *shape) headEnd(t *tokens, head, from int) int {
	if t.lang != Python {
		if t.is(from, "(") && t.list[from].mate > from {
			return t.list[from].mate
		}
		return from - 1
	}
	for i := from; i < len(t.list) && i < from+headLimit; i = t.skip(i) {
		if t.is(i, ":") {
			return i
		}
	}
	return head
}

// block reads a body that ends before the next line that is indented no more
// than the line of the head. Lines within brackets or strings do not count.
func (s *shape) block(t *tokens, f span, last int) (span, bool) {
	base := t.indent(f.head)
	f.body, f.end = last+1, last
	for i := last + 1; i < len(t.list) && t.budget > 0; t.budget-- {
		if t.startsLine(i) && t.list[i].line > t.line(last) && !t.inText[t.list[i].line-1] {
			level := t.indent(i)
			if level == base && s.closers[t.text(i)] {
				f.end = i
				break
			}
			if level < base || level == base && !s.goesOn[t.text(i)] {
				break
			}
		}
		if s.closesOuter(t, i) {
			break
		}
		i = t.skip(i)
		f.end = i - 1
	}
	return f, f.end > last || t.lang == Python // where documentation alone may be the body
}

// closesOuter reports whether token i ends what is around a body without
// brackets: a bracket that opened before it, or the statement.
func (s *shape) closesOuter(t *tokens, i int) bool {
	switch t.text(i) {
	case "}", ")", "]":
		return true
	case ";":
		return !s.indented
	}
	return false
}

// assignment reads a function that is given a name: name = (…) => …,
// name: function (…) { … }.
func (s *shape) assignment(t *tokens, i int) (span, bool) {
	f := span{name: t.text(i), head: i}
	if t.is(i-1, "type") {
		return span{}, false
	}
	if t.is(i-1, ":") && t.isWord(i-2) && t.is(i+1, "=") { // const f: Handler = …
		f.name = t.text(i - 2)
	}
	j := i + 2
	if t.is(j, "async") {
		j++
	}
	if t.is(j, "function") {
		for j++; j < len(t.list) && !t.is(j, "("); j++ {
			if !t.isWord(j) && !t.is(j, "*") {
				return span{}, false
			}
		}
		return s.body(t, f, j)
	}
	at, ok := arrow(t, j)
	if !ok || t.is(i+1, ":") && !t.is(at+1, "{") { // the type of a function
		return span{}, false
	}
	return s.expression(t, f, at)
}

// arrow returns the index of the arrow of the function that begins at token i.
func arrow(t *tokens, i int) (int, bool) {
	if t.is(i, "<") { // type parameters
		for n := 0; n < 20 && i < len(t.list) && !t.is(i, "("); n++ {
			i++
		}
	}
	switch {
	case t.isWord(i):
		return i + 1, t.is(i+1, "=>")
	case !t.is(i, "(") || t.list[i].mate < 0:
		return 0, false
	}
	i = t.list[i].mate + 1
	if t.is(i, ":") {
		for n := 0; n < 40 && i < len(t.list) && !t.is(i, "=>"); n++ {
			if t.is(i, ";") || t.is(i, "=") {
				return 0, false
			}
			i = t.skip(i)
		}
	}
	return i, t.is(i, "=>")
}
