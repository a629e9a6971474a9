package mutation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// goFile collects the mutants of one Go file while its syntax tree is visited.
type goFile struct {
	fset    *token.FileSet
	src     []byte
	mutants []Mutant
	path    []ast.Node // from the file to the node that is visited
}

// goMutants returns the mutants of a Go file, nil if it does not parse.
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

// isSkipped reports whether a node and all below it stay unchanged: it is a type or an import,
// or it only prints, logs, or makes an error.
func (g *goFile) isSkipped(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.CommentGroup:
		return true
	case *ast.CallExpr:
		return outputCallRE.MatchString(g.text(n.Fun) + "(")
	}
	return false
}

// visit adds the mutants of one node, without those of the nodes below it.
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

// parent returns the node around the visited one, nil at the file.
func (g *goFile) parent() ast.Node {
	if i := len(g.path) - 2; i >= 0 {
		return g.path[i]
	}
	return nil
}

func (g *goFile) offset(p token.Pos) int { return g.fset.Position(p).Offset }

func (g *goFile) text(n ast.Node) string { return string(g.src[g.offset(n.Pos()):g.offset(n.End())]) }

// add adds a mutant that replaces the text of a node.
func (g *goFile) add(o Operator, n ast.Node, text string) {
	g.mutants = append(g.mutants, Mutant{Operator: o, start: g.offset(n.Pos()), end: g.offset(n.End()), replacement: text})
}

// addDropped adds a mutant that does not execute a statement. It wraps the statement in a
// function that is never called, since without it a variable could be unused, which does not
// build.
func (g *goFile) addDropped(n ast.Stmt) {
	g.add(DropStatement, n, "_ = func() { "+g.text(n)+" }")
	m := &g.mutants[len(g.mutants)-1]
	m.Original, m.hasTexts = g.text(n), true
}

// addNegated adds the mutant with the opposite of a condition. A comparison has none here, since
// mutateBinary negates its operator.
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

// change is one way to change an operator of the language: the kind of fault, and the operator
// that replaces it.
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

// mutateBinary adds the mutants of an expression such as a < b or a + b.
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

// joinsStrings reports whether + or += in a node joins strings, as far as a literal shows it.
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

// isNeutral reports whether the opposite operator has the same result: x + 0, x * 1.
func isNeutral(n *ast.BinaryExpr) bool {
	lit, ok := n.Y.(*ast.BasicLit)
	return ok && lit.Value == neutralValues[n.Op]
}

// neutralValues maps an operator to the right operand that changes nothing.
var neutralValues = map[token.Token]string{token.ADD: "0", token.SUB: "0", token.MUL: "1", token.QUO: "1"}

// mutateAssignment adds the mutants of an assignment: another operator than +=, and no assignment
// at all. A declaration with := stays, since other statements need its variables.
func (g *goFile) mutateAssignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return g.text(e) == "_" }) {
		return
	}
	if c, ok := arithmeticMutants[n.Tok]; ok && !joinsStrings(n.Tok, n) {
		g.add(c.operator, n, g.text(n.Lhs[0])+" "+c.text+" "+g.text(n.Rhs[0]))
	}
	switch g.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause: // a loop without its post statement would not end
		g.addDropped(n)
	}
}

// mutateLiteral adds the mutant with another value of a literal, except of a result, which
// mutateResults changes, and of a capacity.
func (g *goFile) mutateLiteral(n *ast.BasicLit) {
	if g.isResult(n) {
		return // mutateResults changes it
	}
	if call, ok := g.parent().(*ast.CallExpr); ok && g.text(call.Fun) == "make" {
		return // mostly a capacity
	}
	if text, ok := changedLiteral(n); ok {
		g.add(ChangeConstant, n, text)
	}
}

// changedLiteral returns the text of another value of the same type. It is false if there is no
// safe one, as for URLs and escaped characters.
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

// isResult reports whether the visited node is a complete result of a return statement, and not
// a part of one.
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

// resultTypes returns the types of the results of the function around the visited node, one for
// each result; nil outside of functions.
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

// constantResults are results that are often the zero value, so that replacing them by it would
// change nothing.
var constantResults = []string{"nil", `""`, "false", "true", "0"}

// changedResult returns the code of another value for a result of a type, and what reports show of
// it. Both are "" if the result stays unchanged. A result of another type becomes the zero value
// by a function that takes the original one, since the variables in it must stay in use to build.
func (g *goFile) changedResult(e ast.Expr, kind string) (text, shown string) {
	text0 := g.text(e)
	zero := slices.Contains(constantResults, text0)
	switch kind {
	case "bool":
		if opposite := map[string]string{"true": "false", "false": "true"}[text0]; opposite != "" {
			return opposite, opposite
		}
		if b, ok := e.(*ast.BinaryExpr); ok && comparisonMutants[b.Op] != nil {
			return "", "" // mutateBinary negates the comparison
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

// nextNumber returns the text of a number plus one, computed if it is an integer.
func nextNumber(number string) string {
	if v, err := strconv.ParseInt(number, 0, 64); err == nil {
		return strconv.FormatInt(v+1, 10)
	}
	return number + " + 1"
}

// zeroText returns how reports name the zero value of a type: "nil" or "the zero time.Time".
func zeroText(kind string) string {
	if kind == "error" || strings.HasPrefix(kind, "*") || strings.HasPrefix(kind, "[]") || strings.HasPrefix(kind, "map[") {
		return "nil"
	}
	return "the zero " + kind
}
