package mutation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// goFile is a Go file whose mutants are collected.
type goFile struct {
	fset *token.FileSet
	src  []byte
	out  []Mutant
	path []ast.Node // from the file to the node that is visited
}

func ofGo(src []byte) []Mutant {
	g := &goFile{fset: token.NewFileSet(), src: src}
	file, err := parser.ParseFile(g.fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			g.path = g.path[:len(g.path)-1]
			return false
		}
		if g.untouched(n) {
			return false
		}
		g.path = append(g.path, n)
		g.visit(n)
		return true
	})
	return g.out
}

// untouched reports whether nothing in a node is changed: no behaviour depends on it, or
// it is only about what people read.
func (g *goFile) untouched(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.CommentGroup:
		return true
	case *ast.CallExpr:
		return spoken.MatchString(g.text(n.Fun) + "(")
	}
	return false
}

func (g *goFile) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		g.negate(n.Cond)
	case *ast.BinaryExpr:
		g.binary(n)
	case *ast.AssignStmt:
		g.assignment(n)
	case *ast.IncDecStmt:
		if loop, ok := g.parent().(*ast.ForStmt); !ok || loop.Post != n {
			other := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
			g.put(ChangeArithmetic, n, g.text(n.X)+other)
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !spoken.MatchString(g.text(call.Fun)+"(") {
			g.drop(n)
		}
	case *ast.BasicLit:
		g.literal(n)
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" && !g.returned(n) {
			g.put(ChangeConstant, n, other)
		}
	case *ast.ReturnStmt:
		g.results(n)
	}
}

// parent returns the node around the visited one.
func (g *goFile) parent() ast.Node {
	if i := len(g.path) - 2; i >= 0 {
		return g.path[i]
	}
	return nil
}

func (g *goFile) offset(p token.Pos) int { return g.fset.Position(p).Offset }

func (g *goFile) text(n ast.Node) string { return string(g.src[g.offset(n.Pos()):g.offset(n.End())]) }

// put adds a mutant with another text for a node.
func (g *goFile) put(o Operator, n ast.Node, text string) {
	g.out = append(g.out, Mutant{Operator: o, from: g.offset(n.Pos()), to: g.offset(n.End()), put: text})
}

// drop adds a mutant without a statement. What it names stays in use, or the mutant
// would not build.
func (g *goFile) drop(n ast.Stmt) {
	g.put(DropStatement, n, "_ = func() { "+g.text(n)+" }")
	m := &g.out[len(g.out)-1]
	m.Original, m.shown = g.text(n), true
}

// negate adds the mutant with the opposite of a condition that is no comparison: those
// have mutants of their own.
func (g *goFile) negate(cond ast.Expr) {
	switch n := cond.(type) {
	case *ast.BinaryExpr:
		if compared[n.Op] != nil {
			return
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			g.put(NegateCondition, n, g.text(n.X))
			return
		}
	}
	g.put(NegateCondition, cond, "!("+g.text(cond)+")")
}

// compared maps comparisons to their mutants.
var compared = map[token.Token][]change{
	token.EQL: {{NegateCondition, "!="}},
	token.NEQ: {{NegateCondition, "=="}},
	token.LSS: {{ShiftBoundary, "<="}, {NegateCondition, ">="}},
	token.LEQ: {{ShiftBoundary, "<"}, {NegateCondition, ">"}},
	token.GTR: {{ShiftBoundary, ">="}, {NegateCondition, "<="}},
	token.GEQ: {{ShiftBoundary, ">"}, {NegateCondition, "<"}},
}

// change is an operator with what it writes.
type change struct {
	operator Operator
	text     string
}

// calculated maps other binary operators, also as part of an assignment, to their
// mutants.
var calculated = map[token.Token]change{
	token.LAND: {SwapLogic, "||"}, token.LOR: {SwapLogic, "&&"},
	token.ADD: {ChangeArithmetic, "-"}, token.SUB: {ChangeArithmetic, "+"},
	token.MUL: {ChangeArithmetic, "/"}, token.QUO: {ChangeArithmetic, "*"}, token.REM: {ChangeArithmetic, "*"},
	token.ADD_ASSIGN: {ChangeArithmetic, "-="}, token.SUB_ASSIGN: {ChangeArithmetic, "+="},
	token.MUL_ASSIGN: {ChangeArithmetic, "/="}, token.QUO_ASSIGN: {ChangeArithmetic, "*="},
}

func (g *goFile) binary(n *ast.BinaryExpr) {
	list := compared[n.Op]
	if c, ok := calculated[n.Op]; ok && !joins(n.Op, n) && !changesNothing(n) {
		list = append(list, c)
	}
	for _, c := range list {
		from := g.offset(n.OpPos)
		g.out = append(g.out, Mutant{Operator: c.operator, from: from, to: from + len(n.Op.String()), put: c.text})
	}
}

// joins reports whether an operator joins texts.
func joins(op token.Token, n ast.Node) (found bool) {
	if op != token.ADD && op != token.ADD_ASSIGN {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		_, call := n.(*ast.CallExpr)
		found = found || ok && lit.Kind == token.STRING
		return !call
	})
	return found
}

// changesNothing reports whether the other operator gives the same value: x + 0, x * 1.
func changesNothing(n *ast.BinaryExpr) bool {
	lit, ok := n.Y.(*ast.BasicLit)
	return ok && lit.Value == units[n.Op]
}

// units are the values that change nothing.
var units = map[token.Token]string{token.ADD: "0", token.SUB: "0", token.MUL: "1", token.QUO: "1"}

func (g *goFile) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return g.text(e) == "_" }) {
		return
	}
	if c, ok := calculated[n.Tok]; ok && !joins(n.Tok, n) {
		g.put(c.operator, n, g.text(n.Lhs[0])+" "+c.text+" "+g.text(n.Rhs[0]))
	}
	switch g.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause: // without the post statement of a loop it would not end
		g.drop(n)
	}
}

func (g *goFile) literal(n *ast.BasicLit) {
	if g.returned(n) {
		return // by another result
	}
	if call, ok := g.parent().(*ast.CallExpr); ok && g.text(call.Fun) == "make" {
		return // mostly a capacity
	}
	if text, ok := otherLiteral(n); ok {
		g.put(ChangeConstant, n, text)
	}
}

// otherLiteral is another value of the same type.
func otherLiteral(n *ast.BasicLit) (string, bool) {
	switch n.Kind {
	case token.INT:
		v, err := strconv.ParseInt(n.Value, 0, 64)
		return strconv.FormatInt(v+1, 10), err == nil
	case token.FLOAT:
		return "(" + n.Value + " + 1)", true
	case token.CHAR:
		if len(n.Value) == 3 && n.Value[1] < 'z' && n.Value[1] >= '0' && n.Value[1] != '[' {
			return "'" + string(rune(n.Value[1]+1)) + "'", n.Value[1]+1 != '\\'
		}
	case token.STRING:
		return n.Value[:1] + "XX" + n.Value[1:], !strings.Contains(n.Value, "://")
	default:
	}
	return "", false
}

// returned reports whether the visited node is a result as a whole.
func (g *goFile) returned(n ast.Node) bool {
	r, ok := g.parent().(*ast.ReturnStmt)
	return ok && slices.ContainsFunc(r.Results, func(e ast.Expr) bool { return e == n })
}

// results adds the mutants of a return statement, one for each result.
func (g *goFile) results(n *ast.ReturnStmt) {
	types := g.resultTypes()
	if len(types) != len(n.Results) {
		return
	}
	for i, e := range n.Results {
		if text, shown := g.otherResult(e, g.text(types[i])); text != "" {
			g.put(ChangeReturn, e, text)
			m := &g.out[len(g.out)-1]
			m.Original, m.Mutated, m.shown = "return "+g.text(e), "return "+shown, true
		}
	}
}

// resultTypes are those of the function around the visited node.
func (g *goFile) resultTypes() []ast.Expr {
	for _, n := range slices.Backward(g.path) {
		var list *ast.FieldList
		switch n := n.(type) {
		case *ast.FuncDecl:
			list = n.Type.Results
		case *ast.FuncLit:
			list = n.Type.Results
		default:
			continue
		}
		var out []ast.Expr
		for i := 0; list != nil && i < len(list.List); i++ {
			for range max(1, len(list.List[i].Names)) {
				out = append(out, list.List[i].Type)
			}
		}
		return out
	}
	return nil
}

// zeros are results without a value: other operators change what leads to them.
var zeros = []string{"nil", `""`, "false", "true", "0"}

// otherResult is another value of a result, and what is shown of it. Whatever the result
// names stays in use, or the mutant would not build.
func (g *goFile) otherResult(e ast.Expr, kind string) (text, shown string) {
	was := g.text(e)
	zero := slices.Contains(zeros, was)
	switch kind {
	case "bool":
		if other := map[string]string{"true": "false", "false": "true"}[was]; other != "" {
			return other, other
		}
		if b, ok := e.(*ast.BinaryExpr); ok && compared[b.Op] != nil {
			return "", "" // by the comparison
		}
		text = "!(" + was + ")"
		return text, text
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "byte", "rune":
		text = was + " + 1"
		if _, lit := e.(*ast.BasicLit); lit {
			text = otherNumber(was)
		}
		return text, text
	case "string":
		text = was + ` + "XX"`
		return text, text
	}
	if zero || strings.Contains(was, "\n") && strings.Contains(was, "func") {
		return "", ""
	}
	return "func(_ " + kind + ") (zero " + kind + ") { return }(" + was + ")", zeroOf(kind)
}

func otherNumber(was string) string {
	if v, err := strconv.ParseInt(was, 0, 64); err == nil {
		return strconv.FormatInt(v+1, 10)
	}
	return was + " + 1"
}

func zeroOf(kind string) string {
	if kind == "error" || strings.HasPrefix(kind, "*") || strings.HasPrefix(kind, "[]") || strings.HasPrefix(kind, "map[") {
		return "nil"
	}
	return "the zero " + kind
}
