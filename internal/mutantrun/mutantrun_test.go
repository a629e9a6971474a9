package mutantrun

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/measure"
	"supervise/internal/mutation"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
	"supervise/test/tools"
	"supervise/test/trees"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// withRunner calls work with a runner in a copy of a project, its tests, and the mutants of a file.
func withRunner(t testing.TB, files map[string]string, check measure.Check, o Options, work func(*Runner, []metric.Test)) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	trees.Write(t, root, files)
	store, plan, meter := trees.Open(t, root, check)
	info, err := store.Take(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	res, err := meter.Run(t.Context(), nil)
	if err != nil || res.Set.Tests == nil {
		t.Fatalf("%v, %+v", err, res)
	}
	w := treecopy.Workspace{Store: store, Meter: meter, Plan: plan, Root: root, Scratch: t.TempDir()}
	err = w.WithCopy(t.Context(), info.ID, func(tree treecopy.Tree) error {
		r := New(tree, o)
		work(r, res.Set.Tests.Cases)
		return r.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mutantsOf returns the mutants of a file.
func mutantsOf(name, text string) (out []Mutant) {
	for _, m := range mutation.MutantsOf(name, []byte(text)) {
		out = append(out, Mutant{Mutant: m, Source: []byte(text)})
	}
	return out
}

const shopGo = `package shop

func Price(n int) int {
	if n > 10 {
		return n * 2
	}
	return n * 3
}
`

const shopGoTest = `package shop

import "testing"

func TestFew(t *testing.T) {
	if Price(1) != 3 {
		t.Error(Price(1))
	}
}

func TestMany(t *testing.T) {
	if Price(11) != 22 {
		t.Error(Price(11))
	}
}

func TestFails(t *testing.T) { t.Error("always") }
`

// Tests that fail without a fault do not count. A mutant is killed by the tests of its lines, and
// the file is restored after it.
func TestRun(t *testing.T) {
	tools.Need(t, "go")
	check := measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "./..."}}
	files := map[string]string{"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop.go": shopGo, "shop_test.go": shopGoTest}
	withRunner(t, files, check, Options{}, func(r *Runner, tests []metric.Test) {
		control, err := r.Control(t.Context(), tests)
		kept := control.Keep(tests)
		if err != nil || len(kept) != 2 || control.Why == "" {
			t.Fatalf("%v, %+v", err, control)
		}
		list := mutantsOf("shop.go", shopGo)
		at := slices.IndexFunc(list, func(m Mutant) bool { return m.Line == 7 && m.Operator == mutation.ChangeArithmetic })
		result, err := r.Run(t.Context(), list[at], kept)
		if err != nil || result.Unbuilt || result.Aborted || len(result.Killers) != 1 || len(result.Ran) != 2 {
			t.Errorf("%v, %+v", err, result)
		}
		for _, test := range kept {
			if result.IsKilledBy([]metric.Test{test}) != (test.Name == "TestFew") {
				t.Errorf("%s: %+v", test.Name, result)
			}
		}
		if text, err := os.ReadFile(filepath.Join(r.tree.Path, "shop.go")); err != nil || string(text) != shopGo {
			t.Errorf("%v: %s", err, text)
		}
	})
}
