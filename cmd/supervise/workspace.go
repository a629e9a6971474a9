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

	"github.com/spf13/cobra"
)

// workspace has the folders in which a command works. Each of the first three contains the one before
// it.
type workspace struct {
	here    string // the folder of the user, in which the agent runs
	project string // the nearest parent with a configuration or a known project, in which the checks run
	root    string // the working tree: the top of the git checkout, or the project without git
	home    string // the folder of the loops of the tree; only [app.workspaceAndHome] sets it
}

// workspace returns the workspace of the current folder, or of that of -C.
func (a *app) workspace(ctx context.Context) (workspace, error) {
	here, err := filepath.Abs(a.dir)
	if err != nil {
		return workspace{}, fmt.Errorf("find the working tree: %w", err)
	}
	if here, err = filepath.EvalSymlinks(here); errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; if it was deleted, create an empty folder there: supervise rollback restores its files", err)
	}
	if info, statErr := os.Stat(here); err == nil && statErr == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder; give -C a folder", here)
	}
	if err != nil {
		return workspace{}, usageError{fmt.Errorf("find the working tree: %w", err)}
	}
	if err := git.CheckFiles(here); err != nil {
		return workspace{}, usageError{err}
	}

	top := treediff.Repo{Dir: here}.TopLevel(ctx)
	p := workspace{here: here, project: here, root: top}
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

// home returns the folder for the loops of the working tree root.
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

// workspaceAndHome is like [app.workspace], and also finds the folder of the loops.
func (a *app) workspaceAndHome(ctx context.Context) (at workspace, err error) {
	if at, err = a.workspace(ctx); err == nil {
		at.home, err = a.home(at.root)
	}
	return at, err
}

// inWorkspace returns a function for a command that finds the workspace and calls run.
func inWorkspace(find func(context.Context) (workspace, error), run func(context.Context, workspace) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		at, err := find(cmd.Context())
		if err != nil {
			return err
		}
		return run(cmd.Context(), at)
	}
}

// loadSettings loads the configuration in a folder.
func (a *app) loadSettings(dir string) (config.Settings, error) { return a.loadSettingsFor(dir, dir) }

// loadSettingsFor loads the configuration in the folder dir as if it were in the folder home.
func (a *app) loadSettingsFor(dir, home string) (s config.Settings, err error) {
	if a.config != "" {
		s, err = config.Load(a.config, true)
	} else {
		s, err = config.LoadFrom(config.Path(dir), false, home)
	}
	s.ChangeMutants.Off = s.ChangeMutants.Off || os.Getenv("SUPERVISE_CHANGE_MUTANTS") == "off"
	return s, err
}

// requireGit returns an error if the working tree is not under git. what names the command that
// needs it.
func (p workspace) requireGit(ctx context.Context, what string) error {
	if (treediff.Repo{Dir: p.root}).TopLevel(ctx) == "" {
		return usageError{fmt.Errorf("%s: %s is not under git", what, p.root)}
	}
	return nil
}

// requireSnapshots returns an error if snapshots would be incomplete: git fails, or it ignores the
// folder of the project.
func (p workspace) requireSnapshots(ctx context.Context) error {
	if why := (treediff.Repo{Dir: p.here}).Refusal(ctx); why != "" {
		return usageError{fmt.Errorf("git does not work in %s: %s; fix that first ('git status' says more), otherwise snapshots would be incomplete", p.here, why)}
	}
	for _, dir := range []string{p.project, p.here} {
		if dir != p.root && treediff.IsIgnored(ctx, dir) {
			return usageError{fmt.Errorf("%s is ignored by the git repository in %s, so no snapshot would contain its files: make it a separate repository (git init), or remove it from the ignored files", dir, p.root)}
		}
	}
	return nil
}

// versionControlNotes returns notes about the version control of the tree. They do not prevent a
// loop, which keeps its own snapshots.
func (p workspace) versionControlNotes(ctx context.Context) (out []string) {
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
