package source

import (
	"strings"

	"supervise/internal/regexp"
)

// maxRows bounds how many rows of a list are told apart.
const maxRows = 2000

// lists returns the literals with rows that stand in no other such:
// tables of tests. A row is itself in brackets, or, in a list that an annotation
// or a call with the name of a table holds, anything.
func (in *inspector) lists() []List {
	var out []List
	for i := 0; i < len(in.list); i++ {
		if in.list[i].mate <= i || !in.is(i, "[") && !in.is(i, "{") && !in.is(i, "(") {
			continue
		}
		if in.is(i, "{") && in.typeBody(i) {
			continue
		}
		rows, ok := in.rows(i)
		if !ok || in.text(i-1) == "struct" { // its fields are no rows
			continue
		}
		if end := in.list[i].mate; len(rows) == 1 && in.is(i, "(") && in.list[end-1].mate > i { // @ValueSource(ints = {1, 2})
			continue
		}
		out = append(out, List{Line: in.line(i), End: in.line(in.list[i].mate), Rows: rows})
		i = in.list[i].mate
	}
	out = append(out, in.repeated()...)
	out = append(out, in.yielded()...)
	return append(out, in.wordLists()...)
}

// typeWords begin what holds functions, in braces.
var typeWords = words(`class struct interface enum trait impl mod namespace extension object record`)

// typeBody reports whether the brace at token i opens the body of a type.
func (in *inspector) typeBody(i int) bool {
	word, at := in.blockHead(i)
	return typeWords[word] && in.isWord(at+1)
}

// rows returns the elements of the brackets at token i if they look like those
// of a table.
func (in *inspector) rows(i int) ([]string, bool) {
	end := in.list[i].mate
	composite, start := 0, i+1
	plainRows := in.plainTable(i)
	if !plainRows && in.callAt(i) && !in.rowCalls(i) {
		return nil, false
	}
	var rows []string
	for j := i + 1; j <= end && len(rows) < maxRows; j++ {
		switch {
		case j == end || in.is(j, ","):
			if j > start {
				rows = append(rows, in.between(in.list[start].pos, in.list[j-1].end))
				if in.rowAt(start, j) {
					composite++
				}
			}
			start = j + 1
		case in.statementAt(j):
			return nil, false
		case in.list[j].mate > j:
			j = in.list[j].mate
		}
	}
	return rows, len(rows) > 0 && (composite*2 > len(rows) || plainRows)
}

// rowAt reports whether the element from token a up to b looks like a row.
func (in *inspector) rowAt(a, b int) bool { return in.compositeAt(a, b) || in.rowCall(a) }

// rowHeads are calls that make one row: arguments(1, 2), pytest.param(1, 2).
var rowHeads = words(`arguments Arguments param TestCaseData TheoryDataRow Arg`)

// rowCall reports whether the element at token a is such a call.
func (in *inspector) rowCall(a int) bool {
	for j := a; j < a+6 && j < len(in.list); j++ {
		if in.list[j].word && rowHeads[in.text(j)] {
			return true
		}
		if !in.list[j].word && !in.is(j, ".") {
			return false
		}
	}
	return false
}

// rowCalls reports whether the call at token i is given rows: Stream.of(arguments(…)).
func (in *inspector) rowCalls(i int) bool { return in.is(i-1, "of") && in.rowCall(i+1) }

// plainTable reports whether brackets hold a table, whatever its rows are. What a
// call is given is none.
func (in *inspector) plainTable(i int) bool {
	given := in.is(i, "(") && in.isWord(i-1) && !iterating[in.text(i-1)]
	return in.tableCall(i) || !given && in.iterated(i)
}

// statementAt reports whether a statement begins or ends at token j.
func (in *inspector) statementAt(j int) bool {
	return in.is(j, ";") || blockWords[in.text(j)] && in.startsLine(j)
}

// callAt reports whether the bracket at token i holds arguments, or in most
// languages a value.
func (in *inspector) callAt(i int) bool {
	return in.is(i, "(") && (in.lang != Python || in.isWord(i-1))
}

// compositeAt reports whether the element from token a up to b is in brackets
// itself, or a value in brackets behind a key that is no name of a field.
func (in *inspector) compositeAt(a, b int) bool {
	last := b - 1
	if in.isWord(a) && (in.is(a+1, ":") || in.is(a+1, "=")) {
		return false
	}
	open := in.list[last].mate
	if open < a || open >= last {
		return false
	}
	return !in.is(last, ")") || open == a
}

// tableWords are the calls and annotations whose lists are tables.
var tableWords = words(`parametrize each forEach ValueSource CsvSource EnumSource case values ints strings longs doubles with_them TestWith arguments of listOf arrayOf setOf sequenceOf mapOf Values GENERATE table row_data`)

// tableCall reports whether brackets belong to what gives a test its rows.
func (in *inspector) tableCall(i int) bool {
	if in.is(i, "(") {
		return tableWords[in.text(i-1)] && in.text(i-1) != "parametrize" && in.text(i-1) != "each" && in.text(i-1) != "forEach" && in.text(i-1) != "case" && in.text(i-1) != "of"
	}
	if b := in.up[i]; b >= 0 && in.is(b, "(") && (in.is(b-1, "parametrize") || tableWords[in.text(b-1)]) {
		return true
	}
	return (in.is(i-1, "=") || in.is(i-1, ":")) && tableWords[in.text(i-2)]
}

// iterated reports whether a loop goes over the list at token i, there or by the
// name that it is given.
func (in *inspector) iterated(i int) bool {
	if in.visited(i) {
		return true
	}
	j := i - 1
	for n := 0; j >= 0 && n < 12 && in.list[j].line == in.list[i].line; n++ { // past its type
		switch text := in.text(j); {
		case iterating[text], text == "of" && in.lang != Java:
			return true
		case text == "=" || text == ":=":
			return in.loopsOver(in.text(j - 1))
		case text == "(" || text == "," || text == ";" || text == "return":
			return false
		}
		if m := in.list[j].mate; m >= 0 && m < j {
			j = m
		}
		j--
	}
	return false
}

// visited reports whether the list at token i is gone through where it stands.
func (in *inspector) visited(i int) bool {
	end := in.list[i].mate
	return in.is(i, "[") && in.is(end+1, ".") && visitors[in.text(end+2)]
}

// visitors are the methods that go through a list for what they do, not for what
// they make of it.
var visitors = words(`forEach each each_with_index`)

// iterating stand between a name and what a loop goes over.
var iterating = words(`range in <-`)

// loopsOver reports whether any loop of the file goes over a name.
func (in *inspector) loopsOver(name string) bool {
	if in.looped == nil {
		in.looped = map[string]bool{}
		for i := range in.list {
			if in.list[i].word && in.loopWord(i) {
				in.looped[in.text(i)] = true
			}
		}
	}
	return in.looped[name]
}

// iterators are the methods that go through a list.
var iterators = words(`forEach each map iter into_iter flatMap each_with_index map_each`)

// loopWord reports whether a loop goes over what token i names.
func (in *inspector) loopWord(i int) bool {
	switch in.text(i - 1) {
	case "range", "in", "of":
		return true
	case "(":
		if in.is(i+1, "as") {
			return true
		}
	case ":":
		return in.is(i+1, ")")
	}
	return in.is(i+1, ".") && iterators[in.text(i+2)]
}

// repeated gathers the rows that stand as annotations of their own, one list for
// each test: [InlineData(…)], #[case(…)], #[test_case(…)].
func (in *inspector) repeated() []List {
	var out []List
	if in.lang != CSharp && in.lang != Rust && in.lang != PHP {
		return out
	}
	var cur List
	lastToken := -1
	for i := range in.list {
		if !rowMarks[in.text(i)] || !in.is(i+1, "(") || in.list[i+1].mate < 0 {
			continue
		}
		b := in.up[i]
		if b < 0 || !in.is(b, "[") {
			continue
		}
		row := in.between(in.list[i].pos, in.list[in.list[i+1].mate].end)
		if lastToken >= 0 && in.onlyAnnotations(lastToken, b) {
			cur.Rows, cur.End = append(cur.Rows, row), in.line(i)
		} else {
			if len(cur.Rows) > 1 {
				out = append(out, cur)
			}
			cur = List{Line: in.line(i), End: in.line(i), Rows: []string{row}}
		}
		lastToken = in.list[i+1].mate
	}
	if len(cur.Rows) > 1 {
		out = append(out, cur)
	}
	return out
}

var rowMarks = words(`InlineData TestCase DataRow case test_case TestWith Arguments`)

// onlyAnnotations reports whether nothing stands between two rows but brackets.
func (in *inspector) onlyAnnotations(a, b int) bool {
	for j := a + 1; j < b; j++ {
		switch in.text(j) {
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
	for i := range in.list {
		if in.text(i) != "yield" || !in.startsStatement(i) {
			continue
		}
		end := in.first[in.line(i)] - 1
		for j := i + 1; j < len(in.list) && in.list[j].line <= in.list[end].line; j = in.skip(j) {
			end = max(end, min(in.skip(j)-1, len(in.list)-1))
		}
		block := in.up[i]
		if block < 0 { // indented
			block = -1 - in.functionAt(in.line(i))
		}
		l := byBlock[block]
		if l == nil {
			l = &List{Line: in.line(i)}
			byBlock[block], order = l, append(order, block)
		}
		l.Rows, l.End = append(l.Rows, in.between(in.list[i].pos, in.list[end].end)), in.line(end)
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
		if f.Line <= n && n <= f.End && f.Line > at && f.Name != wholeFile {
			at = f.Line
		}
	}
	return at
}

// wordList matches the lists of words of Ruby and Elixir.
var wordList = regexp.MustCompile(`(?:%[wiWI]|~w)(?:\[([^\]\n]*)\]|\(([^)\n]*)\)|\{([^}\n]*)\})`)

func (in *inspector) wordLists() []List {
	if in.lang != Ruby && in.lang != Elixir {
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
