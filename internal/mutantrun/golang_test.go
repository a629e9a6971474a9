package mutantrun

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/internal/measure"
	"supervise/internal/mutation"
	"supervise/metric"
	"supervise/test/tools"
)

// compare runs mutants of files, not more than most, one at a time and all at once, and reports
// differences. It returns how many of them were compiled together.
func compare(t *testing.T, files map[string]string, check measure.Check, most int, mutated ...string) (together int) {
	t.Helper()
	var results [2][]Result
	var list []mutation.Mutant
	for _, name := range mutated {
		list = append(list, mutation.MutantsOf(name, []byte(files[name]))...)
	}
	var mutants []Mutant
	for _, m := range mutation.Sample(list, most) {
		mutants = append(mutants, Mutant{Mutant: m, Source: []byte(files[m.File])})
	}
	for i, one := range []bool{true, false} {
		withRunner(t, files, check, Options{OneAtATime: one}, func(r *Runner, tests []metric.Test) {
			control, err := r.Control(t.Context(), tests)
			if err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			if _, err := r.Load(t.Context(), mutants); err != nil {
				t.Fatal(err)
			}
			for i := range mutants {
				if r.engine != nil && r.engine.isTogether(i+1) {
					together++
				}
			}
			t.Logf("loaded in %s", time.Since(started))
			for _, m := range mutants {
				began := time.Now()
				result, err := r.Run(t.Context(), m, control.Keep(tests))
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s %s:%d %s: %d of %d", time.Since(began).Round(time.Millisecond), m.File, m.Line, m.Mutated, len(result.Killers), len(result.Ran))
				results[i] = append(results[i], result)
			}
			t.Logf("ran in %s", time.Since(started))
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range mutated {
				if text, err := os.ReadFile(filepath.Join(r.tree.Path, name)); err != nil || string(text) != files[name] {
					t.Errorf("%s is not restored: %v", name, err)
				}
			}
		})
	}
	for i, m := range mutants {
		one, all := results[0][i], results[1][i]
		if one.Unbuilt != all.Unbuilt || one.Aborted != all.Aborted || !one.Unbuilt && !maps.Equal(one.Killers, all.Killers) {
			t.Errorf("%s:%d %s: one at a time %t %t %v, all at once %t %t %v", m.File, m.Line, m.Mutated, one.Unbuilt, one.Aborted, one.Killers, all.Unbuilt, all.Aborted, all.Killers)
		}
		for id, message := range one.Said {
			if (message == "") != (all.Said[id] == "") {
				t.Errorf("%s:%d %s: %q, all at once %q", m.File, m.Line, m.Mutated, message, all.Said[id])
			}
		}
	}
	if !slices.ContainsFunc(results[0], func(r Result) bool { return len(r.Killers) > 0 }) {
		t.Fatal("no mutant is killed")
	}
	return together
}

const shapesGo = `// Package shapes has functions of many shapes.
package shapes // with a comment

import "errors" // one import

// Limit depends on a function.
var Limit = limit()

func limit() int { return 3 + 4 }

// Stack is generic.
type Stack[T any] struct{ items []T }

// Push has no result.
func (s *Stack[T]) Push(v ...T) {
	if len(v) == 0 {
		return
	}
	s.items = append(s.items, v...)
}

func (_ Stack[T]) Zero() (n int) { n, err := 1, errors.New("x"); _ = err; return n + 2 }

// Pop has named results, and declares one of them again.
func (s *Stack[T]) Pop() (v T, err error) {
	defer func() {
		if err != nil {
			err = errors.New("pop: " + err.Error())
		}
	}()
	n, err := s.size()
	if n < 1 {
		return v, errors.New("empty")
	}
	v, s.items = s.items[n-1], s.items[:n-1]
	return
}

func (s *Stack[T]) size() (int, error) { return len(s.items), nil }

// Find has a label.
func Find(rows [][]int, want int) int {
	found := -1
rows:
	for i, row := range rows {
		for _, n := range row {
			if n == want {
				found = i
				break rows
			}
		}
	}
	return found
}

// Safe recovers.
func Safe(n int) (text string) {
	defer handle(&text)
	if n > 2 {
		panic("too many")
	}
	return "fine"
}

func handle(text *string) {
	if r := recover(); r != nil {
		*text = "failed"
	}
}

// Endless may not end.
func Endless(n int) int {
	i := 0
	for i < n {
		i++
	}
	return i
}

// Unused is reached by no test.
func Unused(a, b int) bool { return a < b && b > 3 }
`

const shapesGoTest = `package shapes

import (
	"os/exec"
	"strings"
	"testing"
)

func TestLimit(t *testing.T) {
	if Limit != 7 {
		t.Error(Limit)
	}
}

func TestStack(t *testing.T) {
	var s Stack[int]
	if _, err := s.Pop(); err == nil || err.Error() != "pop: empty" {
		t.Error(err)
	}
	s.Push()
	s.Push(1, 2)
	for _, want := range []int{2, 1} {
		t.Run("pop", func(t *testing.T) {
			if v, err := s.Pop(); v != want || err != nil {
				t.Error(v, err)
			}
		})
	}
	if s.Zero() != 3 {
		t.Error(s.Zero())
	}
}

func TestFind(t *testing.T) {
	if n := Find([][]int{{1, 2}, {3}}, 3); n != 1 {
		t.Error(n)
	}
}

func TestSafe(t *testing.T) {
	if Safe(3) != "failed" || Safe(2) != "fine" {
		t.Error(Safe(3))
	}
}

func TestEndless(t *testing.T) {
	if Endless(3) != 3 {
		t.Error(Endless(3))
	}
}

func TestProgram(t *testing.T) {
	cmd := exec.Command("go", "run", "./cmd")
	out, err := cmd.CombinedOutput()
	if strings.TrimSpace(string(out)) != "7" {
		t.Error(string(out), err)
	}
}
`

// shapes runs mutants of functions of all shapes both ways.
func shapes(t *testing.T, most int) (together int) {
	t.Helper()
	tools.Need(t, "go")
	files := map[string]string{
		"go.mod": "module example.com/shapes\n\ngo 1.21\n", "shapes.go": shapesGo, "shapes_test.go": shapesGoTest,
		"cmd/main.go": "package main\n\nimport \"example.com/shapes\"\n\nfunc main() { println(shapes.Limit) }\n",
	}
	check := measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "./..."}}
	files["plain.go"] = "package shapes\n\nfunc plain(n int) int { return n + 1 }\n" // without imports
	files["plain_test.go"] = "package shapes\n\nimport \"testing\"\n\nfunc TestPlain(t *testing.T) {\n\tif plain(1) != 2 {\n\t\tt.Error(plain(1))\n\t}\n}\n"
	return compare(t, files, check, most, "plain.go", "shapes.go")
}

func TestGoAllAtOnce(t *testing.T) {
	if n := shapes(t, 8); n != 8 {
		t.Errorf("%d mutants compiled together", n)
	}
}

// All shapes of functions have the same results both ways: also what runs before main, what a
// test builds and starts itself, and what does not end.
func TestE2EGoShapes(t *testing.T) {
	tools.Long(t)
	if n := shapes(t, 100); n < 40 {
		t.Errorf("%d mutants compiled together", n)
	}
}

// An endless mutant that runs again, since the tests take longer than before, is still that mutant.
func TestE2EGoBusyMachine(t *testing.T) {
	tools.Long(t)
	tools.Need(t, "go")
	const code = "package loop\n\nfunc Count(n int) int {\n\ti := 0\n\tfor i < n {\n\t\ti++\n\t}\n\treturn i\n}\n"
	const tests = "package loop\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestCount(t *testing.T) {\n\tfor began := time.Now(); time.Since(began) < 500*time.Millisecond; {\n\t}\n\tif Count(3) != 3 {\n\t\tt.Error(Count(3))\n\t}\n}\n"
	files := map[string]string{"go.mod": "module example.com/loop\n\ngo 1.21\n", "loop.go": code, "loop_test.go": tests}
	check := measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "./..."}}
	withRunner(t, files, check, Options{}, func(r *Runner, tests []metric.Test) {
		if _, err := r.Control(t.Context(), tests); err != nil {
			t.Fatal(err)
		}
		mutants := mutantsOf("loop.go", code)
		if _, err := r.Load(t.Context(), mutants); err != nil || r.engine == nil {
			t.Fatalf("%v, %v", err, r.engine)
		}
		clear(r.durations) // before, they took no time
		at := slices.IndexFunc(mutants, func(m Mutant) bool { return m.Mutated == "i--" })
		if result, err := r.Run(t.Context(), mutants[at], tests); err != nil || !result.Aborted {
			t.Errorf("%v, %+v", err, result)
		}
	})
}

// Packages of this module have the same results both ways.
func TestE2EGoPackages(t *testing.T) {
	tools.Long(t)
	tools.Need(t, "go")
	for _, dir := range []string{"internal/shell", "internal/tomlfile"} {
		t.Run(dir, func(t *testing.T) {
			files, own := packageFiles(t, dir)
			check := measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "./" + dir}}
			if n := compare(t, files, check, 40, own...); n < 30 {
				t.Errorf("%d mutants compiled together", n)
			}
		})
	}
}

// packageFiles returns the files of a package of this module and those that it needs, and the names
// of its code.
func packageFiles(t *testing.T, dir string) (files map[string]string, own []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f={{if and .Module .Module.Main}}{{.Dir}}{{end}}", "./"+dir)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	full, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, p := range append(strings.Fields(string(out)), filepath.Join(full, "go.mod"), filepath.Join(full, "go.sum"), filepath.Join(full, dir, "testdata")) {
		err := filepath.WalkDir(p, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() && name != p && filepath.Base(p) != "testdata" && filepath.Base(p) != filepath.Base(dir) {
				return filepath.SkipDir
			}
			rel, relErr := filepath.Rel(full, name)
			if d.Type().IsRegular() && relErr == nil {
				text, err := os.ReadFile(name)
				files[filepath.ToSlash(rel)] = string(text)
				return err
			}
			return relErr
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range files {
		if path.Dir(name) == dir && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	return files, own
}
