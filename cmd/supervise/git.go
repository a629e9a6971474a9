package main

import (
	"context"
	"os/exec"
	"strings"
)

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
