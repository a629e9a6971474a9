package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"supervise/internal/config"
	"supervise/internal/git"
	"supervise/internal/ledger"
	"supervise/internal/treediff"
)

// place is where a command works.
type place struct {
	here    string // the folder the user is in: the agent runs there
	project string // the nearest folder, upwards, with a configuration or a known project: the checks run there
	root    string // the working tree: the top of the git checkout, else the project
}

// place finds out where the user is.
func (a *app) place(ctx context.Context) (place, error) {
	here, err := filepath.Abs(a.dir)
	if err != nil {
		return place{}, fmt.Errorf("find the working tree: %w", err)
	}
	if here, err = filepath.EvalSymlinks(here); errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; if it was deleted, make an empty folder there: supervise rollback fills it again", err)
	}
	if info, statErr := os.Stat(here); err == nil && statErr == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder; give -C a folder", here)
	}
	if err != nil {
		return place{}, usageError{fmt.Errorf("find the working tree: %w", err)}
	}
	if err := git.CheckFiles(here); err != nil {
		return place{}, usageError{err}
	}
	top := treediff.Repo{Dir: here}.TopLevel(ctx)
	p := place{here: here, project: here, root: top}
	for dir := here; ; dir = filepath.Dir(dir) {
		if config.IsProject(dir) {
			p.project = dir
			break
		}
		if dir == top || dir == filepath.Dir(dir) || top == "" {
			break
		}
	}
	if p.root == "" {
		p.root = p.project
	}
	return p, nil
}

// home returns the folder of the loops in root.
func (a *app) home(root string) (string, error) {
	if a.state != "" {
		if filepath.IsAbs(a.state) {
			return filepath.Clean(a.state), nil
		}
		return filepath.Join(root, a.state), nil
	}
	base, err := ledger.DefaultBase(os.Getenv)
	if err != nil {
		return "", err
	}
	return ledger.Home(base, root), nil
}

// located finds out where the user is, and the folder of the loops there.
func (a *app) located(ctx context.Context) (at place, home string, err error) {
	if at, err = a.place(ctx); err == nil {
		home, err = a.home(at.root)
	}
	return at, home, err
}

// settings loads the configuration of the working tree.
func (a *app) settings(dir string) (config.Settings, error) { return a.settingsFor(dir, dir) }

// settingsFor loads the configuration in a folder as if it were in home.
func (a *app) settingsFor(dir, home string) (config.Settings, error) {
	if a.config != "" {
		return config.Load(a.config, true)
	}
	return config.LoadFrom(config.Path(dir), false, home)
}

// underGit refuses a working tree that is not under git.
func (p place) underGit(ctx context.Context, what string) error {
	if (treediff.Repo{Dir: p.root}).TopLevel(ctx) == "" {
		return usageError{fmt.Errorf("%s: %s is not under git", what, p.root)}
	}
	return nil
}

// kept refuses a project in a folder that git ignores: no snapshot would hold what an
// agent does there, and nothing could be restored. So it does where git fails.
func (p place) kept(ctx context.Context) error {
	if why := (treediff.Repo{Dir: p.here}).Refusal(ctx); why != "" {
		return usageError{fmt.Errorf("git does not work in %s: %s; fix that first ('git status' says more), otherwise snapshots would be incomplete", p.here, why)}
	}
	for _, dir := range []string{p.project, p.here} {
		if dir != p.root && treediff.IsIgnored(ctx, dir) {
			return usageError{fmt.Errorf("%s is ignored by the git repository in %s, so no snapshot would hold its files: make it a repository of its own (git init), or remove it from the ignored files", dir, p.root)}
		}
	}
	return nil
}

// notes says what a user should know of the tree's version control before a loop. The
// loop works all the same: it keeps snapshots of its own.
func (p place) notes(ctx context.Context) (out []string) {
	switch repo := (treediff.Repo{Dir: p.root}); {
	case repo.TopLevel(ctx) == "":
		out = append(out, p.root+" is not under git: no file counts as ignored, except the usual folders of dependencies")
	case !repo.HasCommits(ctx):
		out = append(out, "this git repository has no commits yet: every file in it is uncommitted work, and is kept")
	}
	if p.project != p.root && treediff.IsIgnoredByPattern(ctx, p.project) {
		out = append(out, p.project+" is ignored by git: files there that git does not track are in no snapshot and cannot be restored")
	}
	return out
}
