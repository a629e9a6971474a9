package source

import "sort"

// Function is a function or method with a body.
type Function struct {
	// Name is as the language writes it, with the receiver or class where it
	// stands in the declaration itself: "File.Close" in Go, "Foo::bar" in C++.
	// The whole of a file in which no function was found is named "(file)".
	Name string
	// Line and End are the first and last line, from 1.
	Line, End int
	// Complexity is the cyclomatic complexity: 1 and the number of decision
	// points. Those of functions without a name of their own count towards
	// the function around them.
	Complexity int
}

// wholeFile is the name of the function that stands for a file without any.
const wholeFile = "(file)"

// shape says how functions of a language look.
type shape struct {
	keywords map[string]bool // words that a definition begins with
	control  map[string]bool // words before a parenthesis that begin no definition
	headers  bool            // name(…) { defines a function
	assigned bool            // name = (…) => defines a function
	indented bool            // the body is told by its indentation
	exprs    string          // the token before a body that is an expression, "" for none
	newlines bool            // the end of a line ends a declaration without body
	flat     bool            // named functions do not nest
	macros   bool            // any word may stand between parameters and body
	trailers map[string]bool // tokens that may
	types    map[string]bool // words that begin a type
	closers  map[string]bool // words at the level of the head that close the body
	goesOn   map[string]bool // words at the level of the head that belong to the body

	name    func(t *tokens, i int) (string, int)  // behind a keyword: the name, and the token after it
	foreign func(t *tokens, head, brace int) bool // a brace in the head that does not open the body
}

var (
	control      = words(`if for while switch catch return new case else do throw in of with typeof super await yield`)
	blockEnd     = words(`end`)
	clauses      = words(`rescue ensure else catch after`)
	nativeWords  = words(`if for while switch catch return sizeof alignof alignas decltype noexcept requires static_assert asm else do new delete case defined throw __attribute__ __declspec`)
	csharpWords  = words(`if for foreach while switch catch lock using fixed return when nameof typeof sizeof checked unchecked default base this new case else throw await`)
	javaWords    = words(`if for while switch catch synchronized try return new case else throw super this assert`)
	elixirDefs   = words(`def defp defmacro defmacrop`)
	swiftDefs    = words(`func init deinit subscript`)
	declarations = words(`class struct enum union interface namespace if for while else return do extern static public private protected switch typedef function import export using`)
)

var shapes = [languageCount]shape{
	Go:         {keywords: words(`func`), name: goName},
	Python:     {keywords: words(`def`), name: wordName, indented: true},
	JavaScript: {keywords: words(`function`), name: wordName, control: control, headers: true, assigned: true},
	TypeScript: {
		keywords: words(`function`), name: wordName, control: control, headers: true, assigned: true,
		trailers: words(`:`), types: words(`interface type`), foreign: typeBrace,
	},
	Java:   {control: javaWords, headers: true, trailers: words(`throws`)},
	Kotlin: {keywords: words(`fun`), name: kotlinName, exprs: "=", newlines: true},
	Rust:   {keywords: words(`fn`), name: wordName},
	Ruby:   {keywords: words(`def`), name: symbolName, indented: true, closers: blockEnd, goesOn: clauses},
	PHP:    {keywords: words(`function`), name: wordName},
	CSharp: {control: csharpWords, headers: true, exprs: "=>", trailers: words(`: where =>`)},
	C:      {control: nativeWords, headers: true, flat: true, macros: true},
	CPP: {
		control: nativeWords, headers: true, flat: true, macros: true,
		trailers: words(`: -> & &&`), foreign: initialiserBrace,
	},
	Swift:  {keywords: swiftDefs, name: symbolName, newlines: true},
	Elixir: {keywords: elixirDefs, name: symbolName, indented: true, closers: blockEnd, goesOn: clauses},
	Scala:  {keywords: words(`def`), name: symbolName, exprs: "=", newlines: true, closers: blockEnd},
	Shell:  {keywords: words(`function`), name: wordName, control: words(`if while until for`), headers: true},
}

// functions finds the functions of a file and their complexity. A file with
// code but without functions is one function.
func functions(t *tokens) []Function {
	if len(t.list) == 0 {
		return nil
	}
	points := decisions(t)
	found := spans(t)
	if len(found) == 0 {
		end := t.list[len(t.list)-1].line
		return []Function{{Name: wholeFile, Line: 1, End: end, Complexity: 1 + len(points)}}
	}
	list := make([]Function, len(found))
	for i, s := range found {
		list[i] = Function{Name: s.name, Line: t.line(s.head), End: t.line(s.end), Complexity: 1}
	}
	attribute(found, points, list)
	return list
}

// attribute counts each decision point towards the innermost function whose
// body holds it.
func attribute(spans []span, points []int, list []Function) {
	var open []int
	next := 0
	for _, p := range points {
		for next < len(spans) && spans[next].body <= p {
			open = append(open, next)
			next++
		}
		for len(open) > 0 && spans[open[len(open)-1]].end < p {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			list[open[len(open)-1]].Complexity++
		}
	}
}

// spans returns the functions, found once.
func spans(t *tokens) []span { return t.spans(findSpans) }

// findSpans returns the functions in the order of their bodies. Where two
// readings claim one body, the one whose name stands closer to it holds.
func findSpans(t *tokens) []span {
	s := &shapes[t.lang]
	var spans []span
	for i := 0; i < len(t.list); i++ {
		if !t.list[i].word {
			continue
		}
		if end := s.typeEnd(t, i); end > i {
			i = end
		} else if f, ok := s.at(t, i); ok {
			spans = append(spans, f)
		}
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].body < spans[j].body })
	kept := spans[:0]
	for _, f := range spans {
		n := len(kept)
		switch {
		case n > 0 && kept[n-1].body == f.body:
			kept[n-1] = f
		case s.flat && n > 0 && f.head < kept[n-1].end:
		default:
			kept = append(kept, f)
		}
	}
	return kept
}

// typeEnd returns the last token of the type that token i declares, in which
// members only look like functions; 0 where it declares none.
func (s *shape) typeEnd(t *tokens, i int) int {
	if !s.types[t.text(i)] || !t.isWord(i+1) {
		return 0
	}
	for j := i + 2; j < len(t.list) && j < i+40; j = t.skip(j) {
		switch t.text(j) {
		case "{":
			return t.list[j].mate
		case ";", "}", ")", "(":
			return 0
		case "|", "&", "=":
			continue
		}
		if t.startsLine(j) && t.isWord(j-1) { // the next statement
			return 0
		}
	}
	return 0
}

// parameters returns the opening parenthesis behind a name and its type
// parameters, 0 if there is none.
func parameters(t *tokens, i int) int {
	if t.is(i+1, "(") {
		return i + 1
	}
	if t.lang != CSharp && t.lang != TypeScript && t.lang != CPP || !t.is(i+1, "<") {
		return 0
	}
	depth := 0
	for j := i + 1; j < len(t.list) && j < i+40; j = t.skip(j) {
		switch t.text(j) {
		case "<":
			depth++
		case ">":
			depth--
		case ";", "&&", "||", ")", "}":
			return 0
		}
		if depth == 0 && t.is(j+1, "(") {
			return j + 1
		}
		if depth == 0 {
			return 0
		}
	}
	return 0
}

// at reads the function that token i begins or names, if it does.
func (s *shape) at(t *tokens, i int) (span, bool) {
	read := t.masked[t.list[i].pos:t.list[i].end]
	if s.keywords[string(read)] && !isNamed(t, i) {
		return s.keyword(t, i)
	}
	if s.headers && !s.control[string(read)] {
		if f, ok := s.header(t, i); ok {
			return f, true
		}
	}
	if s.assigned && (t.is(i+1, "=") || t.is(i+1, ":")) {
		return s.assignment(t, i)
	}
	if t.lang == CPP && string(read) == "operator" {
		return s.operator(t, i)
	}
	return span{}, false
}

// keyword reads a function that begins with a word of its own.
func (s *shape) keyword(t *tokens, i int) (span, bool) {
	name, from := s.name(t, i)
	if name == "" {
		return span{}, false
	}
	if s.indented {
		return s.block(t, span{name: name, head: i}, s.headEnd(t, i, from))
	}
	return s.body(t, span{name: name, head: i}, from)
}

// wordName reads a plain name behind a keyword, past the marks of generators
// and of functions that return references.
func wordName(t *tokens, i int) (string, int) {
	j := i + 1
	if t.is(j, "*") || t.is(j, "&") {
		j++
	}
	if t.lang == Rust && t.is(j, "r") && t.is(j+1, "#") { // a name that is a keyword, too
		j += 2
	}
	if !t.isWord(j) {
		return "", j
	}
	return t.text(j), j + 1
}

// goName reads the name of a function whose file does not parse.
func goName(t *tokens, i int) (string, int) {
	j := i + 1
	if !t.startsLine(i) || t.indent(i) > 0 { // a literal
		return "", j
	}
	receiver := ""
	if t.is(j, "(") {
		for k := j; k < t.list[j].mate; k++ {
			if t.isWord(k) && (k == j+1 || !t.is(k-1, "[") && !t.is(k-1, ",")) {
				receiver = t.text(k) + "."
			}
		}
		j = t.skip(j)
	}
	if !t.isWord(j) {
		return "", j
	}
	return receiver + t.text(j), j + 1
}

// kotlinName reads the last word before the parameters, behind type
// parameters and receiver.
func kotlinName(t *tokens, i int) (string, int) {
	for j := i + 1; j < len(t.list) && j < i+40; j++ {
		if t.is(j, "(") {
			if t.isWord(j-1) && j-1 > i {
				return t.text(j - 1), j
			}
			if t.is(j-1, "`") && t.is(j-2, "`") {
				return string(t.src[t.list[j-2].end:t.list[j-1].pos]), j
			}
			return "", j
		}
	}
	return "", i + 1
}

// nameLimit is the longest name that is read whole, in bytes.
const nameLimit = 200

// symbolName reads a name that may hold other signs than letters: empty?,
// self.call, ==.
func symbolName(t *tokens, i int) (string, int) {
	if t.lang == Swift && !t.is(i, "func") {
		return t.text(i), i + 1
	}
	if i+1 >= len(t.list) || t.list[i+1].line != t.list[i].line {
		return "", i + 1
	}
	start := t.list[i+1].pos
	end := start
	for end < len(t.masked) && end-start < nameLimit && !isSpace(t.masked[end]) && !ends(t.masked[end], t.lang) {
		end++
	}
	end = max(end, t.list[i+1].end)
	j := i + 1
	for j < len(t.list) && t.list[j].pos < end {
		j++
	}
	return string(t.masked[start:end]), j
}

// ends reports whether a byte ends a symbolic name.
func ends(c byte, lang Language) bool {
	switch c {
	case '(', ',', ';':
		return true
	case '[', ':':
		return lang == Scala
	case '<':
		return lang == Swift
	}
	return false
}

// notBefore are tokens that make of "name(…)" behind them a use, not a
// definition.
var notBefore = words(`new . ?. -> return = ( ? && || ! + - / : => throw case await function operator`)

// header reads "name(…) {".
func (s *shape) header(t *tokens, i int) (span, bool) {
	open := parameters(t, i)
	if open == 0 || i > 0 && notBefore[t.text(i-1)] || t.is(i-1, ",") && !s.assigned {
		return span{}, false
	}
	mate := t.list[open].mate
	if mate < 0 || mate+1 >= len(t.list) || !s.trailer(t, mate+1) {
		return span{}, false
	}
	return s.body(t, span{name: qualified(t, i), head: i}, mate+1)
}

// operator reads an overloaded operator of C++.
func (s *shape) operator(t *tokens, i int) (span, bool) {
	j := i + 1
	if t.is(j, "(") && t.is(j+1, ")") {
		j += 2
	}
	for n := 0; n < 3 && j < len(t.list) && !t.is(j, "("); n++ {
		j++
	}
	if !t.is(j, "(") || t.list[j].mate < j {
		return span{}, false
	}
	name := qualified(t, i) + string(t.masked[t.list[i].end:t.list[j].pos])
	return s.body(t, span{name: name, head: i}, t.list[j].mate+1)
}

// qualified returns the name at token i with what C++ writes before it.
func qualified(t *tokens, i int) string {
	start := i
	if t.lang == CPP {
		if t.is(start-1, "~") {
			start--
		}
		for t.is(start-1, "::") && t.isWord(start-2) {
			start -= 2
		}
	}
	return string(t.masked[t.list[start].pos:t.list[i].end])
}

// trailer reports whether what stands behind the parameters can belong to a
// definition.
func (s *shape) trailer(t *tokens, i int) bool {
	if t.is(i, "{") {
		return true
	}
	if t.isWord(i) && s.macros {
		return !declarations[t.text(i)]
	}
	return s.trailers[t.text(i)]
}
