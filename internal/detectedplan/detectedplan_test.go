package detectedplan_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"supervise/internal/detectedplan"
	"supervise/internal/measure"
	"supervise/internal/project"
)

func found(name string) (string, error) { return "/bin/" + name, nil }

// planOf is the plan of a folder whose checks are recognised, and a linter that was given.
func planOf(t *testing.T, root string) measure.Plan {
	t.Helper()
	p, err := project.Detect(root, found)
	if err != nil {
		t.Fatal(err)
	}
	plan := measure.Plan{Root: root, Recognised: true, Checks: []measure.Check{{Kind: measure.Lint, Name: "lint", Command: []string{"lint"}}}}
	for _, c := range p.Checks {
		plan.Checks = append(plan.Checks, detectedplan.PlanCheck(c, time.Minute))
	}
	return plan
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func script(command string) string {
	return `{"name": "shop", "scripts": {"test": "` + command + `"}}`
}

// Only where a tree declares other known runners does the plan change, and in that folder
// alone.
func TestAt(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change map[string]string
		want   []string // the runners then; nil: as before
	}{
		{"nothing", nil, nil},
		{"another runner", map[string]string{"package.json": script("node --test")}, []string{"", "node", "pytest"}},
		{"one more", map[string]string{"package.json": script("jest && node --test")}, []string{"", "jest", "node", "pytest"}},
		{"other options", map[string]string{"package.json": script("jest --verbose")}, nil},
		{"an unknown runner", map[string]string{"package.json": script("./all-is-well")}, nil},
		{"a runner that prints TAP", map[string]string{"package.json": script("tape")}, []string{"", "pytest", "tape"}},
		{"none", map[string]string{"package.json": "{}"}, nil},
		{"no JSON", map[string]string{"package.json": "{"}, nil},
		{"another folder", map[string]string{"web/package.json": script("vitest")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{"package.json": script("jest"), "api/pytest.ini": "", "api/test_api.py": "import pytest\n"})
			was := planOf(t, root)
			write(t, root, tt.change)
			is, moved := detectedplan.PlanFor(root, was, found)
			var runners []string
			for _, c := range is.Checks {
				runners = append(runners, c.Runner)
				if c.Runner == "node" && c.Timeout != time.Minute {
					t.Errorf("time limit %s", c.Timeout)
				}
			}
			slices.Sort(runners)
			if want := slices.Compact(tt.want); moved != (want != nil) || moved && !slices.Equal(slices.Compact(runners), want) || !moved && is.Hash() != was.Hash() {
				t.Errorf("moved %t: %v", moved, runners)
			}
			was.Recognised = false
			if _, moved := detectedplan.PlanFor(root, was, found); moved {
				t.Error("tests that were given are exchanged")
			}
		})
	}
}
