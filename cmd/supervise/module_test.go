package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/ledger"
	"supervise/test/tools"
)

// On a copy of a real module, five iterations: one that changes a comment, one
// that deletes a passing test file, one that breaks a test, one that raises
// coverage, and one that lowers it. The second and third are rolled back, the
// fourth is selected. Of its tests those of two packages run: of the others there
// is nothing to learn that would be worth a minute.
func TestE2ERealModule(t *testing.T) {
	t.Parallel()
	tools.Long(t)
	goCaches(t)
	w := newWorld(t)
	copyModule(t, "github.com/google/go-cmp", w.root)
	if n := goLines(t, w.root); n < 5000 {
		t.Fatalf("the module has %d lines, want at least 5000", n)
	}
	w.write("proj/.supervise.yaml", modulePlan)
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	for name, text := range moduleSteps {
		w.write("steps/"+name, text)
	}
	out, code := w.supervise("run", "--until", "never", "--max-iterations", "5", "--on-stall", "continue", "--", "agent")
	if code != 0 {
		t.Fatalf("exit status %d, want 0\n%s", code, out)
	}
	its := iterations(t, w)
	if len(its) != 6 {
		t.Fatalf("%d iterations with the baseline, want 6\n%s", len(its), out)
	}
	for n, want := range []bool{false, false, true, true, false, false} {
		if its[n].Rejected != want {
			t.Errorf("iteration %d: rejected %v, want %v\n%s", n, its[n].Rejected, want, out)
		}
	}
	if !strings.Contains(out, "selected iteration 4") || !strings.Contains(out, "same results") {
		t.Errorf("iteration 4 was not selected and verified:\n%s", out)
	}
	if got := w.git("status", "--porcelain", "-uall"); got != " M cmp/path.go\n?? cmp/internal/function/more_test.go\n" {
		t.Errorf("the tree holds other changes than those of iterations 1 and 4:\n%s", got)
	}
}

const modulePlan = `checks:
  test:
    runner: go
    command: go test -json -count=1 -coverprofile={{report_dir}}/cover.out ./cmp/internal/function ./cmp/internal/value
    reports: ['{{report_dir}}/cover.out']
    coverage: true
  lint: go vet ./cmp/internal/...
`

var moduleSteps = map[string]string{
	"1/_sh": "sed -i.bak '1s/$/ (edited)/' cmp/path.go && rm cmp/path.go.bak",
	"2/_rm": "cmp/internal/value/name_test.go",
	"3/_sh": "sed -i.bak 's/x.Int() < y.Int()/x.Int() > y.Int()/' cmp/internal/value/sort.go && rm cmp/internal/value/sort.go.bak",
	"4/cmp/internal/function/more_test.go": `package function

import (
	"reflect"
	"testing"
)

func TestIsTypeOfLess(t *testing.T) {
	less := func(a, b int) bool { return a < b }
	if !IsType(reflect.TypeOf(less), Less) || IsType(reflect.TypeOf(0), Less) {
		t.Error("IsType is wrong")
	}
}
`,
	"5/cmp/internal/value/extra.go": `package value

// Extra counts in a way nobody asked for.
func Extra(list []int) (n int) {
	for _, v := range list {
		if v > 0 {
			n++
		} else if v < 0 {
			n--
		}
	}
	return n
}
`,
}

func copyModule(t *testing.T, module, to string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Skipf("the module %s is not at hand: %v", module, err)
	}
	from := strings.TrimSpace(string(out))
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func goLines(t *testing.T, root string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		n += strings.Count(string(data), "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// loopDir returns the folder of the only loop in the world.
func loopDir(t *testing.T, w *world) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.dir, "state", "supervise", "*", "loops", "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("loops %v, %v, want one", dirs, err)
	}
	return dirs[0]
}

func iterations(t *testing.T, w *world) []ledger.Iteration {
	t.Helper()
	its, err := ledger.ReadIterations(loopDir(t, w))
	if err != nil {
		t.Fatal(err)
	}
	return its
}

func state(t *testing.T, w *world) ledger.State {
	t.Helper()
	var s ledger.State
	b, err := os.ReadFile(filepath.Join(loopDir(t, w), "state.json"))
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}
