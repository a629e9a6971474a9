package gocode

import (
	"go/ast"
	"go/doc"
	"go/token"
	"slices"
	"strings"

	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// failureMethods are the methods of testing.T that report a failure.
var failureMethods = lex.WordSet(`Error Errorf Fatal Fatalf Fail FailNow`)

// assertionWords start the names of functions and packages that assert.
var assertionWords = []string{"assert", "require", "must", "check", "expect", "verify"}

// suiteAssertions start the names of the assertion methods of a testify suite.
var suiteAssertions = []string{
	"Equal", "Not", "No", "True", "False", "Nil", "Error", "Contains", "Len", "Empty", "Fail", "Greater", "Less",
	"In", "Is", "JSONEq", "YAMLEq", "Panics", "Zero", "Same", "Subset", "ElementsMatch", "Eventually", "Never", "Regexp",
	"Within", "Positive", "Negative", "Condition", "Exactly", "Implements", "File", "Dir", "HTTP",
}

// asserter collects the assertions of one test.
type asserter struct {
	*goTests
	handles map[string]bool // names of the *testing.T in the test and its subtests
	suite   string          // name of the receiver, if the test is a method of a suite
	path    []ast.Node      // from the body down to the current node
	found   []string        // the assertions so far
}

// findAssertions returns the failures that a test and its subtests can report.
func (t *goTests) findAssertions(g goTest) []string {
	a := &asserter{goTests: t, handles: g.handleNames(), suite: g.suite}
	ast.Inspect(g.body, a.visit)
	return a.found
}

// handleNames returns the names by which a test and its subtests report.
func (g *goTest) handleNames() map[string]bool {
	names := map[string]bool{}
	if name := g.handleName(); name != "" {
		names[name] = true
	}
	ast.Inspect(g.bodyOrCall(), func(n ast.Node) bool {
		if fn, ok := n.(*ast.FuncLit); ok && takesTest(fn.Type) {
			for _, name := range fn.Type.Params.List[0].Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// bodyOrCall returns the body of a test, or the call that starts it if it has no literal body.
func (g *goTest) bodyOrCall() ast.Node {
	if g.body != nil {
		return g.body
	}
	return g.node
}

// visit collects the assertions at a node. It is for ast.Inspect, which passes nil after the
// children of a node.
func (a *asserter) visit(n ast.Node) bool {
	if n == nil {
		a.path = a.path[:len(a.path)-1]
		return true
	}
	if call, ok := n.(*ast.CallExpr); ok {
		switch {
		case a.isFailure(call):
			a.found = append(a.found, a.describeFailure(call))
			return false
		case a.isAssertion(call):
			a.found = append(a.found, a.text(call))
			return false
		}
	}
	a.path = append(a.path, n)
	return true
}

// isFailure reports whether a call is t.Error or a similar method.
func (a *asserter) isFailure(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && failureMethods[sel.Sel.Name] && isHandle(sel.X, func(name string) bool {
		return a.handles[name] && (name != a.suite || a.text(sel.X) != name)
	})
}

// describeFailure returns the innermost condition around a failure and the method that reports
// it: "got != want => t.Error". A failure without a condition is returned as written.
func (a *asserter) describeFailure(call *ast.CallExpr) string {
	method := strings.TrimSuffix(call.Fun.(*ast.SelectorExpr).Sel.Name, "f")
	below := ast.Node(call)
	for _, n := range slices.Backward(a.path) {
		switch x := n.(type) {
		case *ast.FuncLit:
			return a.text(call)
		case *ast.IfStmt:
			condition := a.condition(x)
			if below == x.Else {
				condition = "!(" + condition + ")"
			}
			return condition + " => t." + method
		case *ast.CaseClause:
			return "case " + a.texts(x.List) + " => t." + method
		}
		below = n
	}
	return a.text(call)
}

// isAssertion reports whether a call asserts, by its name: assert.Equal(…), checkFile(…),
// Expect(x).To(…), or s.Equal(…) in a suite.
func (a *asserter) isAssertion(call *ast.CallExpr) bool {
	name := baseName(call.Fun)
	sel, selected := call.Fun.(*ast.SelectorExpr)
	if selected && sel.Sel.Name == "New" { // assert.New(t) only creates an object with assertions
		return false
	}
	if a.suite != "" && name == a.suite {
		return selected && slices.ContainsFunc(suiteAssertions, func(p string) bool { return strings.HasPrefix(sel.Sel.Name, p) })
	}
	return name == "is" && selected || isAssertionName(name)
}

// isAssertionName reports whether a name starts with one of assertionWords, as in checkFile. The
// name "expected" does not.
func isAssertionName(name string) bool { return tests.StartsWithAny(name, assertionWords) }

// externalSymbols returns the sorted names from outside the file that a test uses. There is no
// type information, so a name that the test declares anywhere hides that name in the complete
// test.
func (t *goTests) externalSymbols(g goTest) []string {
	local := localNames(g)
	handles := g.handleNames()
	found := map[string]bool{}
	add := func(name string) {
		if name != "_" && !local[name] && !t.declared[name] && !t.imports[name] && !doc.IsPredeclared(name) {
			found[name] = true
		}
	}

	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if base, ok := x.X.(*ast.Ident); ok && handles[base.Name] {
				return false
			} else if ok && t.imports[base.Name] && !local[base.Name] {
				found[base.Name+"."+x.Sel.Name] = base.Name != "testing"
				return false
			}
			found[x.Sel.Name] = true
			ast.Inspect(x.X, visit)
			return false
		case *ast.KeyValueExpr:
			if _, field := x.Key.(*ast.Ident); field {
				ast.Inspect(x.Value, visit)
				return false
			}
		case *ast.Ident:
			add(x.Name)
		}
		return true
	}

	ast.Inspect(g.bodyOrCall(), visit)
	return tests.SortedKeys(found)
}

// localNames returns the names that a test declares, including its handle.
func localNames(g goTest) map[string]bool {
	names := map[string]bool{g.handleName(): true}
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if name, ok := e.(*ast.Ident); ok {
				names[name.Name] = true
			}
		}
	}

	ast.Inspect(g.bodyOrCall(), func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				add(x.Lhs...)
			}
		case *ast.RangeStmt:
			if x.Tok == token.DEFINE {
				add(x.Key, x.Value)
			}
		case *ast.ValueSpec:
			for _, name := range x.Names {
				add(name)
			}
		case *ast.TypeSpec:
			add(x.Name)
		case *ast.Field:
			for _, name := range x.Names {
				add(name)
			}
		case *ast.LabeledStmt:
			add(x.Label)
		}
		return true
	})
	return names
}
