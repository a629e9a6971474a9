package cleanroom

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Measurement is what all checks measured in a clean copy.
type Measurement struct {
	measure.Result
	Changed []string // files of the tree that the checks changed
}

// Measure runs all checks, without caches, on a snapshot in the kept copy of a workspace. known are the
// tests of the working tree.
func Measure(ctx context.Context, w treecopy.Workspace, id snapshot.ID, known *metric.Tests) (out *Measurement, err error) {
	err = w.WithKept(ctx, id, func(tree treecopy.Tree) error {
		env, err := cleanHome(tree)
		if err == nil {
			out, err = measureTree(ctx, tree, env, known)
		}
		return err
	})
	return out, err
}

// measureTree runs all checks in a copy. env are additional variables.
func measureTree(ctx context.Context, tree treecopy.Tree, env []string, known *metric.Tests) (*Measurement, error) {
	plan := planFor(ctx, tree, env)
	m := tree.Meter.InOtherTree(plan)
	res, err := m.Run(ctx, known)
	out := &Measurement{Result: res}
	if err != nil || tree.Kept == nil {
		return out, err
	}
	out.Changed, err = tree.Kept.Changed(ctx, tree)
	out.Changed = slices.DeleteFunc(out.Changed, func(name string) bool { return m.IsReport(filepath.Join(tree.Path, filepath.FromSlash(name))) })
	return out, err
}

// planFor returns the plan of the checks for a copy. env are additional variables.
func planFor(ctx context.Context, tree treecopy.Tree, env []string) measure.Plan {
	p := tree.CheckPlan(ctx, tree.Meter)
	for i, c := range p.Checks {
		p.Checks[i].Env = slices.Concat(c.Env, env)
	}
	return p
}

// cleanHome makes an empty home folder next to a copy, and returns the variables for programs that use
// it. Another user has its own home folder. Python would reuse what it compiled of another version of
// a file with the same size and time.
func cleanHome(tree treecopy.Tree) ([]string, error) {
	env := []string{"PYTHONDONTWRITEBYTECODE=1"}
	if tree.User != nil {
		return env, nil
	}
	dir := filepath.Join(filepath.Dir(tree.Path), "home") // tools remember where packages are
	if err := ledger.RemoveTree(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	home, err := makeHome(dir, tree.Meter.Environ())
	return append(env, home...), err
}
