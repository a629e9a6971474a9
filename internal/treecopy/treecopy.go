// Package treecopy makes private copies of a tree, and prepares them so that checks run in
// them.
//
// [Workspace.WithCopy] exports a snapshot to a new folder, and [Workspace.WithKept] to one that is
// kept. link.go links the installed dependencies of the working tree into the copy, ignored.go
// copies built files, and plan.go adapts the commands and variables of the checks to the copy.
package treecopy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/runner"
	"supervise/snapshot"
	"supervise/source"
)

// Workspace is what private copies of a tree are made from, and what runs checks in them.
type Workspace struct {
	Store   *snapshot.Store
	Meter   *measure.Meter
	Plan    measure.Plan // the plan of the meter
	Root    string       // the working tree; copies link to its dependency folders, and do not write to it
	Scratch string       // a private folder, in which copies are made and removed
	User    *runner.User // the user of the meter, who must have access to Scratch; nil: this process's

	Original *Original // how the tests of the base run; nil if Meter runs them
	Kept     *Kept     // the copy of [Workspace.WithKept]; nil: it makes a new one

	baseRoot string // the root of Original, if this is its workspace
}

// Original is how tests ran before the project declared another runner for them.
type Original struct {
	Meter *measure.Meter
	Root  string // the base with its dependency folders, which copies link to as well; "" if only the working tree has them
}

// HasOtherRunner reports whether another runner runs the tests now than at the base.
func (w Workspace) HasOtherRunner() bool { return w.Original != nil }

// ForOriginalTests returns the workspace for the original tests: its meter runs them as they ran at
// the base.
func (w Workspace) ForOriginalTests() Workspace {
	if w.Original == nil {
		return w
	}
	w.Meter, w.baseRoot = w.Original.Meter, w.Original.Root
	return w
}

// Tree is a private copy of a snapshot.
type Tree struct {
	Workspace
	Path  string     // its root
	stamp *time.Time // the latest time that Touch has set
}

// WithCopy makes a copy of a snapshot, calls work with it, and removes the copy. Its folder has the name
// of the working tree, which is part of the names of tests in some languages, and is alone in its parent.
func (w Workspace) WithCopy(ctx context.Context, id snapshot.ID, work func(Tree) error) (err error) {
	if err := os.MkdirAll(w.Scratch, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(w.Scratch, "tree-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.RemoveTree(dir)) }()
	t := Tree{w, filepath.Join(dir, filepath.Base(w.Root)), new(time.Time)}
	if err := t.fill(ctx, id); err != nil {
		return err
	}
	if w.User != nil {
		if err := w.User.Chown(dir); err != nil {
			return err
		}
	}
	return work(t)
}

// projectPath returns the path of the project in the tree, with slashes; "." if the project is
// the complete tree.
func (t Tree) projectPath() string {
	rel, err := filepath.Rel(t.Root, t.Plan.Root)
	if err != nil || !filepath.IsLocal(rel) {
		return "."
	}
	return filepath.ToSlash(rel)
}

// ProjectDir returns the folder of the project in the copy, where the checks run.
func (t Tree) ProjectDir() string { return filepath.Join(t.Path, filepath.FromSlash(t.projectPath())) }

// Env returns additional variables for other programs that run in the copy, see [ExtraEnv].
func (t Tree) Env(ctx context.Context, env []string) []string {
	p := t.Plan
	p.Root = t.ProjectDir()
	return ExtraEnv(ctx, p, t.Plan.Root, env)
}

// CheckPlan returns the plan of a meter, adapted to the copy.
func (t Tree) CheckPlan(ctx context.Context, m *measure.Meter) measure.Plan {
	return t.PlanFor(ctx, m, m.Plan().Checks...)
}

// PlanFor returns the plan of a meter with other checks, adapted to the copy.
func (t Tree) PlanFor(ctx context.Context, m *measure.Meter, list ...measure.Check) measure.Plan {
	p := m.Plan()
	p.Checks = list
	return PlanForCopy(ctx, MovePlan(p, t.ProjectDir()), p.Root, m.Environ())
}

// Restore replaces files of the copy by those of a snapshot. Files that the snapshot does not
// have are deleted.
func (t Tree) Restore(ctx context.Context, id snapshot.ID, files ...string) error {
	if len(files) == 0 {
		return nil
	}
	return t.Store.Export(ctx, id, t.Path, files...)
}

// Touch sets the times of files to one second or more after all times that it set before: what tools made
// of another version of a file may look valid for one of the same size and second. It ignores links and
// missing files.
func (t Tree) Touch(names ...string) error {
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	now := time.Now()
	if next := t.stamp.Add(time.Second); next.After(now) {
		now = next
	}
	*t.stamp = now
	for _, name := range names {
		name = filepath.FromSlash(name)
		info, err := root.Lstat(name)
		if err == nil && info.Mode().IsRegular() {
			err = root.Chtimes(name, now, now)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fill writes the files of a snapshot, and links the dependency folders to those of the working tree.
func (t Tree) fill(ctx context.Context, id snapshot.ID) error {
	if err := t.Store.Export(ctx, id, t.Path); err != nil {
		return err
	}
	files, err := t.Store.Files(id)
	if err != nil {
		return err
	}
	return t.linkDependencies(ctx, files)
}

// dependencyFolders are the folders and files that package managers install next to a
// manifest. An entry without a manifest applies to every project. Git usually ignores them.
var dependencyFolders = []struct{ folder, manifest string }{
	{"node_modules", "package.json"},
	{".yarn", "package.json"},
	{".pnp.cjs", "package.json"},
	{"bower_components", "bower.json"},
	{".venv", ""},
	{"venv", ""},
	{"env", "requirements.txt"},
	{"vendor", "go.mod"},
	{"vendor", "composer.json"},
	{"vendor", "Gemfile"},
	{".bundle", "Gemfile"},
	{"deps", "mix.exs"},
	{"Pods", "Podfile"},
	{"elm-stuff", "elm.json"},
}

// linkDependencies links the dependency folders of the copy to those of the working tree. It
// also copies what was built in the working tree for packages that are edited in place. files
// are those of the copy.
func (t Tree) linkDependencies(ctx context.Context, files []snapshot.File) error {
	for dir, names := range t.findProjects(files) {
		for _, d := range dependencyFolders {
			if d.manifest == "" || names[d.manifest] {
				if err := t.linkFolder(path.Join(dir, d.folder)); err != nil {
					return fmt.Errorf("reuse %s: %w", path.Join(dir, d.folder), err)
				}
			}
		}
	}
	return t.copyIgnored(ctx)
}

// findProjects returns the folders in which a project may start, each with the names of the
// manifests in it.
func (t Tree) findProjects(files []snapshot.File) map[string]map[string]bool {
	out := map[string]map[string]bool{".": {}}
	for _, c := range t.Plan.Checks {
		out[path.Join(t.projectPath(), c.Dir)] = map[string]bool{}
	}

	manifests := map[string]bool{}
	for _, d := range dependencyFolders {
		manifests[d.manifest] = true
	}

	for _, f := range files {
		dir, name := path.Dir(f.Path), path.Base(f.Path)
		if !manifests[name] || source.IsVendored(f.Path) {
			continue
		}
		if out[dir] == nil {
			out[dir] = map[string]bool{}
		}
		out[dir][name] = true
	}
	return out
}
