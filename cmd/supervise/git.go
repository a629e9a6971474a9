package main

import (
	"context"
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

// ignored reports whether git ignores a file; one that it tracks it does not.
func ignored(ctx context.Context, path string) bool {
	cmd := exec.CommandContext(ctx, "git", "check-ignore", "--quiet", filepath.Base(path))
	cmd.Dir = filepath.Dir(path)
	return cmd.Run() == nil
}
