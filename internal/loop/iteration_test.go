package loop

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"supervise/test/docs"
)

// docs/architecture.md lists the steps of the line in the order of the code.
func TestTheLineIsDocumented(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "iteration.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]*ast.FuncDecl{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			steps[f.Name.Name] = f
		}
	}
	var b strings.Builder
	b.WriteString("| step | what it does |\n|---|---|\n")
	for _, name := range sequence(steps, "iterate") {
		text, _, _ := strings.Cut(strings.Join(strings.Fields(steps[name].Doc.Text()), " ")+" ", ". ")
		what, ok := strings.CutPrefix(text, name+" ")
		if !ok {
			t.Errorf("the comment of %s in iteration.go does not begin with its name", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, what)
	}
	docs.Block(t, "architecture.md", "line", "./internal/loop", b.String())
}

// sequence lists the steps that a function calls, with those that are made of steps
// themselves replaced by these.
func sequence(steps map[string]*ast.FuncDecl, of string) (out []string) {
	ast.Inspect(steps[of].Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || steps[name.Sel.Name] == nil {
			return true
		}
		if on, ok := name.X.(*ast.Ident); !ok || on.Name != "r" {
			return true
		}
		switch name.Sel.Name {
		case "assess", "measureAndJudge", "settle", "conclude":
			out = append(out, sequence(steps, name.Sel.Name)...)
		default:
			out = append(out, name.Sel.Name)
		}
		return true
	})
	return out
}
