package remeasure

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// The linters run without the suppression comments of the change; the tree and the
// scratch folder are left as they were.
func TestLintFindsWhatNewCommentsHide(t *testing.T) {
	root, scratch := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("code.go", "package code\n\nvar old = BAD //nolint:bad\n")
	write("lint.sh", "found=$(grep -n BAD code.go | grep -v nolint | sed 's/:.*//; s/.*/code.go:&:1: BAD is bad/')\necho \"$found\"\n[ -z \"$found\" ]\n")
	store, err := snapshot.Open(t.Context(), root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	take := func() snapshot.ID {
		t.Helper()
		info, err := store.Take(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	was := take()
	const after = "package code\n\nvar old = BAD //nolint:bad\nvar more = BAD //nolint:bad\n"
	write("code.go", after)
	is := take()
	changes, err := store.Changes(t.Context(), was, is)
	if err != nil {
		t.Fatal(err)
	}
	plan := measure.Plan{Root: root, Checks: []measure.Check{{Kind: measure.Lint, Name: "lint", Command: []string{"sh", "lint.sh"}}}}
	r := Remeasurement{
		Workspace: treecopy.Workspace{Store: store, Meter: measure.New(plan, measure.Options{Scratch: t.TempDir()}), Plan: plan, Root: root, Scratch: scratch},
		Base:      was, Current: is, Changes: changes,
	}
	out, err := r.Lint(t.Context())
	if err != nil || out == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(out.Findings) != 1 || out.Findings[0].Line != 4 || !slices.Equal(out.Files, []string{"code.go"}) || out.Why != "" {
		t.Errorf("found %+v in %v (%s), want line 4 of code.go alone", out.Findings, out.Files, out.Why)
	}
	if text, err := os.ReadFile(filepath.Join(root, "code.go")); err != nil || string(text) != after {
		t.Errorf("the working tree has %q, %v", text, err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}

func TestLowerCoverageNeedsComparableReports(t *testing.T) {
	of := func(covered int64, format string) *metric.Coverage {
		return &metric.Coverage{Covered: covered, Total: 10, Unit: metric.Lines, Format: format}
	}
	high, low, other := of(9, "lcov"), of(8, "lcov"), of(1, "cobertura")
	for _, tt := range []struct{ a, b, want *metric.Coverage }{{high, low, low}, {low, high, low}, {high, other, high}, {high, nil, high}} {
		if got := LowerCoverage(tt.a, tt.b); got != tt.want {
			t.Errorf("the lower of %+v and %+v is %+v", tt.a, tt.b, got)
		}
	}
}
