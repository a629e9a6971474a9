package inspect

import (
	"fmt"
	"slices"
	"strings"

	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/scan"
	"supervise/source/internal/tests"
)

// Inspection describes whether the tests of a source file run, and which failures they can
// still detect.
type Inspection struct {
	scan.File
	// Plain is the text without comments, Masked without the bodies of strings as
	// well. Both are as long as the text and have its lines; of an Unknown
	// language both are the text itself.
	Plain, Masked []byte
	// Marks are what keeps tests, or parts of them, from being run or from failing,
	// in the order of the file. Of other code they are what swallows errors.
	Marks []Mark
	// Lists are the tables in the file: literals with two rows or more.
	Lists []List
	// Directives are the comments and annotations that silence tools.
	Directives []Directive
}

// Mark is a place in the source that changes whether or how some lines run.
type Mark struct {
	Kind MarkKind
	// Line is where it is, From and To are the lines it affects.
	Line, From, To int
	// Text is what it reads, in one line.
	Text string
	// Condition is under what it holds, as written; "" for always.
	Condition string
	// Constant says that the condition depends on nothing and holds.
	Constant bool
	// Scope is what it applies to.
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

// IsUnconditional reports whether the mark applies wherever the tests run.
func (m Mark) IsUnconditional() bool { return m.Condition == "" || m.Constant }

// List is a literal with several rows, such as the table of a table-driven test.
type List struct {
	Line, End int
	// Rows are its elements, each in one line.
	Rows []string
}

// Directive is a comment or an annotation that silences a tool.
type Directive struct {
	Line int
	// Text is what it reads, from its own beginning on.
	Text string
	// Blanket says that it silences everything, or a complete file.
	Blanket bool
	// Coverage says that it takes lines out of what is measured as covered.
	Coverage bool
	// Comment says that it is in a comment: without its word it is any comment.
	Comment bool
	// From and To are where its word begins and ends in the file, in bytes, of one in
	// a comment or about coverage; else 0.
	From, To int
}

// Inspect reads a source file like Scan, and in more detail. The error is that of Scan; the
// result contains what could be read.
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
	in := &inspector{Tokens: t, plain: r.Plain(), kinds: r.Kinds, enclosing: r.Buffers.Enclosing, path: path, file: &file, inTest: inTest}
	out := Inspection{File: file, Plain: in.plain, Masked: t.Masked, Directives: in.findDirectives()}
	in.findEnclosingBrackets()
	r.Buffers.Enclosing = in.enclosing
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

// inspector inspects the tokens of one file.
type inspector struct {
	*lex.Tokens
	plain       []byte
	kinds       []lex.Kind
	path        string
	file        *scan.File
	inTest      bool
	enclosing   []int // of each token, the bracket that it is in, -1 for none
	marks       []Mark
	loopedNames map[string]bool // names that loops go over
	lineStarts  []int
}

// findEnclosingBrackets sets enclosing for all tokens.
func (in *inspector) findEnclosingBrackets() {
	in.enclosing = slices.Grow(in.enclosing[:0], len(in.List))[:len(in.List)]
	var open []int
	for i, tok := range in.List {
		for len(open) > 0 && in.List[open[len(open)-1]].Partner < i {
			open = open[:len(open)-1]
		}
		in.enclosing[i] = -1
		if len(open) > 0 {
			in.enclosing[i] = open[len(open)-1]
			if in.List[open[len(open)-1]].Partner == i { // a closing one is in addition to its partner
				open = open[:len(open)-1]
				in.enclosing[i] = -1
				if len(open) > 0 {
					in.enclosing[i] = open[len(open)-1]
				}
			}
		}
		if tok.Partner > i {
			open = append(open, i)
		}
	}
}

// tokenAt returns the first token at or after a byte offset.
func (in *inspector) tokenAt(pos int) int {
	i, _ := slices.BinarySearchFunc(in.List, pos, func(t lex.Token, pos int) int { return t.Pos - pos })
	return i
}

// between returns the source between two byte offsets on one line.
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

// enclosingTest returns the innermost test around a line, nil if there is none.
func (in *inspector) enclosingTest(line int) *tests.TestDef {
	var best *tests.TestDef
	for i := range in.file.Tests {
		t := &in.file.Tests[i]
		if t.Line <= line && line <= t.End && (best == nil || t.End-t.Line <= best.End-best.Line) {
			best = t
		}
	}
	return best
}

var kindNames = [...]string{"skip", "focus", "dead", "swallow", "exit", "guard"}

// String returns the lower-case name of the kind.
func (k MarkKind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("markkind(%d)", uint8(k))
	}
	return kindNames[k]
}
