package treecopy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/measure"
)

// A copy imports its own code, before what the user has on PYTHONPATH, and uv leaves the
// environment of the tree alone. A copy of the copy does the same.
func TestChecksOfACopy(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	site := filepath.Join(root, ".venv", "lib", "python3.12", "site-packages")
	if err := os.MkdirAll(site, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "shop.pth"), []byte(filepath.Join(root, "src")+"\n/elsewhere/src\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := measure.Plan{Root: root, Checks: []measure.Check{{Command: []string{"uv", "run", "pytest"}}}}
	one := PlanForCopy(t.Context(), MovePlan(plan, dir), root, []string{"PYTHONPATH=/mine"})
	want := []string{"UV_NO_SYNC=1", "PYTHONPATH=" + filepath.Join(dir, "src") + ":/mine"}
	if got := one.Checks[0].Env; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := os.MkdirAll(filepath.Join(root, "part"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	part := PlanForCopy(t.Context(), measure.Plan{Root: filepath.Join(dir, "part"), Checks: plan.Checks}, filepath.Join(root, "part"), []string{"HOME=/"})
	if got, want := part.Checks[0].Env, []string{"UV_NO_SYNC=1", "PYTHONPATH=" + filepath.Join(dir, "src")}; !slices.Equal(got, want) {
		t.Errorf("a part of the tree: %q, want %q", got, want)
	}
	if err := os.Symlink(filepath.Join(root, ".venv"), filepath.Join(dir, ".venv")); err != nil {
		t.Fatal(err)
	}
	two := PlanForCopy(t.Context(), MovePlan(one, filepath.Join(dir, "copy")), dir, []string{"HOME=/"})
	if got, want := two.Checks[0].Env[1], "PYTHONPATH="+filepath.Join(dir, "copy", "src")+":/mine"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := EditableDirs(t.Context(), one); !slices.Contains(got, "src") {
		t.Errorf("sources %q", got)
	}
	if env := PlanForCopy(t.Context(), measure.Plan{Root: root, Checks: plan.Checks}, t.TempDir(), []string{"HOME=/"}).Checks[0].Env; len(env) != 0 {
		t.Errorf("a tree without an environment: %q", env)
	}
}
