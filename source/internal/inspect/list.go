package inspect

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// maxRows bounds how many rows of a list are distinguished.
const maxRows = 2000

// lists returns the literals with rows that are in no other such:
// tables of tests. A row is itself in brackets, or, in a list that an annotation
// or a call with the name of a table holds, anything.
func (in *inspector) lists() []List {
	var out []List
	for i := 0; i < len(in.List); i++ {
		if in.List[i].Mate <= i || !in.Is(i, "[") && !in.Is(i, "{") && !in.Is(i, "(") {
			continue
		}
		if in.Is(i, "{") && in.typeBody(i) {
			continue
		}
		rows, ok := in.rows(i)
		if !ok || in.Text(i-1) == "struct" { // its fields are not rows
			continue
		}
		if end := in.List[i].Mate; len(rows) == 1 && in.Is(i, "(") && in.List[end-1].Mate > i { // @ValueSource(ints = {1, 2})
			continue
		}
		out = append(out, List{Line: in.Line(i), End: in.Line(in.List[i].Mate), Rows: rows})
		i = in.List[i].Mate
	}
	out = append(out, in.repeated()...)
	out = append(out, in.yielded()...)
	return append(out, in.wordLists()...)
}

// typeWords begin what holds functions, in braces.
var typeWords = lex.WordSet(`class struct interface enum trait impl mod namespace extension object record`)

// typeBody reports whether the brace at token i opens the body of a type.
func (in *inspector) typeBody(i int) bool {
	word, at := in.blockHead(i)
	return typeWords[word] && in.IsWord(at+1)
}

// rows returns the elements of the brackets at token i if they look like those
// of a table.
func (in *inspector) rows(i int) ([]string, bool) {
	end := in.List[i].Mate
	composite, start := 0, i+1
	plainRows := in.plainTable(i)
	if !plainRows && in.callAt(i) && !in.rowCalls(i) {
		return nil, false
	}
	var rows []string
	for j := i + 1; j <= end && len(rows) < maxRows; j++ {
		switch {
		case j == end || in.Is(j, ","):
			if j > start {
				rows = append(rows, in.between(in.List[start].Pos, in.List[j-1].End))
				if in.rowAt(start, j) {
					composite++
				}
			}
			start = j + 1
		case in.statementAt(j):
			return nil, false
		case in.List[j].Mate > j:
			j = in.List[j].Mate
		}
	}
	return rows, len(rows) > 0 && (composite*2 > len(rows) || plainRows)
}

// rowAt reports whether the element from token a up to b looks like a row.
func (in *inspector) rowAt(a, b int) bool { return in.compositeAt(a, b) || in.rowCall(a) }

// rowHeads are calls that make one row: arguments(1, 2), pytest.param(1, 2).
var rowHeads = lex.WordSet(`arguments Arguments param TestCaseData TheoryDataRow Arg`)

// rowCall reports whether the element at token a is such a call.
func (in *inspector) rowCall(a int) bool {
	for j := a; j < a+6 && j < len(in.List); j++ {
		if in.List[j].Word && rowHeads[in.Text(j)] {
			return true
		}
		if !in.List[j].Word && !in.Is(j, ".") {
			return false
		}
	}
	return false
}

// rowCalls reports whether the call at token i is given rows: Stream.of(arguments(…)).
func (in *inspector) rowCalls(i int) bool { return in.Is(i-1, "of") && in.rowCall(i+1) }

// plainTable reports whether brackets hold a table, whatever its rows are. What a
// call is given is not one.
func (in *inspector) plainTable(i int) bool {
	given := in.Is(i, "(") && in.IsWord(i-1) && !iterating[in.Text(i-1)]
	return in.tableCall(i) || !given && in.iterated(i)
}

// statementAt reports whether a statement begins or ends at token j.
func (in *inspector) statementAt(j int) bool {
	return in.Is(j, ";") || blockWords[in.Text(j)] && in.StartsLine(j)
}

// callAt reports whether the bracket at token i holds arguments, or in most
// languages a value.
func (in *inspector) callAt(i int) bool {
	return in.Is(i, "(") && (in.Lang != language.Python || in.IsWord(i-1))
}

// compositeAt reports whether the element from token a up to b is in brackets
// itself, or a value in brackets after a key that is not a name of a field.
func (in *inspector) compositeAt(a, b int) bool {
	last := b - 1
	if in.IsWord(a) && (in.Is(a+1, ":") || in.Is(a+1, "=")) {
		return false
	}
	open := in.List[last].Mate
	if open < a || open >= last {
		return false
	}
	return !in.Is(last, ")") || open == a
}

// tableWords are the calls and annotations whose lists are tables.
var tableWords = lex.WordSet(`parametrize each forEach ValueSource CsvSource EnumSource case values ints strings longs doubles with_them TestWith arguments of listOf arrayOf setOf sequenceOf mapOf Values GENERATE table row_data`)

// tableCall reports whether brackets belong to what gives a test its rows.
func (in *inspector) tableCall(i int) bool {
	if in.Is(i, "(") {
		return tableWords[in.Text(i-1)] && in.Text(i-1) != "parametrize" && in.Text(i-1) != "each" && in.Text(i-1) != "forEach" && in.Text(i-1) != "case" && in.Text(i-1) != "of"
	}
	if b := in.up[i]; b >= 0 && in.Is(b, "(") && (in.Is(b-1, "parametrize") || tableWords[in.Text(b-1)]) {
		return true
	}
	return (in.Is(i-1, "=") || in.Is(i-1, ":")) && tableWords[in.Text(i-2)]
}

// iterated reports whether a loop goes over the list at token i, there or by the
// name that it is given.
func (in *inspector) iterated(i int) bool {
	if in.visited(i) {
		return true
	}
	j := i - 1
	for n := 0; j >= 0 && n < 12 && in.List[j].Line == in.List[i].Line; n++ { // past its type
		switch text := in.Text(j); {
		case iterating[text], text == "of" && in.Lang != language.Java:
			return true
		case text == "=" || text == ":=":
			return in.loopsOver(in.Text(j - 1))
		case text == "(" || text == "," || text == ";" || text == "return":
			return false
		}
		if m := in.List[j].Mate; m >= 0 && m < j {
			j = m
		}
		j--
	}
	return false
}

// visited reports whether the list at token i is gone through where it is.
func (in *inspector) visited(i int) bool {
	end := in.List[i].Mate
	return in.Is(i, "[") && in.Is(end+1, ".") && visitors[in.Text(end+2)]
}

// visitors are the methods that go through a list for what they do, not for what
// they make of it.
var visitors = lex.WordSet(`forEach each each_with_index`)

// iterating are between a name and what a loop goes over.
var iterating = lex.WordSet(`range in <-`)

// loopsOver reports whether any loop of the file goes over a name.
func (in *inspector) loopsOver(name string) bool {
	if in.looped == nil {
		in.looped = map[string]bool{}
		for i := range in.List {
			if in.List[i].Word && in.loopWord(i) {
				in.looped[in.Text(i)] = true
			}
		}
	}
	return in.looped[name]
}

// iterators are the methods that go through a list.
var iterators = lex.WordSet(`forEach each map iter into_iter flatMap each_with_index map_each`)

// loopWord reports whether a loop goes over what token i names.
func (in *inspector) loopWord(i int) bool {
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
	return in.Is(i+1, ".") && iterators[in.Text(i+2)]
}

// repeated gathers the rows that are their own annotations, one list for
// each test: [InlineData(…)], #[case(…)], #[test_case(…)].
func (in *inspector) repeated() []List {
	var out []List
	if in.Lang != language.CSharp && in.Lang != language.Rust && in.Lang != language.PHP {
		return out
	}
	var cur List
	lastToken := -1
	for i := range in.List {
		if !rowMarks[in.Text(i)] || !in.Is(i+1, "(") || in.List[i+1].Mate < 0 {
			continue
		}
		b := in.up[i]
		if b < 0 || !in.Is(b, "[") {
			continue
		}
		row := in.between(in.List[i].Pos, in.List[in.List[i+1].Mate].End)
		if lastToken >= 0 && in.onlyAnnotations(lastToken, b) {
			cur.Rows, cur.End = append(cur.Rows, row), in.Line(i)
		} else {
			if len(cur.Rows) > 1 {
				out = append(out, cur)
			}
			cur = List{Line: in.Line(i), End: in.Line(i), Rows: []string{row}}
		}
		lastToken = in.List[i+1].Mate
	}
	if len(cur.Rows) > 1 {
		out = append(out, cur)
	}
	return out
}

var rowMarks = lex.WordSet(`InlineData TestCase DataRow case test_case TestWith Arguments`)

// onlyAnnotations reports whether nothing is between two rows but brackets.
func (in *inspector) onlyAnnotations(a, b int) bool {
	for j := a + 1; j < b; j++ {
		switch in.Text(j) {
		case "]", "[", "#", ",":
		default:
			return false
		}
	}
	return true
}

// yielded gathers the rows that a function yields one by one, one list for each
// block.
func (in *inspector) yielded() []List {
	byBlock := map[int]*List{}
	var order []int
	for i := range in.List {
		if in.Text(i) != "yield" || !in.startsStatement(i) {
			continue
		}
		end := in.First[in.Line(i)] - 1
		for j := i + 1; j < len(in.List) && in.List[j].Line <= in.List[end].Line; j = in.Skip(j) {
			end = max(end, min(in.Skip(j)-1, len(in.List)-1))
		}
		block := in.up[i]
		if block < 0 { // indented
			block = -1 - in.functionAt(in.Line(i))
		}
		l := byBlock[block]
		if l == nil {
			l = &List{Line: in.Line(i)}
			byBlock[block], order = l, append(order, block)
		}
		l.Rows, l.End = append(l.Rows, in.between(in.List[i].Pos, in.List[end].End)), in.Line(end)
	}
	var out []List
	for _, b := range order {
		if len(byBlock[b].Rows) > 1 {
			out = append(out, *byBlock[b])
		}
	}
	return out
}

// functionAt returns the line of the innermost function around a line, 0 for none.
func (in *inspector) functionAt(n int) int {
	at := 0
	for _, f := range in.file.Functions {
		if f.Line <= n && n <= f.End && f.Line > at && f.Name != function.FileScope {
			at = f.Line
		}
	}
	return at
}

// wordList matches the lists of words of Ruby and Elixir.
var wordList = regexp.MustCompile(`(?:%[wiWI]|~w)(?:\[([^\]\n]*)\]|\(([^)\n]*)\)|\{([^}\n]*)\})`)

func (in *inspector) wordLists() []List {
	if in.Lang != language.Ruby && in.Lang != language.Elixir {
		return nil
	}
	var out []List
	for n := 1; n <= in.lastLine(); n++ {
		line := in.plainLine(n)
		if !strings.Contains(line, "%") && !strings.Contains(line, "~w") {
			continue
		}
		for _, m := range wordList.FindAllStringSubmatch(line, -1) {
			if rows := strings.Fields(m[1] + m[2] + m[3]); len(rows) > 1 {
				out = append(out, List{Line: n, End: n, Rows: rows})
			}
		}
	}
	return out
}
