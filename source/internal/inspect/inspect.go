package inspect

import (
	"fmt"
	"slices"
	"strings"

	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/scan"
)

// Inspection describes whether the tests of a source file run, and which failures they can
// still detect.
type Inspection struct {
	scan.File
	// Plain is the source with its comments replaced by spaces. In Masked the contents of strings
	// are spaces, too. Both have the length and the lines of the source. For an Unknown language
	// both are the source itself.
	Plain, Masked []byte
	// Marks are the places that keep tests, or parts of tests, from running or failing, in the
	// order of the file. In a file without tests they are only the places that swallow errors.
	Marks []Mark
	// Lists are the tables in the file: literals with two rows or more.
	Lists []List
	// Directives are the comments and annotations that silence tools.
	Directives []Directive
}

// Mark is a place in the source that changes whether or how some lines run.
type Mark struct {
	Kind MarkKind
	// Line is the line of the mark. From and To are the first and the last line that it affects.
	Line, From, To int
	// Text is the marked source, on one line.
	Text string
	// Condition is the condition under which the mark applies, as written in the source. It is ""
	// if the mark always applies.
	Condition string
	// Constant reports whether Condition is a constant that is true.
	Constant bool
	// Scope tells whether the mark applies to a test, a group of tests or the file.
	Scope Scope
}

// MarkKind is the effect of a mark.
type MarkKind uint8

// The kinds of marks.
const (
	Skip        MarkKind = iota // tests are skipped, or their failure is expected
	Focus                       // all other tests are not run
	Unreachable                 // lines that are never reached
	Swallow                     // failures are caught and dropped
	Exit                        // the process ends as if all were well
	Guard                       // lines that are reached, or waited for, only under a condition
)

// Scope is what a mark applies to.
type Scope uint8

// The scopes of marks.
const (
	OnTest Scope = iota
	OnGroup
	OnFile
)

// IsUnconditional reports whether the mark applies whenever the tests run.
func (m Mark) IsUnconditional() bool { return m.Condition == "" || m.Constant }

// List is a literal with several rows, such as the table of a table-driven test.
type List struct {
	Line, End int
	// Rows are the elements of the literal, each on one line with single spaces.
	Rows []string
	// Spans are the places of the rows if these are the elements of one literal, otherwise nil.
	Spans []Span
}

// Span is a part of a file: the byte offsets of its start and its end.
type Span struct{ From, To int }

// Directive is a comment or an annotation that silences a tool.
type Directive struct {
	Line int
	// Text is the directive and the remainder of its line, with single spaces.
	Text string
	// Blanket reports whether the directive silences all messages of the tool, or a complete
	// file.
	Blanket bool
	// Coverage reports whether the directive excludes lines from the measurement of test
	// coverage.
	Coverage bool
	// Comment reports whether the directive is a comment.
	Comment bool
	// From and To are the byte offsets of the start and the end of the directive's keyword, such
	// as "noqa". They are set only for comments and for directives about coverage, else 0.
	From, To int
}

// Inspect reads a source file like Scan, and also finds what keeps its tests from running or
// failing. The error is that of Scan; then the result contains what could be read.
func Inspect(path string, src []byte) (Inspection, error) {
	lang := language.Detect(path, src)
	if lang == language.Unknown {
		return Inspection{Plain: src, Masked: src}, nil
	}
	r := lex.NewSource(lang, src)
	defer r.Close()

	file, err := scan.Read(path, r)
	inTest := language.IsTestFile(path, lang) || len(file.Tests) > 0

	t := tokensFor(r, inTest)
	t.Budget = lex.BlockBudget * len(t.List)
	in := &inspector{Tokens: t, plain: r.Plain(), kinds: r.Kinds, path: path, file: &file, inTest: inTest}

	out := Inspection{File: file, Plain: in.plain, Masked: t.Masked, Directives: in.findDirectives()}
	in.findEnclosingBrackets()

	in.markEmptyHandlers()
	if in.inTest {
		in.markIdleHandlers()
		in.markSkips()
		in.markPreprocessorBranches()
		in.markUnreachable()
		in.markGuards()
		out.Lists = in.findLists()
	}

	slices.SortStableFunc(in.marks, func(a, b Mark) int { return a.Line - b.Line })
	out.Marks = in.marks
	return out, err
}

// inspector inspects one file. Tokens are referred to by their index, and lines by their number
// from 1.
type inspector struct {
	*lex.Tokens
	plain       []byte     // the source with its comments replaced by spaces
	kinds       []lex.Kind // the kind of each byte of the source
	path        string
	file        *scan.File
	inTest      bool  // the file contains tests
	enclosing   []int // by token: the index of the innermost bracket around it, -1 for none
	marks       []Mark
	loopedNames map[string]bool // names that loops iterate over; nil until loopsOver needs it
	lineStarts  []int           // byte offset of each line; nil until lineSpan needs it
}

// findEnclosingBrackets sets enclosing for all tokens. A bracket does not enclose itself or its
// partner.
func (in *inspector) findEnclosingBrackets() {
	in.enclosing = make([]int, len(in.List))
	innermost := -1
	for i, tok := range in.List {
		for innermost >= 0 && in.List[innermost].Partner <= i {
			innermost = in.enclosing[innermost]
		}
		in.enclosing[i] = innermost
		if tok.Partner > i {
			innermost = i
		}
	}
}

// tokenAt returns the index of the first token that starts at or after a byte offset. It is the
// number of tokens if there is none.
func (in *inspector) tokenAt(pos int) int {
	i, _ := slices.BinarySearchFunc(in.List, pos, func(t lex.Token, pos int) int { return t.Pos - pos })
	return i
}

// between returns the source between two byte offsets without comments, on one line with single
// spaces. It is "" if the range is empty or outside the source.
func (in *inspector) between(from, to int) string {
	if from >= to || to > len(in.plain) {
		return ""
	}
	return strings.Join(strings.Fields(string(in.plain[from:to])), " ")
}

// lastLine returns the number of the last line.
func (in *inspector) lastLine() int { return len(in.FirstOfLine) - 1 }

// lineText returns line n without comments and surrounding space, as quoted by marks.
func (in *inspector) lineText(n int) string {
	if n < 1 || n > in.lastLine() {
		return ""
	}
	from := len(in.plain)
	if i := in.FirstOfLine[n-1]; i < len(in.List) && in.List[i].Line == n {
		from = in.List[i].Pos
	}
	to := from
	for to < len(in.plain) && in.plain[to] != '\n' {
		to++
	}
	return in.between(from, to)
}

// kindNames are the names of the kinds, in the order of the constants.
var kindNames = [...]string{"skip", "focus", "dead", "swallow", "exit", "guard"}

// String returns the lower-case name of the kind.
func (k MarkKind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("markkind(%d)", uint8(k))
	}
	return kindNames[k]
}
