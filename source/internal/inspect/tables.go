package inspect

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// maxRows limits how many rows of a list are read.
const maxRows = 2000

// findLists returns the outermost literals that look like tables of tests: most of their elements
// are rows, or they are the argument of an annotation or call for tables, such as parametrize.
func (in *inspector) findLists() []List {
	var out []List
	for i := 0; i < len(in.List); i++ {
		if in.List[i].Partner <= i || !in.Is(i, "[") && !in.Is(i, "{") && !in.Is(i, "(") {
			continue
		}
		if in.Is(i, "{") && in.opensTypeBody(i) {
			continue
		}

		spans, ok := in.tableRows(i)
		if !ok || in.Text(i-1) == "struct" { // the fields of a struct are not rows
			continue
		}
		// In @ValueSource(ints = {1, 2}) the inner brackets are the table.
		if end := in.List[i].Partner; len(spans) == 1 && in.Is(i, "(") && in.List[end-1].Partner > i {
			continue
		}
		l := List{Line: in.Line(i), End: in.Line(in.List[i].Partner), Spans: spans}
		for _, s := range spans {
			l.Rows = append(l.Rows, in.between(s.From, s.To))
		}
		out = append(out, l)
		i = in.List[i].Partner
	}

	out = append(out, in.findAnnotationRows()...)
	out = append(out, in.findYieldedRows()...)
	return append(out, in.findWordLists()...)
}

// typeWords start the declaration of a type.
var typeWords = lex.WordSet(`class struct interface enum trait impl mod namespace extension object record`)

// opensTypeBody reports whether the brace at token i opens the body of a type.
func (in *inspector) opensTypeBody(i int) bool {
	word, at := in.blockHead(i)
	return typeWords[word] && in.IsWord(at+1)
}

// tableRows returns the elements of the brackets at token i. It returns false if the brackets do not
// look like a table: they contain statements, or most of their elements are not rows.
func (in *inspector) tableRows(i int) ([]Span, bool) {
	end := in.List[i].Partner
	composite, start := 0, i+1
	plainRows := in.isTable(i)
	if !plainRows && in.opensArguments(i) && !in.hasRowCalls(i) {
		return nil, false
	}

	var rows []Span
	for j := i + 1; j <= end && len(rows) < maxRows; j++ {
		switch {
		case j == end || in.Is(j, ","):
			if j > start {
				rows = append(rows, Span{in.List[start].Pos, in.List[j-1].End})
				if in.isRow(start, j) {
					composite++
				}
			}
			start = j + 1
		case in.isStatementBorder(j):
			return nil, false
		case in.List[j].Partner > j:
			j = in.List[j].Partner
		}
	}

	return rows, len(rows) > 0 && (composite*2 > len(rows) || plainRows)
}

// isRow reports whether the element from token a up to token b looks like a row.
func (in *inspector) isRow(a, b int) bool { return in.isComposite(a, b) || in.isRowCall(a) }

// rowConstructors are the functions that build one row, as in pytest.param(1, 2).
var rowConstructors = lex.WordSet(`arguments Arguments param TestCaseData TheoryDataRow Arg`)

// isRowCall reports whether the element at token a calls one of rowConstructors.
func (in *inspector) isRowCall(a int) bool {
	for j := a; j < a+6 && j < len(in.List); j++ {
		if in.List[j].Word && rowConstructors[in.Text(j)] {
			return true
		}
		if !in.List[j].Word && !in.Is(j, ".") {
			return false
		}
	}
	return false
}

// hasRowCalls reports whether the arguments at token i are rows, as in
// Stream.of(arguments(…)).
func (in *inspector) hasRowCalls(i int) bool { return in.Is(i-1, "of") && in.isRowCall(i+1) }

// isTable reports whether the brackets at token i are a table whatever their elements are: tests
// are defined from them, or a loop iterates over them. The arguments of a call are not a table.
func (in *inspector) isTable(i int) bool {
	given := in.Is(i, "(") && in.IsWord(i-1) && !loopKeywords[in.Text(i-1)]
	return in.isTableArgument(i) || !given && in.isIterated(i)
}

// isStatementBorder reports whether a statement starts or ends at token j.
func (in *inspector) isStatementBorder(j int) bool {
	return in.Is(j, ";") || blockWords[in.Text(j)] && in.StartsLine(j)
}

// opensArguments reports whether the bracket at token i contains arguments or, in most
// languages, a value.
func (in *inspector) opensArguments(i int) bool {
	return in.Is(i, "(") && (in.Lang != language.Python || in.IsWord(i-1))
}

// isComposite reports whether the element from token a up to token b is in brackets, or has
// brackets after a prefix such as a type or a key. A named field, as in "want: {1, 2}", is not a
// row.
func (in *inspector) isComposite(a, b int) bool {
	last := b - 1
	if in.IsWord(a) && (in.Is(a+1, ":") || in.Is(a+1, "=")) {
		return false
	}
	open := in.List[last].Partner
	if open < a || open >= last {
		return false
	}
	return !in.Is(last, ")") || open == a
}

// tableWords are the calls, annotations and fields whose value is a table.
var tableWords = lex.WordSet(`parametrize each forEach ValueSource CsvSource EnumSource case values ints strings longs doubles with_them TestWith arguments of listOf arrayOf setOf sequenceOf mapOf Values GENERATE table row_data`)

// isTableArgument reports whether the brackets at token i contain the rows of a test, as in
// @pytest.mark.parametrize("x", [1, 2]) and @ValueSource(ints = {1, 2}).
func (in *inspector) isTableArgument(i int) bool {
	if in.Is(i, "(") {
		return tableWords[in.Text(i-1)] && !nestedTableWords[in.Text(i-1)]
	}
	if b := in.enclosing[i]; b >= 0 && in.Is(b, "(") && tableWords[in.Text(b-1)] {
		return true
	}
	return (in.Is(i-1, "=") || in.Is(i-1, ":")) && tableWords[in.Text(i-2)]
}

// nestedTableWords are those of the tableWords whose parentheses are not the table itself.
var nestedTableWords = lex.WordSet(`parametrize each forEach case of`)

// isIterated reports whether a loop iterates over the list at token i, directly or by the name
// that it is assigned to.
func (in *inspector) isIterated(i int) bool {
	if in.isVisited(i) {
		return true
	}
	j := i - 1
	for n := 0; j >= 0 && n < 12 && in.List[j].Line == in.List[i].Line; n++ { // skips the type of the list
		switch text := in.Text(j); {
		case loopKeywords[text], text == "of" && in.Lang != language.Java:
			return true
		case text == "=" || text == ":=":
			return in.loopsOver(in.Text(j - 1))
		case text == "(" || text == "," || text == ";" || text == "return":
			return false
		}
		if m := in.List[j].Partner; m >= 0 && m < j {
			j = m
		}
		j--
	}
	return false
}

// isVisited reports whether a method such as forEach is called on the list at token i.
func (in *inspector) isVisited(i int) bool {
	end := in.List[i].Partner
	return in.Is(i, "[") && in.Is(end+1, ".") && visitorMethods[in.Text(end+2)]
}

// visitorMethods iterate over a list for their side effects.
var visitorMethods = lex.WordSet(`forEach each each_with_index`)

// loopKeywords precede what a loop iterates over.
var loopKeywords = lex.WordSet(`range in <-`)

// loopsOver reports whether any loop of the file iterates over the name. The first call collects
// the names for all loops.
func (in *inspector) loopsOver(name string) bool {
	if in.loopedNames == nil {
		in.loopedNames = map[string]bool{}
		for i := range in.List {
			if in.List[i].Word && in.isLoopedOver(i) {
				in.loopedNames[in.Text(i)] = true
			}
		}
	}
	return in.loopedNames[name]
}

// iteratorMethods iterate over a list.
var iteratorMethods = lex.WordSet(`forEach each map iter into_iter flatMap each_with_index map_each`)

// isLoopedOver reports whether a loop iterates over the name at token i.
func (in *inspector) isLoopedOver(i int) bool {
	switch in.Text(i - 1) {
	case "range", "in", "of":
		return true
	case "(":
		if in.Is(i+1, "as") {
			return true
		}
	case ":":
		return in.Is(i+1, ")")
	}
	return in.Is(i+1, ".") && iteratorMethods[in.Text(i+2)]
}

// findAnnotationRows returns the rows that are separate annotations, such as [InlineData(…)],
// #[case(…)] and #[test_case(…)]. Consecutive annotations are one list. A single annotation is
// not a list.
func (in *inspector) findAnnotationRows() []List {
	var out []List
	if in.Lang != language.CSharp && in.Lang != language.Rust && in.Lang != language.PHP {
		return out
	}

	lastToken := -1
	for i := range in.List {
		bracket := in.enclosing[i]
		isRow := rowAnnotations[in.Text(i)] && in.Is(i+1, "(") && in.List[i+1].Partner >= 0 && in.Is(bracket, "[")
		if !isRow {
			continue
		}
		if lastToken < 0 || !in.areAdjacentAnnotations(lastToken, bracket) {
			out = append(out, List{Line: in.Line(i)})
		}
		lastToken = in.List[i+1].Partner
		l := &out[len(out)-1]
		l.Rows, l.End = append(l.Rows, in.between(in.List[i].Pos, in.List[lastToken].End)), in.Line(i)
	}
	return slices.DeleteFunc(out, List.hasOneRow)
}

// hasOneRow reports whether a list has a single row, so that it is no table.
func (l List) hasOneRow() bool { return len(l.Rows) == 1 }

// rowAnnotations are the annotations that contain one row.
var rowAnnotations = lex.WordSet(`InlineData TestCase DataRow case test_case TestWith Arguments`)

// areAdjacentAnnotations reports whether only brackets, commas and hash signs are between tokens
// a and b.
func (in *inspector) areAdjacentAnnotations(a, b int) bool {
	for j := a + 1; j < b; j++ {
		switch in.Text(j) {
		case "]", "[", "#", ",":
		default:
			return false
		}
	}
	return true
}

// findYieldedRows returns the rows that functions yield one by one, one list for each block.
func (in *inspector) findYieldedRows() []List {
	var out []List
	indexes := map[int]int{} // by block: the index in out
	for i := range in.List {
		if in.Text(i) != "yield" || !in.startsStatement(i) {
			continue
		}

		// The row ends with the line, or later if a bracket is still open.
		end := in.FirstOfLine[in.Line(i)] - 1
		for j := i + 1; j < len(in.List) && in.List[j].Line <= in.List[end].Line; j = in.Skip(j) {
			end = max(end, min(in.Skip(j)-1, len(in.List)-1))
		}

		// Without a brace around it, the block is the function. Its negative line is no valid
		// token.
		block := in.enclosing[i]
		if f := in.file.FunctionAround(in.Line(i)); block < 0 && f != nil {
			block = -1 - f.Line
		}

		n, known := indexes[block]
		if !known {
			n = len(out)
			indexes[block], out = n, append(out, List{Line: in.Line(i)})
		}
		out[n].Rows, out[n].End = append(out[n].Rows, in.between(in.List[i].Pos, in.List[end].End)), in.Line(end)
	}
	return slices.DeleteFunc(out, List.hasOneRow)
}

// wordListRE matches a word list of Ruby or Elixir, as in %w[a b] and ~w(a b). The words are in
// the group of the kind of bracket.
var wordListRE = regexp.MustCompile(`(?:%[wiWI]|~w)(?:\[([^\]\n]*)\]|\(([^)\n]*)\)|\{([^}\n]*)\})`)

// findWordLists returns the word lists of Ruby and Elixir.
func (in *inspector) findWordLists() []List {
	if in.Lang != language.Ruby && in.Lang != language.Elixir {
		return nil
	}
	var out []List
	for n := 1; n <= in.lastLine(); n++ {
		line := in.plainLine(n)
		if !strings.Contains(line, "%") && !strings.Contains(line, "~w") {
			continue
		}
		for _, m := range wordListRE.FindAllStringSubmatch(line, -1) {
			if rows := strings.Fields(m[1] + m[2] + m[3]); len(rows) > 1 {
				out = append(out, List{Line: n, End: n, Rows: rows})
			}
		}
	}
	return out
}
