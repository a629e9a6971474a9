package function

import (
	"sort"

	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// Function is a function or method with a body.
type Function struct {
	// Name is the name as the language writes it, with the receiver or class if it is part of the
	// declaration: "File.Close" in Go, "Foo::bar" in C++. It is FileScope if no function was
	// found in a file with code.
	Name string
	// Line and End are the first and last line, from 1.
	Line, End int
	// Complexity is the cyclomatic complexity: 1 plus the number of decision points. Decision
	// points in a function without a name count for the function around it.
	Complexity int
}

// FileScope is the name of the only function of a file in which no function was found.
const FileScope = "(file)"

// Shape describes how the functions of a language are written.
type Shape struct {
	keywords            map[string]bool // words that start a definition, such as def
	controlWords        map[string]bool // words before a parenthesis that start no definition, such as if
	definesByHeader     bool            // name(…) { defines a function
	definesByAssignment bool            // name = (…) => defines a function
	Indented            bool            // the body is determined by its indentation
	expressionMark      string          // the token before a body that is an expression, such as =>; "" for none
	endsAtNewline       bool            // the end of a line ends a declaration without a body
	noNesting           bool            // named functions do not nest
	allowsMacros        bool            // any word may be between the parameters and the body
	trailerTokens       map[string]bool // tokens that may be between the parameters and the body
	typeKeywords        map[string]bool // words that start the declaration of a type, whose members look like functions
	closingWords        map[string]bool // words with the indentation of the head that close the body, such as end
	continuingWords     map[string]bool // words with the indentation of the head that belong to the body, such as rescue

	readName     func(t *lex.Tokens, i int) (string, int)  // returns the name after token i, a keyword, and the token after it
	isOtherBrace func(t *lex.Tokens, head, brace int) bool // reports whether a brace in the head does not open the body
}

var (
	scriptControlWords = lex.WordSet(`if for while switch catch return new case else do throw in of with typeof super await yield`)
	blockEndWords      = lex.WordSet(`end`)
	clauseWords        = lex.WordSet(`rescue ensure else catch after`)
	nativeWords        = lex.WordSet(`if for while switch catch return sizeof alignof alignas decltype noexcept requires static_assert asm else do new delete case defined throw __attribute__ __declspec`)
	csharpWords        = lex.WordSet(`if for foreach while switch catch lock using fixed return when nameof typeof sizeof checked unchecked default base this new case else throw await`)
	javaWords          = lex.WordSet(`if for while switch catch synchronized try return new case else throw super this assert`)
	elixirDefs         = lex.WordSet(`def defp defmacro defmacrop`)
	swiftDefs          = lex.WordSet(`func init deinit subscript`)
	declarationWords   = lex.WordSet(`class struct enum union interface namespace if for while else return do extern static public private protected switch typedef function import export using`)
)

// Shapes are the shapes of all languages. Unknown has none.
var Shapes = [language.Count]Shape{
	language.Go:         {keywords: lex.WordSet(`func`), readName: readGoName},
	language.Python:     {keywords: lex.WordSet(`def`), readName: readWordName, Indented: true},
	language.JavaScript: {keywords: lex.WordSet(`function`), readName: readWordName, controlWords: scriptControlWords, definesByHeader: true, definesByAssignment: true},
	language.TypeScript: {
		keywords: lex.WordSet(`function`), readName: readWordName, controlWords: scriptControlWords, definesByHeader: true, definesByAssignment: true,
		trailerTokens: lex.WordSet(`:`), typeKeywords: lex.WordSet(`interface type`), isOtherBrace: isTypeBrace,
	},
	language.Java:   {controlWords: javaWords, definesByHeader: true, trailerTokens: lex.WordSet(`throws`)},
	language.Kotlin: {keywords: lex.WordSet(`fun`), readName: readKotlinName, expressionMark: "=", endsAtNewline: true},
	language.Rust:   {keywords: lex.WordSet(`fn`), readName: readWordName},
	language.Ruby:   {keywords: lex.WordSet(`def`), readName: readSymbolName, Indented: true, closingWords: blockEndWords, continuingWords: clauseWords},
	language.PHP:    {keywords: lex.WordSet(`function`), readName: readWordName},
	language.CSharp: {controlWords: csharpWords, definesByHeader: true, expressionMark: "=>", trailerTokens: lex.WordSet(`: where =>`)},
	language.C:      {controlWords: nativeWords, definesByHeader: true, noNesting: true, allowsMacros: true},
	language.CPP: {
		controlWords: nativeWords, definesByHeader: true, noNesting: true, allowsMacros: true,
		trailerTokens: lex.WordSet(`: -> & &&`), isOtherBrace: isInitializerBrace,
	},
	language.Swift:  {keywords: swiftDefs, readName: readSymbolName, endsAtNewline: true},
	language.Elixir: {keywords: elixirDefs, readName: readSymbolName, Indented: true, closingWords: blockEndWords, continuingWords: clauseWords},
	language.Scala:  {keywords: lex.WordSet(`def`), readName: readSymbolName, expressionMark: "=", endsAtNewline: true, closingWords: blockEndWords},
	language.Shell:  {keywords: lex.WordSet(`function`), readName: readWordName, controlWords: lex.WordSet(`if while until for`), definesByHeader: true},
}

// FindFunctions returns the functions of a file and their complexity. A file with code but no
// function counts as one function.
func FindFunctions(t *lex.Tokens) []Function {
	if len(t.List) == 0 {
		return nil
	}

	points := findDecisions(t)
	found := FindSpans(t)
	if len(found) == 0 {
		end := t.List[len(t.List)-1].Line
		return []Function{{Name: FileScope, Line: 1, End: end, Complexity: 1 + len(points)}}
	}

	list := make([]Function, len(found))
	for i, s := range found {
		list[i] = Function{Name: s.Name, Line: t.Line(s.Head), End: t.Line(s.End), Complexity: 1}
	}
	countDecisions(found, points, list)
	return list
}

// countDecisions adds each decision point to the innermost function whose body contains it.
func countDecisions(spans []lex.Span, points []int, list []Function) {
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

// FindSpans returns the functions of a file in the order of their bodies. It searches only at the
// first call.
func FindSpans(t *lex.Tokens) []lex.Span { return t.Spans(findSpans) }

// findSpans implements FindSpans. If two readings of the code share a body, the one whose name is
// closer to the body wins.
func findSpans(t *lex.Tokens) []lex.Span {
	s := &Shapes[t.Lang]
	var spans []lex.Span
	for i := 0; i < len(t.List); i++ {
		if !t.List[i].Word {
			continue
		}
		if end := s.typeEnd(t, i); end > i {
			i = end
		} else if f, ok := s.readAt(t, i); ok {
			spans = append(spans, f)
		}
	}

	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Body < spans[j].Body })

	accepted := spans[:0]
	for _, f := range spans {
		n := len(accepted)
		switch {
		case n > 0 && accepted[n-1].Body == f.Body:
			accepted[n-1] = f
		case s.noNesting && n > 0 && f.Head < accepted[n-1].End:
		default:
			accepted = append(accepted, f)
		}
	}
	return accepted
}

// typeEnd returns the last token of the type that token i declares, so that its members are not
// read as functions. It returns 0 if token i declares no type.
func (s *Shape) typeEnd(t *lex.Tokens, i int) int {
	if !s.typeKeywords[t.Text(i)] || !t.IsWord(i+1) {
		return 0
	}
	for j := i + 2; j < len(t.List) && j < i+40; j = t.Skip(j) {
		switch t.Text(j) {
		case "{":
			return t.List[j].Partner
		case ";", "}", ")", "(":
			return 0
		case "|", "&", "=":
			continue
		}
		if t.StartsLine(j) && t.IsWord(j-1) { // the next statement starts here
			return 0
		}
	}
	return 0
}

// findParameters returns the opening parenthesis after the name at token i and its type
// parameters, as in name<T>(…). It returns 0 if there is none.
func findParameters(t *lex.Tokens, i int) int {
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

// readAt reads the function whose keyword or name is token i. It returns false if there is none.
func (s *Shape) readAt(t *lex.Tokens, i int) (lex.Span, bool) {
	read := t.Masked[t.List[i].Pos:t.List[i].End]
	if s.keywords[string(read)] && !isNamed(t, i) {
		return s.readKeyword(t, i)
	}
	if s.definesByHeader && !s.controlWords[string(read)] {
		if f, ok := s.readHeader(t, i); ok {
			return f, true
		}
	}
	if s.definesByAssignment && (t.Is(i+1, "=") || t.Is(i+1, ":")) {
		return s.readAssignment(t, i)
	}
	if t.Lang == language.CPP && string(read) == "operator" {
		return s.readOperator(t, i)
	}
	return lex.Span{}, false
}

// readKeyword reads a function that starts with a keyword such as def. It returns false if the
// keyword defines no function with a name and a body.
func (s *Shape) readKeyword(t *lex.Tokens, i int) (lex.Span, bool) {
	name, from := s.readName(t, i)
	if name == "" {
		return lex.Span{}, false
	}
	if s.Indented {
		return s.Block(t, lex.Span{Name: name, Head: i}, s.HeadEnd(t, i, from))
	}
	return s.readBody(t, lex.Span{Name: name, Head: i}, from)
}

// readWordName reads a plain name after a keyword, past the marks of generators and of
// functions that return references.
func readWordName(t *lex.Tokens, i int) (string, int) {
	j := i + 1
	if t.Is(j, "*") || t.Is(j, "&") {
		j++
	}
	if t.Lang == language.Rust && t.Is(j, "r") && t.Is(j+1, "#") { // r#name, for a name that is also a keyword
		j += 2
	}
	if !t.IsWord(j) {
		return "", j
	}
	return t.Text(j), j + 1
}

// readGoName reads the name of a function in a Go file that does not parse: "Name", or
// "Type.Name" for a method. It returns "" for a function literal.
func readGoName(t *lex.Tokens, i int) (string, int) {
	j := i + 1
	if !t.StartsLine(i) || t.Indent(i) > 0 { // a function literal
		return "", j
	}
	receiver := ""
	if t.Is(j, "(") {
		for k := j; k < t.List[j].Partner; k++ {
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

// readKotlinName reads the last word before the parameters, which follows the type parameters and
// the receiver. A name in backticks may contain spaces.
func readKotlinName(t *lex.Tokens, i int) (string, int) {
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

// maxNameBytes limits the length of a symbolic name.
const maxNameBytes = 200

// readSymbolName reads a name that may contain operators, as in empty?, self.call and ==. It
// returns "" if no name follows on the line.
func readSymbolName(t *lex.Tokens, i int) (string, int) {
	if t.Lang == language.Swift && !t.Is(i, "func") {
		return t.Text(i), i + 1
	}
	if i+1 >= len(t.List) || t.List[i+1].Line != t.List[i].Line {
		return "", i + 1
	}

	start := t.List[i+1].Pos
	end := start
	for end < len(t.Masked) && end-start < maxNameBytes && !lex.IsSpace(t.Masked[end]) && !endsSymbolName(t.Masked[end], t.Lang) {
		end++
	}
	end = max(end, t.List[i+1].End)

	j := i + 1
	for j < len(t.List) && t.List[j].Pos < end {
		j++
	}
	return string(t.Masked[start:end]), j
}

// endsSymbolName reports whether a byte ends a symbolic name.
func endsSymbolName(c byte, lang language.Language) bool {
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

// nonDefinitionTokens precede a "name(…)" that is a call or similar, and not a definition.
var nonDefinitionTokens = lex.WordSet(`new . ?. -> return = ( ? && || ! + - / : => throw case await function operator`)

// readHeader reads a definition without a keyword, as in "name(…) {". It returns false if token i
// is not the name of one.
func (s *Shape) readHeader(t *lex.Tokens, i int) (lex.Span, bool) {
	open := findParameters(t, i)
	if open == 0 || i > 0 && nonDefinitionTokens[t.Text(i-1)] || t.Is(i-1, ",") && !s.definesByAssignment {
		return lex.Span{}, false
	}
	mate := t.List[open].Partner
	if mate < 0 || mate+1 >= len(t.List) || !s.isTrailer(t, mate+1) {
		return lex.Span{}, false
	}
	return s.readBody(t, lex.Span{Name: qualifiedName(t, i), Head: i}, mate+1)
}

// readOperator reads an overloaded operator of C++, as in "operator==(…) {". Its name includes
// the operator.
func (s *Shape) readOperator(t *lex.Tokens, i int) (lex.Span, bool) {
	j := i + 1
	if t.Is(j, "(") && t.Is(j+1, ")") {
		j += 2
	}
	for n := 0; n < 3 && j < len(t.List) && !t.Is(j, "("); n++ {
		j++
	}
	if !t.Is(j, "(") || t.List[j].Partner < j {
		return lex.Span{}, false
	}
	name := qualifiedName(t, i) + string(t.Masked[t.List[i].End:t.List[j].Pos])
	return s.readBody(t, lex.Span{Name: name, Head: i}, t.List[j].Partner+1)
}

// qualifiedName returns the name at token i. In C++ it includes the qualifiers, as in Foo::~Foo.
func qualifiedName(t *lex.Tokens, i int) string {
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

// isTrailer reports whether token i may follow the parameters of a definition.
func (s *Shape) isTrailer(t *lex.Tokens, i int) bool {
	if t.Is(i, "{") {
		return true
	}
	if t.IsWord(i) && s.allowsMacros {
		return !declarationWords[t.Text(i)]
	}
	return s.trailerTokens[t.Text(i)]
}
