package mutantrun

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// goSwitch writes all mutants of a Go file into one text. Each function with mutants starts with a
// switch on a variable, whose branches are the mutated bodies of the function:
//
//	func Price(n int) int { if superviseMutant0 != 0 { … if superviseMutant0 == 7 { return n * 3 } }
//
// The variable is read from a file when a process starts, so that it applies to all processes that
// a test starts. Line directives keep the line numbers of the original.
type goSwitch struct {
	index    int            // of the file, part of the names of its variables
	name     string         // base name of the file
	origin   Mutant         // a mutant of the file
	src      []byte         // the text without a fault
	selector string         // path of the file that selects a mutant
	mutants  map[int]Mutant // by their numbers, from 1
	inline   map[int]bool   // mutants whose bodies are compiled as they would be in their function

	fset *token.FileSet
	file *ast.File
}

// newGoSwitch returns the switch of a file without mutants. It is false for a file that can have none.
func newGoSwitch(index int, selector string, m Mutant) (*goSwitch, bool) {
	s := &goSwitch{index: index, name: path.Base(m.File), origin: m, src: m.Source, selector: selector, mutants: map[int]Mutant{}, inline: map[int]bool{}, fset: token.NewFileSet()}
	var err error
	s.file, err = parser.ParseFile(s.fset, "", m.Source, parser.SkipObjectResolution)
	isC := func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` }
	return s, err == nil && !slices.ContainsFunc(s.file.Imports, isC)
}

func (s *goSwitch) offset(p token.Pos) int { return s.fset.PositionFor(p, false).Offset }

// functionOf returns the function whose body contains a mutant, nil for none. The body must be
// one that a branch can contain.
func (s *goSwitch) functionOf(m Mutant) *ast.FuncDecl {
	start, end := m.Span()
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Body != nil && s.offset(f.Body.Lbrace) < start && end <= s.offset(f.Body.Rbrace) {
			if needsClosure(f) && seesFrames(f.Body) {
				return nil
			}
			return f
		}
	}
	return nil
}

// add adds a mutant. It is false if the mutant is not in a function that can have a switch.
func (s *goSwitch) add(number int, m Mutant) bool {
	f := s.functionOf(m)
	if f == nil || !bytes.Equal(m.Source, s.src) {
		return false
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", m.ApplyTo(m.Source), parser.SkipObjectResolution); err != nil {
		return false
	}
	s.mutants[number], s.inline[number] = m, !needsClosure(f)
	return true
}

// needsClosure reports whether the body of a function means something else in a block: it has
// labels, or it assigns to a parameter by a short declaration, which would declare a variable there.
func needsClosure(f *ast.FuncDecl) (found bool) {
	params := map[string]bool{}
	for _, list := range []*ast.FieldList{f.Recv, f.Type.Params, f.Type.Results} {
		for _, field := range fieldsOf(list) {
			for _, name := range field.Names {
				params[name.Name] = true
			}
		}
	}
	for _, stmt := range f.Body.List {
		if a, ok := stmt.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			found = found || slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return ok && id.Name != "_" && params[id.Name] })
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		_, label := n.(*ast.LabeledStmt)
		found = found || label
		return !found
	})
	return found
}

// seesFrames reports whether code may depend on the function that it is in: it recovers from a
// panic, or asks for its callers.
func seesFrames(body ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && (id.Name == "recover" || id.Name == "runtime" || id.Name == "Helper")
		return !found
	})
	return found
}

func fieldsOf(list *ast.FieldList) []*ast.Field {
	if list == nil {
		return nil
	}
	return list.List
}

// text returns the text of the file with all mutants. With named, the branch of a mutant claims to
// be in a separate file, see [mutantFile]; otherwise in its original lines.
func (s *goSwitch) text(named bool) []byte {
	if len(s.mutants) == 0 {
		return s.src
	}
	byFunction := map[*ast.FuncDecl][]int{}
	for k, m := range s.mutants {
		f := s.functionOf(m)
		byFunction[f] = append(byFunction[f], k)
	}
	var out bytes.Buffer
	last := s.writeHead(&out)
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || byFunction[f] == nil {
			continue
		}
		at := s.offset(f.Body.Lbrace) + 1
		out.Write(s.src[last:at])
		slices.Sort(byFunction[f])
		fmt.Fprintf(&out, " if superviseMutant%d != 0 { ", s.index)
		fmt.Fprintf(&out, "superviseReach%d(%d)", s.index, s.functionNumber(f))
		for _, k := range byFunction[f] {
			fmt.Fprintf(&out, "; if superviseMutant%d == %d { %s }", s.index, k, s.branch(f, k, named))
		}
		fmt.Fprintf(&out, "}; %s", s.directive(s.name, at))
		last = at
	}
	out.Write(s.src[last:])
	return out.Bytes()
}

// functionNumber numbers the functions of all files.
func (s *goSwitch) functionNumber(f *ast.FuncDecl) int {
	return s.index<<20 + s.offset(f.Body.Lbrace)
}

// directive says that what follows it is at a position of a file.
func (s *goSwitch) directive(name string, offset int) string {
	p := s.fset.PositionFor(s.file.FileStart+token.Pos(offset), false)
	return fmt.Sprintf("/*line %s:%d:%d*/", name, p.Line, p.Column)
}

// mutantFile is the name of the file in which the compiler reports errors of a mutant.
const mutantFile = "supervise_mutant_%d.go"

// branch returns the statements that replace the body of a function, with a mutant.
func (s *goSwitch) branch(f *ast.FuncDecl, number int, named bool) string {
	m := s.mutants[number]
	text := m.ApplyTo(m.Source)
	from, to := s.offset(f.Body.Lbrace)+1, s.offset(f.Body.Rbrace)+len(text)-len(m.Source)
	name := s.name
	if named {
		name = fmt.Sprintf(mutantFile, number)
	}
	body := s.directive(name, from) + string(text[from:to])
	hasResults := len(fieldsOf(f.Type.Results)) > 0
	if !s.inline[number] {
		params, args := s.parameters(f)
		results := ""
		if hasResults {
			results = "(" + s.list(f.Type.Results) + ")"
		}
		body = fmt.Sprintf("func(%s) %s {%s}(%s)", params, results, body, args)
		if hasResults {
			return "return " + body
		}
	}
	if !hasResults {
		body += "; return"
	}
	return body
}

// list returns the fields of a list as they are in the source.
func (s *goSwitch) list(list *ast.FieldList) string {
	var out []string
	for _, field := range fieldsOf(list) {
		out = append(out, strings.Join(strings.Fields(string(s.src[s.offset(field.Pos()):s.offset(field.End())])), " "))
	}
	return strings.Join(out, ", ")
}

// parameters returns the parameters of a closure that declares those of a function, and the
// arguments for them.
func (s *goSwitch) parameters(f *ast.FuncDecl) (params, args string) {
	var list, values []string
	for _, fields := range []*ast.FieldList{f.Recv, f.Type.Params} {
		for _, field := range fieldsOf(fields) {
			typ := strings.Join(strings.Fields(string(s.src[s.offset(field.Type.Pos()):s.offset(field.Type.End())])), " ")
			for _, name := range field.Names {
				if name.Name == "_" {
					continue
				}
				value := name.Name
				if _, variadic := field.Type.(*ast.Ellipsis); variadic {
					value += "..."
				}
				list, values = append(list, name.Name+" "+typ), append(values, value)
			}
		}
	}
	return strings.Join(list, ", "), strings.Join(values, ", ")
}

// writeHead writes the start of the file with the variables of the switch, in the line of the last
// import, and returns its end in the source. They come before all other variables of the file,
// since the value of one may depend on a mutant.
func (s *goSwitch) writeHead(out *bytes.Buffer) int {
	at := s.offset(s.file.Name.End())
	out.Write(s.src[:at])
	out.WriteString(`; import (supervisesync "sync"; superviseos "os"; supervisestrconv "strconv"; supervisestrings "strings"); `)
	end := at
	for _, d := range s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			end = s.offset(g.End())
		}
	}
	out.WriteString(s.directive(s.name, at))
	out.Write(s.src[at:end])
	text := strings.NewReplacer("\n", "; ", "{\n", "{ ", "\t", "", "INDEX", strconv.Itoa(s.index), "SELECTOR", strconv.Quote(s.selector)).Replace(goSelector)
	if end > at {
		text = "; " + text
	}
	fmt.Fprintf(out, "%s; %s", text, s.directive(s.name, end))
	return end
}

// goSelector declares the variables of the switch. The selecting file has the number of a mutant,
// 0 for none, or -1 and the path of a file that gets the numbers of the functions that are entered.
const goSelector = `var superviseMutantINDEX, supervisePathINDEX = superviseSelectINDEX()
var superviseSeenINDEX supervisesync.Map
func superviseSelectINDEX() (int, string) {
	text, err := superviseos.ReadFile(SELECTOR)
	if err != nil { panic(err) }
	first, rest, _ := supervisestrings.Cut(string(text), " ")
	n, err := supervisestrconv.Atoi(first)
	if err != nil { panic(err) }
	return n, rest
}
func superviseReachINDEX(n int) {
	if superviseMutantINDEX > 0 { return }
	if _, seen := superviseSeenINDEX.LoadOrStore(n, true); seen { return }
	f, err := superviseos.OpenFile(supervisePathINDEX, superviseos.O_APPEND|superviseos.O_CREATE|superviseos.O_WRONLY, 0o600)
	if err != nil { panic(err) }
	if _, err := f.WriteString(supervisestrconv.Itoa(n) + "\n"); err != nil { panic(err) }
	if err := f.Close(); err != nil { panic(err) }
}`
