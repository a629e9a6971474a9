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
	fset    *token.FileSet
	src     []byte
	mutants []Mutant
	path    []ast.Node // from the file to the node that is visited
}

func goMutants(src []byte) []Mutant {
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
		if g.isSkipped(n) {
			return false
		}
		g.path = append(g.path, n)
		g.visit(n)
		return true
	})
	return g.mutants
}

// isSkipped reports whether nothing in a node is changed: no behaviour depends on it, or
// it is only about what people read.
func (g *goFile) isSkipped(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.CommentGroup:
		return true
	case *ast.CallExpr:
		return outputCallRE.MatchString(g.text(n.Fun) + "(")
	}
	return false
}

func (g *goFile) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		g.addNegated(n.Cond)
	case *ast.BinaryExpr:
		g.mutateBinary(n)
	case *ast.AssignStmt:
		g.mutateAssignment(n)
	case *ast.IncDecStmt:
		if loop, ok := g.parent().(*ast.ForStmt); !ok || loop.Post != n {
			opposite := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
			g.add(ChangeArithmetic, n, g.text(n.X)+opposite)
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !outputCallRE.MatchString(g.text(call.Fun)+"(") {
			g.addDropped(n)
		}
	case *ast.BasicLit:
		g.mutateLiteral(n)
	case *ast.Ident:
		if opposite := map[string]string{"true": "false", "false": "true"}[n.Name]; opposite != "" && !g.isResult(n) {
			g.add(ChangeConstant, n, opposite)
		}
	case *ast.ReturnStmt:
		g.mutateResults(n)
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

// add adds a mutant with another text for a node.
func (g *goFile) add(o Operator, n ast.Node, text string) {
	g.mutants = append(g.mutants, Mutant{Operator: o, start: g.offset(n.Pos()), end: g.offset(n.End()), replacement: text})
}

// addDropped adds a mutant without a statement. What it names stays in use, or the mutant
// would not build.
func (g *goFile) addDropped(n ast.Stmt) {
	g.add(DropStatement, n, "_ = func() { "+g.text(n)+" }")
	m := &g.mutants[len(g.mutants)-1]
	m.Original, m.hasTexts = g.text(n), true
}

// addNegated adds the mutant with the opposite of a condition that is no comparison: those
// have mutants of their own.
func (g *goFile) addNegated(cond ast.Expr) {
	switch n := cond.(type) {
	case *ast.BinaryExpr:
		if comparisonMutants[n.Op] != nil {
			return
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			g.add(NegateCondition, n, g.text(n.X))
			return
		}
	}
	g.add(NegateCondition, cond, "!("+g.text(cond)+")")
}

// comparisonMutants maps comparisons to their mutants.
var comparisonMutants = map[token.Token][]change{
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

// arithmeticMutants maps other binary operators, also as part of an assignment, to their
// mutants.
var arithmeticMutants = map[token.Token]change{
	token.LAND: {SwapLogic, "||"}, token.LOR: {SwapLogic, "&&"},
	token.ADD: {ChangeArithmetic, "-"}, token.SUB: {ChangeArithmetic, "+"},
	token.MUL: {ChangeArithmetic, "/"}, token.QUO: {ChangeArithmetic, "*"}, token.REM: {ChangeArithmetic, "*"},
	token.ADD_ASSIGN: {ChangeArithmetic, "-="}, token.SUB_ASSIGN: {ChangeArithmetic, "+="},
	token.MUL_ASSIGN: {ChangeArithmetic, "/="}, token.QUO_ASSIGN: {ChangeArithmetic, "*="},
}

func (g *goFile) mutateBinary(n *ast.BinaryExpr) {
	list := comparisonMutants[n.Op]
	if c, ok := arithmeticMutants[n.Op]; ok && !joinsStrings(n.Op, n) && !isNeutral(n) {
		list = append(list, c)
	}
	for _, c := range list {
		from := g.offset(n.OpPos)
		g.mutants = append(g.mutants, Mutant{Operator: c.operator, start: from, end: from + len(n.Op.String()), replacement: c.text})
	}
}

// joinsStrings reports whether an operator joins texts.
func joinsStrings(op token.Token, n ast.Node) (found bool) {
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

// isNeutral reports whether the other operator gives the same value: x + 0, x * 1.
func isNeutral(n *ast.BinaryExpr) bool {
	lit, ok := n.Y.(*ast.BasicLit)
	return ok && lit.Value == neutralValues[n.Op]
}

// neutralValues are the values that change nothing.
var neutralValues = map[token.Token]string{token.ADD: "0", token.SUB: "0", token.MUL: "1", token.QUO: "1"}

func (g *goFile) mutateAssignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return g.text(e) == "_" }) {
		return
	}
	if c, ok := arithmeticMutants[n.Tok]; ok && !joinsStrings(n.Tok, n) {
		g.add(c.operator, n, g.text(n.Lhs[0])+" "+c.text+" "+g.text(n.Rhs[0]))
	}
	switch g.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause: // without the post statement of a loop it would not end
		g.addDropped(n)
	}
}

func (g *goFile) mutateLiteral(n *ast.BasicLit) {
	if g.isResult(n) {
		return // by another result
	}
	if call, ok := g.parent().(*ast.CallExpr); ok && g.text(call.Fun) == "make" {
		return // mostly a capacity
	}
	if text, ok := changedLiteral(n); ok {
		g.add(ChangeConstant, n, text)
	}
}

// changedLiteral is another value of the same type.
func changedLiteral(n *ast.BasicLit) (string, bool) {
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

// isResult reports whether the visited node is a result as a whole.
func (g *goFile) isResult(n ast.Node) bool {
	r, ok := g.parent().(*ast.ReturnStmt)
	return ok && slices.ContainsFunc(r.Results, func(e ast.Expr) bool { return e == n })
}

// mutateResults adds the mutants of a return statement, one for each result.
func (g *goFile) mutateResults(n *ast.ReturnStmt) {
	types := g.resultTypes()
	if len(types) != len(n.Results) {
		return
	}
	for i, e := range n.Results {
		if text, shown := g.changedResult(e, g.text(types[i])); text != "" {
			g.add(ChangeReturn, e, text)
			m := &g.mutants[len(g.mutants)-1]
			m.Original, m.Mutated, m.hasTexts = "return "+g.text(e), "return "+shown, true
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

// constantResults are results without a value: other operators change what leads to them.
var constantResults = []string{"nil", `""`, "false", "true", "0"}

// changedResult is another value of a result, and what is shown of it. Whatever the result
// names stays in use, or the mutant would not build.
func (g *goFile) changedResult(e ast.Expr, kind string) (text, shown string) {
	text0 := g.text(e)
	zero := slices.Contains(constantResults, text0)
	switch kind {
	case "bool":
		if opposite := map[string]string{"true": "false", "false": "true"}[text0]; opposite != "" {
			return opposite, opposite
		}
		if b, ok := e.(*ast.BinaryExpr); ok && comparisonMutants[b.Op] != nil {
			return "", "" // by the comparison
		}
		text = "!(" + text0 + ")"
		return text, text
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "byte", "rune":
		text = text0 + " + 1"
		if _, lit := e.(*ast.BasicLit); lit {
			text = nextNumber(text0)
		}
		return text, text
	case "string":
		text = text0 + ` + "XX"`
		return text, text
	}
	if zero || strings.Contains(text0, "\n") && strings.Contains(text0, "func") {
		return "", ""
	}
	return "func(_ " + kind + ") (zero " + kind + ") { return }(" + text0 + ")", zeroText(kind)
}

func nextNumber(number string) string {
	if v, err := strconv.ParseInt(number, 0, 64); err == nil {
		return strconv.FormatInt(v+1, 10)
	}
	return number + " + 1"
}

func zeroText(kind string) string {
	if kind == "error" || strings.HasPrefix(kind, "*") || strings.HasPrefix(kind, "[]") || strings.HasPrefix(kind, "map[") {
		return "nil"
	}
	return "the zero " + kind
}
