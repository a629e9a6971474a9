package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/tests"
)

// platform matches conditions on where a test runs: system, processor,
// version, user, tools and short mode. The environment is not among them: a
// test that skips itself where CI is set is one that never runs.
var platform = regexp.MustCompile(`\b(?:runtime\.(?:GOOS|GOARCH|Version|Compiler|NumCPU)|exec\.LookPath|testing\.(?:Short|CoverMode)|os\.(?:Getuid|Geteuid)|build\.Default|goversion\.|version\.(?:Compare|IsValid|Lang))\b`)

// skipper follows the statements of one test to its skips.
type skipper struct {
	*goTests
	handle string
	def    *tests.TestDef
}

// guard is a condition under which a statement is reached.
type guard struct {
	text     string
	platform bool
}

// skips notes whether and when a test skips itself. Skips in function literals
// are those of subtests or helpers, and skips that a helper does for its caller
// are not seen.
func (t *goTests) skips(g goTest, def *tests.TestDef) {
	s := &skipper{goTests: t, handle: g.handle(), def: def}
	if s.handle != "" {
		s.block(g.body.List, nil)
	}
}

// block reads statements in order. After an if that returns, the opposite of
// its condition holds.
func (s *skipper) block(list []ast.Stmt, under []guard) {
	for i, stmt := range list {
		var before ast.Stmt
		if i > 0 {
			before = list[i-1]
		}
		s.statement(stmt, before, under)
		if branch, ok := stmt.(*ast.IfStmt); ok && branch.Else == nil && returns(branch.Body) {
			if _, known := truth(branch.Cond); !known {
				under = append(slices.Clip(under), s.guard(branch, before, true))
			}
		}
	}
}

// returns reports whether a block ends with a return.
func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

func (s *skipper) statement(stmt, before ast.Stmt, under []guard) {
	switch x := stmt.(type) {
	case *ast.ExprStmt:
		if s.isSkip(x.X) {
			s.note(under)
		}
	case *ast.BlockStmt:
		s.block(x.List, under)
	case *ast.LabeledStmt:
		s.statement(x.Stmt, before, under)
	case *ast.IfStmt:
		s.branch(x, before, under)
	case *ast.ForStmt:
		s.block(x.Body.List, append(slices.Clip(under), guard{text: "for"}))
	case *ast.RangeStmt:
		s.block(x.Body.List, append(slices.Clip(under), guard{text: "for range " + s.text(x.X)}))
	case *ast.SwitchStmt:
		s.cases(x, under)
	}
}

// branch reads both ways of an if; one that a constant condition closes is
// left out, one that it always takes is not a condition.
func (s *skipper) branch(x *ast.IfStmt, before ast.Stmt, under []guard) {
	value, known := truth(x.Cond)
	if !known || value {
		s.block(x.Body.List, s.under(x, before, under, known, false))
	}
	if x.Else != nil && (!known || !value) {
		s.statement(x.Else, nil, s.under(x, before, under, known, true))
	}
}

func (s *skipper) under(x *ast.IfStmt, before ast.Stmt, under []guard, known, negated bool) []guard {
	if known {
		return under
	}
	return append(slices.Clip(under), s.guard(x, before, negated))
}

// guard reads the condition of an if. That it depends on the platform may also
// show in what its variables were set to just before.
func (s *skipper) guard(x *ast.IfStmt, before ast.Stmt, negated bool) guard {
	text := s.text(x.Cond)
	if x.Init != nil {
		text = s.text(x.Init) + "; " + text
	}
	evidence := text
	if assign, ok := before.(*ast.AssignStmt); ok && s.uses(x.Cond, assign.Lhs) {
		evidence += " " + s.text(assign)
	}
	if negated {
		text = "!(" + text + ")"
	}
	return guard{text: text, platform: platform.MatchString(evidence)}
}

// uses reports whether a condition names one of the variables.
func (s *skipper) uses(cond ast.Expr, vars []ast.Expr) bool {
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

func (s *skipper) cases(x *ast.SwitchStmt, under []guard) {
	tag := ""
	if x.Tag != nil {
		tag = s.text(x.Tag) + " == "
	}
	for _, stmt := range x.Body.List {
		clause, ok := stmt.(*ast.CaseClause)
		if !ok {
			continue
		}
		var values []string
		for _, e := range clause.List {
			values = append(values, s.text(e))
		}
		text := tag + strings.Join(values, ", ")
		if clause.List == nil {
			text = tag + "default"
		}
		s.block(clause.Body, append(slices.Clip(under), guard{text: text, platform: platform.MatchString(text)}))
	}
}

// isSkip reports whether an expression is t.Skip, t.Skipf or t.SkipNow, on the
// test itself or through s.T() of a suite.
func (s *skipper) isSkip(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "Skip", "Skipf", "SkipNow":
		return isHandle(sel.X, func(name string) bool { return name == s.handle })
	}
	return false
}

// isHandle reports whether an expression is one of the names, or name.T().
func isHandle(e ast.Expr, named func(string) bool) bool {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "T" {
			e = sel.X
		}
	}
	name, ok := e.(*ast.Ident)
	return ok && named(name.Name)
}

func (s *skipper) note(under []guard) {
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

// truth folds a condition that does not depend on anything: true, 1 == 1,
// x || true.
func truth(e ast.Expr) (value, known bool) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return truth(x.X)
	case *ast.Ident:
		return x.Name == "true", x.Name == "true" || x.Name == "false"
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			value, known = truth(x.X)
			return !value, known
		}
	case *ast.BinaryExpr:
		return binaryTruth(x)
	}
	return false, false
}

func binaryTruth(x *ast.BinaryExpr) (value, known bool) {
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
	decides := x.Op == token.LOR // the value of one side that settles the result
	left, leftKnown := truth(x.X)
	right, rightKnown := truth(x.Y)
	if leftKnown && left == decides || rightKnown && right == decides {
		return decides, true
	}
	return !decides, leftKnown && rightKnown
}
