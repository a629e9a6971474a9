// Package standalone serves agents' hooks outside a loop. It judges their calls by the files on
// disk, and installs the hooks in the agents' own configuration.
package standalone

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/hook"
	"supervise/internal/projectfile"
	"supervise/internal/treediff"
)

// Judge judges a call without a supervisor, in the checkout at root. It compares the files on
// disk with those that git tracks. opt needs no tree.
func Judge(ctx context.Context, call hook.Call, root string, opt hook.Options) hook.Decision {
	d := hook.Decision{Verdict: hook.Allow}
	if !IsJudged(call) {
		return d
	}
	repo := treediff.Repo{Dir: root}
	opt.Tree = diskTree(ctx, repo)
	switch call.Event {
	case hook.PreTool:
		return hook.Judge(call, opt)
	case hook.PostTool:
		later := hook.DelayedWarning(call, opt)
		opt.Tree.Before = func(rel string) ([]byte, bool) {
			text, err := repo.Git(ctx, "cat-file", "blob", "HEAD:"+rel)
			return text, err == nil
		}
		d.Risks = hook.JudgeAfter(call, opt, nil)
		d.Context = strings.TrimSpace(later + "\n" + hook.WarningMessage(d.Risks))
	case hook.SessionStart:
		d.Context = hook.SessionMessage(0, 0)
	case hook.Stop, hook.OtherEvent:
	}
	return d
}

// IsJudged reports whether a call is judged without a supervisor.
func IsJudged(call hook.Call) bool {
	return call.Event != hook.Stop && call.Event != hook.OtherEvent && call.Kind != hook.OtherTool
}

// FindRoots returns the root of the git checkout that contains dir, and the nearest folder, up to
// that root, with a file of the given name. Without such a file, project is root. Without a
// checkout, both are that folder, or else dir.
func FindRoots(dir, name string) (root, project string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for folder := dir; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil && project == "" {
			project = folder
		}
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return folder, cmp.Or(project, folder)
		}
		if folder == filepath.Dir(folder) {
			return cmp.Or(project, dir), cmp.Or(project, dir)
		}
	}
}

// diskTree returns the tree of a checkout on disk. The files to protect are those that git
// tracks.
func diskTree(ctx context.Context, repo treediff.Repo) hook.Tree {
	return hook.Tree{
		Root: repo.Dir,
		Files: func() []string {
			tracked, err := repo.TrackedFiles(ctx)
			if err != nil {
				return nil
			}
			return slices.Sorted(maps.Keys(tracked))
		},
		Read:        func(rel string) ([]byte, bool) { return readFile(filepath.Join(repo.Dir, filepath.FromSlash(rel))) },
		ReadOutside: readFile,
	}
}

// readFile returns the content of a regular file, and false if it is missing or too large.
func readFile(path string) ([]byte, bool) {
	text, err := projectfile.ReadAnywhere(path, projectfile.Source)
	return text, err == nil
}
