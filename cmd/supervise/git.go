package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// versioned says what is unusual about a tree's version control, "" when nothing
// is. The loop works all the same: it keeps snapshots of its own.
func versioned(ctx context.Context, root string) string {
	if topLevel(ctx, root) == "" {
		return root + " is not under git: ignored files cannot be told, except the usual folders of dependencies"
	}
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--verify", "--quiet", "HEAD")
	cmd.Dir = root
	if cmd.Run() != nil {
		return "this git repository has no commits yet: everything in it counts as uncommitted work, and is kept"
	}
	return ""
}

// topLevel returns the root of the git checkout that holds dir, "" when there
// is none.
func topLevel(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

// ignored reports whether git ignores a path; one that it tracks, or a folder with
// such, it does not, unless the patterns alone are asked for (--no-index).
func ignored(ctx context.Context, path string, flags ...string) bool {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"check-ignore", "--quiet"}, flags...), "--", filepath.Base(path))...)
	cmd.Dir = filepath.Dir(path)
	return cmd.Run() == nil
}

// refused says why git does not work in a folder that is in a repository, "" where it
// works or there is none.
func refused(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	_, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strings.Contains(string(exit.Stderr), "not a git repository") {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
	return strings.TrimPrefix(first, "fatal: ")
}

// kept refuses a project in a folder that git ignores: nothing that an agent does in
// there would be in a snapshot, nor put back. So it does where git cannot tell.
func kept(ctx context.Context, at place) error {
	if why := refused(ctx, at.here); why != "" {
		return usageError{fmt.Errorf("git does not work in %s: %s; mend that first, so that all of the repository is kept ('git status' says more)", at.here, why)}
	}
	for _, dir := range []string{at.project, at.here} {
		if dir != at.root && ignored(ctx, dir) {
			return usageError{fmt.Errorf("%s is ignored by the git repository in %s, so that nothing in it would be kept: make it a repository of its own (git init), or take it out of the ignored files", dir, at.root)}
		}
	}
	return nil
}

// partlyKept says so where only the files that git tracks already are kept.
func partlyKept(ctx context.Context, at place) string {
	if at.project == at.root || !ignored(ctx, at.project, "--no-index") {
		return ""
	}
	return at.project + " is among the ignored files of git: what git does not track there is in no snapshot, and comes not back"
}
