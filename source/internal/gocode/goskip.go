package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// platformRE matches a condition on the platform: system, processor, version, user, tools or
// short mode, as in runtime.GOOS == "windows". Conditions on the environment do not match, since
// a test that skips itself if CI is set never runs there.
var platformRE = regexp.MustCompile(`\b(?:runtime\.(?:GOOS|GOARCH|Version|Compiler|NumCPU)|exec\.LookPath|testing\.(?:Short|CoverMode)|os\.(?:Getuid|Geteuid)|build\.Default|goversion\.|version\.(?:Compare|IsValid|Lang))\b`)

// skipper follows the statements of one test to its skips.
type skipper struct {
	*goTests
	handle string         // name by which the test skips itself
	def    *tests.TestDef // receives the skips
}

// guard is a condition under which a statement runs.
type guard struct {
	text     string // the condition as written
	platform bool   // the condition depends on the platform
}

// findSkips records whether and when a test skips itself. Skips in function literals belong to
// subtests or helpers, and skips in helper functions are not found.
func (t *goTests) findSkips(g goTest, def *tests.TestDef) {
	s := &skipper{goTests: t, handle: g.handleName(), def: def}
	if s.handle != "" {
		s.readBlock(g.body.List, nil)
	}
}

// readBlock reads statements that run under the given conditions, in order. After an if that
// returns, the statements run under the opposite of its condition.
func (s *skipper) readBlock(list []ast.Stmt, under []guard) {
	for i, stmt := range list {
		var before ast.Stmt
		if i > 0 {
			before = list[i-1]
		}
		s.readStatement(stmt, before, under)
		if branch, ok := stmt.(*ast.IfStmt); ok && branch.Else == nil && endsWithReturn(branch.Body) {
			if _, known := constantTruth(branch.Cond); !known {
				under = append(slices.Clip(under), s.newGuard(branch, before, true))
			}
		}
	}
}

// endsWithReturn reports whether a block ends with a return.
func endsWithReturn(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

// readStatement reads one statement. before is the statement before it, nil if there is none.
func (s *skipper) readStatement(stmt, before ast.Stmt, under []guard) {
	switch x := stmt.(type) {
	case *ast.ExprStmt:
		if s.isSkip(x.X) {
			s.recordSkip(under)
		}
	case *ast.BlockStmt:
		s.readBlock(x.List, under)
	case *ast.LabeledStmt:
		s.readStatement(x.Stmt, before, under)
	case *ast.IfStmt:
		s.readBranch(x, before, under)
	case *ast.ForStmt:
		s.readBlock(x.Body.List, append(slices.Clip(under), guard{text: "for"}))
	case *ast.RangeStmt:
		s.readBlock(x.Body.List, append(slices.Clip(under), guard{text: "for range " + s.text(x.X)}))
	case *ast.SwitchStmt:
		s.readCases(x, under)
	}
}

// readBranch reads both branches of an if. A branch that a constant condition excludes is not
// read, and one that always runs adds no condition.
func (s *skipper) readBranch(x *ast.IfStmt, before ast.Stmt, under []guard) {
	value, known := constantTruth(x.Cond)
	then, otherwise := under, under
	if !known {
		then = append(slices.Clip(under), s.newGuard(x, before, false))
		otherwise = append(slices.Clip(under), s.newGuard(x, before, true))
	}
	if !known || value {
		s.readBlock(x.Body.List, then)
	}
	if x.Else != nil && (!known || !value) {
		s.readStatement(x.Else, nil, otherwise)
	}
}

// newGuard returns the condition of an if. It also depends on the platform if it uses a variable
// that the statement just before sets from the platform, as in _, err := exec.LookPath("git").
func (s *skipper) newGuard(x *ast.IfStmt, before ast.Stmt, negated bool) guard {
	text := s.condition(x)
	evidence := text
	if assign, ok := before.(*ast.AssignStmt); ok && s.usesAny(x.Cond, assign.Lhs) {
		evidence += " " + s.text(assign)
	}
	if negated {
		text = "!(" + text + ")"
	}
	return guard{text: text, platform: platformRE.MatchString(evidence)}
}

// usesAny reports whether a condition uses one of the variables.
func (s *skipper) usesAny(cond ast.Expr, vars []ast.Expr) bool {
	used := false
	ast.Inspect(cond, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		for _, v := range vars {
			if target, isName := v.(*ast.Ident); ok && isName && target.Name == name.Name {
				used = true
			}
		}
		return !used
	})
	return used
}

// readCases reads the clauses of a switch, each under the condition that its value matches.
func (s *skipper) readCases(x *ast.SwitchStmt, under []guard) {
	tag := ""
	if x.Tag != nil {
		tag = s.text(x.Tag) + " == "
	}
	for _, stmt := range x.Body.List {
		clause, ok := stmt.(*ast.CaseClause)
		if !ok {
			continue
		}
		text := tag + s.texts(clause.List)
		if clause.List == nil {
			text = tag + "default"
		}
		s.readBlock(clause.Body, append(slices.Clip(under), guard{text: text, platform: platformRE.MatchString(text)}))
	}
}

// isSkip reports whether an expression is t.Skip, t.Skipf or t.SkipNow on the test itself, or
// on s.T() of a suite.
func (s *skipper) isSkip(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && skipMethods[sel.Sel.Name] && isHandle(sel.X, func(name string) bool { return name == s.handle })
}

// skipMethods are the methods by which a test skips itself.
var skipMethods = lex.WordSet(`Skip Skipf SkipNow`)

// isHandle reports whether an expression is a name for which named returns true, or such a name
// followed by ".T()".
func isHandle(e ast.Expr, named func(string) bool) bool {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "T" {
			e = sel.X
		}
	}
	name, ok := e.(*ast.Ident)
	return ok && named(name.Name)
}

// recordSkip records a skip under the given conditions. Without conditions, the test always skips
// itself.
func (s *skipper) recordSkip(under []guard) {
	if len(under) == 0 {
		s.def.Skipped = true
		return
	}
	var texts []string
	for _, g := range under {
		texts = append(texts, g.text)
		s.def.SkipConditional = s.def.SkipConditional || g.platform
	}
	s.def.SkipConditions = append(s.def.SkipConditions, strings.Join(texts, " && "))
}

// constantTruth evaluates a constant condition, as in true, 1 == 1 and x || true. known is false
// for any other condition.
func constantTruth(e ast.Expr) (value, known bool) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return constantTruth(x.X)
	case *ast.Ident:
		return x.Name == "true", x.Name == "true" || x.Name == "false"
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			value, known = constantTruth(x.X)
			return !value, known
		}
	case *ast.BinaryExpr:
		return constantBinaryTruth(x)
	}
	return false, false
}

// constantBinaryTruth is constantTruth for a condition with an operator.
func constantBinaryTruth(x *ast.BinaryExpr) (value, known bool) {
	if x.Op == token.EQL || x.Op == token.NEQ {
		a, ok := x.X.(*ast.BasicLit)
		b, both := x.Y.(*ast.BasicLit)
		if !ok || !both || a.Kind != b.Kind {
			return false, false
		}
		return (a.Value == b.Value) == (x.Op == token.EQL), true
	}
	if x.Op != token.LOR && x.Op != token.LAND {
		return false, false
	}
	decides := x.Op == token.LOR // if one side has this value, it is the result
	left, leftKnown := constantTruth(x.X)
	right, rightKnown := constantTruth(x.Y)
	if leftKnown && left == decides || rightKnown && right == decides {
		return decides, true
	}
	return !decides, leftKnown && rightKnown
}
