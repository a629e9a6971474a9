package gocode

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/tests"
)

// goFile is a parsed Go file.
type goFile struct {
	fset *token.FileSet
	ast  *ast.File
	src  []byte
	path string
}

// Read returns the functions of a Go file and, if it is a test file, its tests. The error is a
// syntax error.
func Read(path string, src []byte) (list []function.Function, tests []tests.TestDef, err error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	g := &goFile{fset: fset, ast: parsed, src: src, path: path}
	if language.IsTestFile(path, language.Go) {
		tests = newGoTests(g).collect()
	}
	return g.findFunctions(), tests, nil
}

// line returns the line of a position in the file, ignoring //line comments.
func (g *goFile) line(p token.Pos) int {
	return g.fset.PositionFor(p, false).Line
}

// offset returns the byte offset of a position.
func (g *goFile) offset(p token.Pos) int {
	return min(g.fset.PositionFor(p, false).Offset, len(g.src))
}

// text returns the source of a node on one line, with single spaces.
func (g *goFile) text(n ast.Node) string {
	return strings.Join(strings.Fields(string(g.src[g.offset(n.Pos()):g.offset(n.End())])), " ")
}

// findFunctions returns the declared functions and the function literals of package-level
// variables, as gocyclo does.
func (g *goFile) findFunctions() []function.Function {
	var list []function.Function
	for _, decl := range g.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				list = append(list, g.newFunction(d, goFuncName(d)))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					list = append(list, g.functionLiterals(v)...)
				}
			}
		}
	}
	return list
}

// functionLiterals returns the function literals that a package-level declaration assigns to its
// variables, with the names of the variables.
func (g *goFile) functionLiterals(v *ast.ValueSpec) []function.Function {
	var list []function.Function
	for i, value := range v.Values {
		if f, ok := value.(*ast.FuncLit); ok && i < len(v.Names) {
			list = append(list, g.newFunction(f, v.Names[i].Name))
		}
	}
	return list
}

// newFunction returns the facts about a function declaration or literal.
func (g *goFile) newFunction(n ast.Node, name string) function.Function {
	return function.Function{Name: name, Line: g.line(n.Pos()), End: g.line(n.End()), Complexity: goComplexity(n)}
}

// goFuncName returns "Name", or "Type.Name" for a method.
func goFuncName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	return baseName(d.Recv.List[0].Type) + "." + d.Name.Name
}

// baseName returns the name at the base of an expression or type: "Expect" for Expect(x).To(y), and
// "List" for *List[T]. It is "" if the base is something else.
func baseName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// texts returns the sources of expressions, separated by commas.
func (g *goFile) texts(list []ast.Expr) string {
	var out []string
	for _, e := range list {
		out = append(out, g.text(e))
	}
	return strings.Join(out, ", ")
}

// condition returns the condition of an if with its initial statement: "err := f(); err != nil".
func (g *goFile) condition(x *ast.IfStmt) string {
	if x.Init == nil {
		return g.text(x.Cond)
	}
	return g.text(x.Init) + "; " + g.text(x.Cond)
}

// goComplexity counts what gocyclo counts: the function itself, each if, for, case,
// communication clause, && and ||, without defaults.
func goComplexity(fn ast.Node) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
