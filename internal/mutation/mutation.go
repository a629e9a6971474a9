// Package mutation makes mutants of source files: copies with one small fault. A test that
// detects the fault fails on the mutant, which kills it. The number of killed mutants says how
// many faults the tests detect.
//
// [MutantsOf] finds the mutants of one file, [Sample] chooses a fair part of many, and
// [Mutant.ApplyTo] writes the faulty text. Nothing here runs tests.
//
// The operators are few. Five kinds of fault find nearly all that a large set finds
// (Offutt, Lee, Rothermel, Untch and Zapf: An Experimental Determination of Sufficient
// Mutant Operators, ACM TOSEM 5(2), 1996); statement deletion and changed return values
// are those of PIT, mutmut and Stryker, https://pitest.org/quickstart/mutators,
// https://mutmut.readthedocs.io and https://stryker-mutator.io/docs.
//
// Go is changed by its syntax tree (golang.go). Other languages are changed line by line
// (text.go and statement.go), in a text whose comments and strings are masked with blanks. Most
// of their mutants are valid programs, but not all.
package mutation

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"supervise/source"
)

// Operator is a kind of fault.
type Operator string

// The operators.
const (
	NegateCondition  Operator = "negate_condition"
	ShiftBoundary    Operator = "shift_boundary"
	SwapLogic        Operator = "swap_logic"
	ChangeArithmetic Operator = "change_arithmetic"
	DropStatement    Operator = "drop_statement"
	ChangeConstant   Operator = "change_constant"
	ChangeReturn     Operator = "change_return"
)

// operators is the table of the operators, in the order in which mutants are chosen.
var operators = []struct {
	name  Operator
	about string
}{
	{NegateCondition, "a condition is inverted: == and !=, < and >=, !(…)"},
	{ShiftBoundary, "a boundary moves by one: < and <=, > and >="},
	{ChangeArithmetic, "another operator: + and -, * and /, % and *"},
	{ChangeReturn, "another result: one more, the zero value, nothing, the opposite"},
	{DropStatement, "a call or an assignment is removed"},
	{ChangeConstant, "another constant: one more, a longer text, true and false"},
	{SwapLogic, "and becomes or, or becomes and"},
}

// Operators returns the operators, those whose mutants say most about tests first.
func Operators() (out []Operator) {
	for _, o := range operators {
		out = append(out, o.name)
	}
	return out
}

// Mutant is one fault in one file.
type Mutant struct {
	File              string
	Function          string // around it, "" for none
	Line              int    // from 1
	Operator          Operator
	Original, Mutated string // the part that changes, in one line

	start, end  int    // of the text that is replaced, in bytes
	replacement string // instead of it
	hasTexts    bool   // Original and Mutated are set; otherwise setTexts derives them from the line
}

// ApplyTo returns the text of the file with the fault. src is the text that the mutant was
// made of.
func (m Mutant) ApplyTo(src []byte) []byte {
	return slices.Concat(src[:m.start], []byte(m.replacement), src[m.end:])
}

// Span returns the part of the text that the fault replaces, as offsets in bytes.
func (m Mutant) Span() (start, end int) { return m.start, m.end }

// ReturnsNothing reports whether the fault is that a function returns no value at all.
func (m Mutant) ReturnsNothing() bool {
	return m.Operator == ChangeReturn && slices.Contains([]string{"None", "null", "nil", "undefined", "undefined as any"}, m.replacement)
}

// MutantsOf returns the mutants of a source file, in the order of its text. The list is empty
// for an unknown language and for Go that does not parse. Tests within a file of code, such as
// Rust's test modules, are not changed.
func MutantsOf(path string, src []byte) []Mutant {
	lang := source.DetectLanguage(path, src[:min(len(src), 512)])
	var out []Mutant
	if lang == source.Go {
		out = goMutants(src)
	} else if s, known := syntaxes[lang]; known {
		out = s.mutants(lang, src)
	}

	file, err := source.Scan(path, src)
	if err != nil {
		return nil
	}

	tests := source.FindInlineTests(path, src)
	selected := out[:0]
	for _, m := range out {
		m.File, m.Line = path, 1+bytes.Count(src[:m.start], []byte("\n"))
		m.Function = enclosingFunction(file.Functions, m.Line)
		m.setTexts(src)
		if !slices.ContainsFunc(tests, func(t source.InlineTests) bool { return t.ContainsLine(m.Line) }) {
			selected = append(selected, m)
		}
	}

	slices.SortStableFunc(selected, func(a, b Mutant) int { return cmp.Compare(a.start, b.start) })
	return selected
}

// enclosingFunction returns the name of the innermost function that contains a line, "" if none
// does.
func enclosingFunction(functions []source.Function, line int) string {
	name, from := "", 0
	for _, f := range functions {
		if f.Line <= line && line <= f.End && f.Line >= from && f.Name != "(file)" {
			name, from = f.Name, f.Line
		}
	}
	return name
}

// maxShown is how many characters of a line are shown.
const maxShown = 70

// setTexts sets Original and Mutated to the line before and after the change. Of a long line it
// shows the part around the change.
func (m *Mutant) setTexts(src []byte) {
	if !m.hasTexts {
		first := 1 + bytes.LastIndexByte(src[:m.start], '\n')
		last := len(src)
		if n := bytes.IndexByte(src[m.end:], '\n'); n >= 0 {
			last = m.end + n
		}
		before, after := string(src[first:m.start]), string(src[m.end:last])
		if last-first > maxShown && len(before) > maxShown/2 {
			before = "…" + strings.ToValidUTF8(before[len(before)-maxShown/2:], "")
		}
		m.Original, m.Mutated = before+string(src[m.start:m.end])+after, before+m.replacement+after
	}
	m.Original, m.Mutated = oneLine(m.Original), oneLine(m.Mutated)
}

// oneLine returns a text with single blanks between its words, cut to [maxShown] characters.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if cut := []rune(text); len(cut) > maxShown {
		return string(cut[:maxShown-1]) + "…"
	}
	return text
}

// Sample returns at most n of the mutants, spread evenly over files and functions, and in each
// function over operators and lines. The first k mutants of the result are spread as evenly, so
// that a run that ends early has tested a fair sample. The result is deterministic.
func Sample(list []Mutant, n int) []Mutant {
	byFunction := map[[2]string][]Mutant{}
	var order [][2]string
	for _, m := range list {
		key := [2]string{m.File, m.Function}
		if byFunction[key] == nil {
			order = append(order, key)
		}
		byFunction[key] = append(byFunction[key], m)
	}
	queues := make([][]Mutant, len(order))
	for i, key := range order {
		// Each function starts with another operator, so that few mutants have many operators.
		queues[i] = orderByOperator(byFunction[key], i)
	}
	return takeInTurn(queues, n)
}

// orderByOperator orders the mutants of one function so that the operators alternate. first is
// the index in [operators], modulo its length, of the operator to start with.
func orderByOperator(list []Mutant, first int) []Mutant {
	queues := make([][]Mutant, 0, len(operators))
	for i := range operators {
		name := operators[(i+first)%len(operators)].name
		own := slices.DeleteFunc(slices.Clone(list), func(m Mutant) bool { return m.Operator != name })
		queues = append(queues, spreadEvenly(own))
	}
	return takeInTurn(queues, len(list))
}

// spreadEvenly orders a list so that its first k elements, for every k, are spread over all of it:
// first the first element, then that in the middle, then those at the quarters, and so on.
func spreadEvenly(list []Mutant) []Mutant {
	out := make([]Mutant, 0, len(list))
	taken := make([]bool, len(list))
	for step := len(list); step > 0; step /= 2 {
		for i := 0; i < len(list); i += step {
			if !taken[i] {
				taken[i] = true
				out = append(out, list[i])
			}
		}
	}
	return out
}

// takeInTurn returns the elements of the queues, one of each queue per round, n at most.
func takeInTurn(queues [][]Mutant, n int) []Mutant {
	var out []Mutant
	for more := true; more && len(out) < n; {
		more = false
		for i, q := range queues {
			if len(q) == 0 || len(out) >= n {
				continue
			}
			out, queues[i], more = append(out, q[0]), q[1:], true
		}
	}
	return out
}
