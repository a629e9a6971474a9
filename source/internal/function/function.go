package function

import (
	"sort"

	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// Function is a function or method with a body.
type Function struct {
	// Name is as the language writes it, with the receiver or class where it
	// is in the declaration itself: "File.Close" in Go, "Foo::bar" in C++.
	// A file in which no function was found is named "(file)".
	Name string
	// Line and End are the first and last line, from 1.
	Line, End int
	// Complexity is the cyclomatic complexity: 1 and the number of decision
	// points. Those of functions without a name of their own count towards
	// the function around them.
	Complexity int
}

// FileScope names the one function of a file without any.
const FileScope = "(file)"

// Shape says how functions of a language look.
type Shape struct {
	keywords map[string]bool // words that a definition begins with
	control  map[string]bool // words before a parenthesis that begin no definition
	headers  bool            // name(…) { defines a function
	assigned bool            // name = (…) => defines a function
	Indented bool            // the body is recognised by its indentation
	exprs    string          // the token before a body that is an expression, "" for none
	newlines bool            // the end of a line ends a declaration without body
	flat     bool            // named functions do not nest
	macros   bool            // any word may be between parameters and body
	trailers map[string]bool // tokens that may
	types    map[string]bool // words that begin a type
	closers  map[string]bool // words at the level of the head that close the body
	goesOn   map[string]bool // words at the level of the head that belong to the body

	name    func(t *lex.Tokens, i int) (string, int)  // after a keyword: the name, and the token after it
	foreign func(t *lex.Tokens, head, brace int) bool // a brace in the head that does not open the body
}

var (
	control      = lex.WordSet(`if for while switch catch return new case else do throw in of with typeof super await yield`)
	blockEnd     = lex.WordSet(`end`)
	clauses      = lex.WordSet(`rescue ensure else catch after`)
	nativeWords  = lex.WordSet(`if for while switch catch return sizeof alignof alignas decltype noexcept requires static_assert asm else do new delete case defined throw __attribute__ __declspec`)
	csharpWords  = lex.WordSet(`if for foreach while switch catch lock using fixed return when nameof typeof sizeof checked unchecked default base this new case else throw await`)
	javaWords    = lex.WordSet(`if for while switch catch synchronized try return new case else throw super this assert`)
	elixirDefs   = lex.WordSet(`def defp defmacro defmacrop`)
	swiftDefs    = lex.WordSet(`func init deinit subscript`)
	declarations = lex.WordSet(`class struct enum union interface namespace if for while else return do extern static public private protected switch typedef function import export using`)
)

// Shapes are the forms that functions have, by language.
var Shapes = [language.Count]Shape{
	language.Go:         {keywords: lex.WordSet(`func`), name: goName},
	language.Python:     {keywords: lex.WordSet(`def`), name: wordName, Indented: true},
	language.JavaScript: {keywords: lex.WordSet(`function`), name: wordName, control: control, headers: true, assigned: true},
	language.TypeScript: {
		keywords: lex.WordSet(`function`), name: wordName, control: control, headers: true, assigned: true,
		trailers: lex.WordSet(`:`), types: lex.WordSet(`interface type`), foreign: typeBrace,
	},
	language.Java:   {control: javaWords, headers: true, trailers: lex.WordSet(`throws`)},
	language.Kotlin: {keywords: lex.WordSet(`fun`), name: kotlinName, exprs: "=", newlines: true},
	language.Rust:   {keywords: lex.WordSet(`fn`), name: wordName},
	language.Ruby:   {keywords: lex.WordSet(`def`), name: symbolName, Indented: true, closers: blockEnd, goesOn: clauses},
	language.PHP:    {keywords: lex.WordSet(`function`), name: wordName},
	language.CSharp: {control: csharpWords, headers: true, exprs: "=>", trailers: lex.WordSet(`: where =>`)},
	language.C:      {control: nativeWords, headers: true, flat: true, macros: true},
	language.CPP: {
		control: nativeWords, headers: true, flat: true, macros: true,
		trailers: lex.WordSet(`: -> & &&`), foreign: initialiserBrace,
	},
	language.Swift:  {keywords: swiftDefs, name: symbolName, newlines: true},
	language.Elixir: {keywords: elixirDefs, name: symbolName, Indented: true, closers: blockEnd, goesOn: clauses},
	language.Scala:  {keywords: lex.WordSet(`def`), name: symbolName, exprs: "=", newlines: true, closers: blockEnd},
	language.Shell:  {keywords: lex.WordSet(`function`), name: wordName, control: lex.WordSet(`if while until for`), headers: true},
}

// FindFunctions finds the functions of a file and their complexity. A file with
// code but without functions is one function.
func FindFunctions(t *lex.Tokens) []Function {
	if len(t.List) == 0 {
		return nil
	}
	points := decisions(t)
	found := FindSpans(t)
	if len(found) == 0 {
		end := t.List[len(t.List)-1].Line
		return []Function{{Name: FileScope, Line: 1, End: end, Complexity: 1 + len(points)}}
	}
	list := make([]Function, len(found))
	for i, s := range found {
		list[i] = Function{Name: s.Name, Line: t.Line(s.Head), End: t.Line(s.End), Complexity: 1}
	}
	attribute(found, points, list)
	return list
}

// attribute counts each decision point towards the innermost function whose
// body holds it.
func attribute(spans []lex.Span, points []int, list []Function) {
	var open []int
	next := 0
	for _, p := range points {
		for next < len(spans) && spans[next].Body <= p {
			open = append(open, next)
			next++
		}
		for len(open) > 0 && spans[open[len(open)-1]].End < p {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			list[open[len(open)-1]].Complexity++
		}
	}
}

// FindSpans returns the functions, found once.
func FindSpans(t *lex.Tokens) []lex.Span { return t.Spans(findSpans) }

// findSpans returns the functions in the order of their bodies. Where two
// readings claim one body, the one whose name is closer to it wins.
func findSpans(t *lex.Tokens) []lex.Span {
	s := &Shapes[t.Lang]
	var spans []lex.Span
	for i := 0; i < len(t.List); i++ {
		if !t.List[i].Word {
			continue
		}
		if end := s.typeEnd(t, i); end > i {
			i = end
		} else if f, ok := s.at(t, i); ok {
			spans = append(spans, f)
		}
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Body < spans[j].Body })
	kept := spans[:0]
	for _, f := range spans {
		n := len(kept)
		switch {
		case n > 0 && kept[n-1].Body == f.Body:
			kept[n-1] = f
		case s.flat && n > 0 && f.Head < kept[n-1].End:
		default:
			kept = append(kept, f)
		}
	}
	return kept
}

// typeEnd returns the last token of the type that token i declares, in which
// members only look like functions; 0 if it declares none.
func (s *Shape) typeEnd(t *lex.Tokens, i int) int {
	if !s.types[t.Text(i)] || !t.IsWord(i+1) {
		return 0
	}
	for j := i + 2; j < len(t.List) && j < i+40; j = t.Skip(j) {
		switch t.Text(j) {
		case "{":
			return t.List[j].Mate
		case ";", "}", ")", "(":
			return 0
		case "|", "&", "=":
			continue
		}
		if t.StartsLine(j) && t.IsWord(j-1) { // the next statement
			return 0
		}
	}
	return 0
}

// parameters returns the opening parenthesis after a name and its type
// parameters, 0 if there is none.
func parameters(t *lex.Tokens, i int) int {
	if t.Is(i+1, "(") {
		return i + 1
	}
	if t.Lang != language.CSharp && t.Lang != language.TypeScript && t.Lang != language.CPP || !t.Is(i+1, "<") {
		return 0
	}
	depth := 0
	for j := i + 1; j < len(t.List) && j < i+40; j = t.Skip(j) {
		switch t.Text(j) {
		case "<":
			depth++
		case ">":
			depth--
		case ";", "&&", "||", ")", "}":
			return 0
		}
		if depth == 0 && t.Is(j+1, "(") {
			return j + 1
		}
		if depth == 0 {
			return 0
		}
	}
	return 0
}

// at reads the function that token i begins or names, if it does.
func (s *Shape) at(t *lex.Tokens, i int) (lex.Span, bool) {
	read := t.Masked[t.List[i].Pos:t.List[i].End]
	if s.keywords[string(read)] && !isNamed(t, i) {
		return s.keyword(t, i)
	}
	if s.headers && !s.control[string(read)] {
		if f, ok := s.header(t, i); ok {
			return f, true
		}
	}
	if s.assigned && (t.Is(i+1, "=") || t.Is(i+1, ":")) {
		return s.assignment(t, i)
	}
	if t.Lang == language.CPP && string(read) == "operator" {
		return s.operator(t, i)
	}
	return lex.Span{}, false
}

// keyword reads a function that begins with its own word.
func (s *Shape) keyword(t *lex.Tokens, i int) (lex.Span, bool) {
	name, from := s.name(t, i)
	if name == "" {
		return lex.Span{}, false
	}
	if s.Indented {
		return s.Block(t, lex.Span{Name: name, Head: i}, s.HeadEnd(t, i, from))
	}
	return s.body(t, lex.Span{Name: name, Head: i}, from)
}

// wordName reads a plain name after a keyword, past the marks of generators
// and of functions that return references.
func wordName(t *lex.Tokens, i int) (string, int) {
	j := i + 1
	if t.Is(j, "*") || t.Is(j, "&") {
		j++
	}
	if t.Lang == language.Rust && t.Is(j, "r") && t.Is(j+1, "#") { // a name that is a keyword, too
		j += 2
	}
	if !t.IsWord(j) {
		return "", j
	}
	return t.Text(j), j + 1
}

// goName reads the name of a function whose file does not parse.
func goName(t *lex.Tokens, i int) (string, int) {
	j := i + 1
	if !t.StartsLine(i) || t.Indent(i) > 0 { // a literal
		return "", j
	}
	receiver := ""
	if t.Is(j, "(") {
		for k := j; k < t.List[j].Mate; k++ {
			if t.IsWord(k) && (k == j+1 || !t.Is(k-1, "[") && !t.Is(k-1, ",")) {
				receiver = t.Text(k) + "."
			}
		}
		j = t.Skip(j)
	}
	if !t.IsWord(j) {
		return "", j
	}
	return receiver + t.Text(j), j + 1
}

// kotlinName reads the last word before the parameters, after type
// parameters and receiver.
func kotlinName(t *lex.Tokens, i int) (string, int) {
	for j := i + 1; j < len(t.List) && j < i+40; j++ {
		if t.Is(j, "(") {
			if t.IsWord(j-1) && j-1 > i {
				return t.Text(j - 1), j
			}
			if t.Is(j-1, "`") && t.Is(j-2, "`") {
				return string(t.Src[t.List[j-2].End:t.List[j-1].Pos]), j
			}
			return "", j
		}
	}
	return "", i + 1
}

// nameLimit is the longest name that is read completely, in bytes.
const nameLimit = 200

// symbolName reads a name that may hold other signs than letters: empty?,
// self.call, ==.
func symbolName(t *lex.Tokens, i int) (string, int) {
	if t.Lang == language.Swift && !t.Is(i, "func") {
		return t.Text(i), i + 1
	}
	if i+1 >= len(t.List) || t.List[i+1].Line != t.List[i].Line {
		return "", i + 1
	}
	start := t.List[i+1].Pos
	end := start
	for end < len(t.Masked) && end-start < nameLimit && !lex.IsSpace(t.Masked[end]) && !ends(t.Masked[end], t.Lang) {
		end++
	}
	end = max(end, t.List[i+1].End)
	j := i + 1
	for j < len(t.List) && t.List[j].Pos < end {
		j++
	}
	return string(t.Masked[start:end]), j
}

// ends reports whether a byte ends a symbolic name.
func ends(c byte, lang language.Language) bool {
	switch c {
	case '(', ',', ';':
		return true
	case '[', ':':
		return lang == language.Scala
	case '<':
		return lang == language.Swift
	}
	return false
}

// notBefore are tokens that make of "name(…)" after them a use, not a
// definition.
var notBefore = lex.WordSet(`new . ?. -> return = ( ? && || ! + - / : => throw case await function operator`)

// header reads "name(…) {".
func (s *Shape) header(t *lex.Tokens, i int) (lex.Span, bool) {
	open := parameters(t, i)
	if open == 0 || i > 0 && notBefore[t.Text(i-1)] || t.Is(i-1, ",") && !s.assigned {
		return lex.Span{}, false
	}
	mate := t.List[open].Mate
	if mate < 0 || mate+1 >= len(t.List) || !s.trailer(t, mate+1) {
		return lex.Span{}, false
	}
	return s.body(t, lex.Span{Name: qualified(t, i), Head: i}, mate+1)
}

// operator reads an overloaded operator of C++.
func (s *Shape) operator(t *lex.Tokens, i int) (lex.Span, bool) {
	j := i + 1
	if t.Is(j, "(") && t.Is(j+1, ")") {
		j += 2
	}
	for n := 0; n < 3 && j < len(t.List) && !t.Is(j, "("); n++ {
		j++
	}
	if !t.Is(j, "(") || t.List[j].Mate < j {
		return lex.Span{}, false
	}
	name := qualified(t, i) + string(t.Masked[t.List[i].End:t.List[j].Pos])
	return s.body(t, lex.Span{Name: name, Head: i}, t.List[j].Mate+1)
}

// qualified returns the name at token i with what C++ writes before it.
func qualified(t *lex.Tokens, i int) string {
	start := i
	if t.Lang == language.CPP {
		if t.Is(start-1, "~") {
			start--
		}
		for t.Is(start-1, "::") && t.IsWord(start-2) {
			start -= 2
		}
	}
	return string(t.Masked[t.List[start].Pos:t.List[i].End])
}

// trailer reports whether what is after the parameters can belong to a
// definition.
func (s *Shape) trailer(t *lex.Tokens, i int) bool {
	if t.Is(i, "{") {
		return true
	}
	if t.IsWord(i) && s.macros {
		return !declarations[t.Text(i)]
	}
	return s.trailers[t.Text(i)]
}
