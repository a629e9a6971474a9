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

// failures are the methods of testing.T that report one.
var failures = lex.WordSet(`Error Errorf Fatal Fatalf Fail FailNow`)

// assertionWords begin the names of functions and packages that assert.
var assertionWords = []string{"assert", "require", "must", "check", "expect", "verify"}

// suiteAssertions begin the names of the assertions that a testify suite has
// as methods.
var suiteAssertions = []string{
	"Equal", "Not", "No", "True", "False", "Nil", "Error", "Contains", "Len", "Empty", "Fail", "Greater", "Less",
	"In", "Is", "JSONEq", "YAMLEq", "Panics", "Zero", "Same", "Subset", "ElementsMatch", "Eventually", "Never", "Regexp",
	"Within", "Positive", "Negative", "Condition", "Exactly", "Implements", "File", "Dir", "HTTP",
}

// asserter collects the assertions of one test.
type asserter struct {
	*goTests
	handles map[string]bool // names of the *testing.T here and in subtests
	suite   string
	path    []ast.Node // from the body down to the current node
	found   []string
}

// assertions lists the failures a test can report, those of its subtests
// included.
func (t *goTests) assertions(g goTest) []string {
	a := &asserter{goTests: t, handles: g.handles(), suite: g.suite}
	ast.Inspect(g.body, a.visit)
	return a.found
}

// handles returns the names by which a test and its subtests report.
func (g *goTest) handles() map[string]bool {
	names := map[string]bool{}
	if name := g.handle(); name != "" {
		names[name] = true
	}
	ast.Inspect(g.inner(), func(n ast.Node) bool {
		if fn, ok := n.(*ast.FuncLit); ok && takesTest(fn.Type) {
			for _, name := range fn.Type.Params.List[0].Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// inner returns the body of a test, or the call that names it where it has none.
func (g *goTest) inner() ast.Node {
	if g.body != nil {
		return g.body
	}
	return g.node
}

func (a *asserter) visit(n ast.Node) bool {
	if n == nil {
		a.path = a.path[:len(a.path)-1]
		return true
	}
	if call, ok := n.(*ast.CallExpr); ok {
		switch {
		case a.fails(call):
			a.found = append(a.found, a.failure(call))
			return false
		case a.asserts(call):
			a.found = append(a.found, a.text(call))
			return false
		}
	}
	a.path = append(a.path, n)
	return true
}

// fails reports whether a call is t.Error or one of its like.
func (a *asserter) fails(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && failures[sel.Sel.Name] && isHandle(sel.X, func(name string) bool {
		return a.handles[name] && (name != a.suite || a.text(sel.X) != name)
	})
}

// failure names a failure by the innermost condition it is under, since
// its message says less; without one, by itself.
func (a *asserter) failure(call *ast.CallExpr) string {
	method := strings.TrimSuffix(call.Fun.(*ast.SelectorExpr).Sel.Name, "f")
	below := ast.Node(call)
	for _, n := range slices.Backward(a.path) {
		switch x := n.(type) {
		case *ast.FuncLit:
			return a.text(call)
		case *ast.IfStmt:
			return a.condition(x, below) + " => t." + method
		case *ast.CaseClause:
			var values []string
			for _, e := range x.List {
				values = append(values, a.text(e))
			}
			return "case " + strings.Join(values, ", ") + " => t." + method
		}
		below = n
	}
	return a.text(call)
}

// condition returns the condition of an if under which one of its branches runs.
func (a *asserter) condition(x *ast.IfStmt, branch ast.Node) string {
	text := a.text(x.Cond)
	if x.Init != nil {
		text = a.text(x.Init) + "; " + text
	}
	if branch == x.Else {
		return "!(" + text + ")"
	}
	return text
}

// asserts reports whether a call asserts, by its name: assert.Equal(…),
// checkFile(…), Expect(x).To(…), or s.Equal(…) in a suite.
func (a *asserter) asserts(call *ast.CallExpr) bool {
	name := root(call.Fun)
	sel, selected := call.Fun.(*ast.SelectorExpr)
	if selected && sel.Sel.Name == "New" { // assert.New(t)
		return false
	}
	if a.suite != "" && name == a.suite {
		return selected && slices.ContainsFunc(suiteAssertions, func(p string) bool { return strings.HasPrefix(sel.Sel.Name, p) })
	}
	return name == "is" && selected || assertionName(name)
}

// root returns the name that a chain of calls and selections begins with.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// assertionName reports whether a name begins with a word of assertion, and
// not only with its letters, as expected does.
func assertionName(name string) bool { return tests.StartsWithAny(name, assertionWords) }

// symbols lists the names from outside the file that a test uses. There are no
// types here: what a name is declared as within the test hides it everywhere
// in the test.
func (t *goTests) symbols(g goTest) []string {
	local := localNames(g)
	handles := g.handles()
	found := map[string]bool{}
	add := func(name string) {
		if name != "_" && !local[name] && !t.own[name] && !t.imports[name] && !doc.IsPredeclared(name) {
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
	ast.Inspect(g.inner(), visit)
	return tests.SortedKeys(found)
}

// localNames returns the names that a test declares itself.
func localNames(g goTest) map[string]bool {
	names := map[string]bool{g.handle(): true}
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if name, ok := e.(*ast.Ident); ok {
				names[name.Name] = true
			}
		}
	}
	ast.Inspect(g.inner(), func(n ast.Node) bool {
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
