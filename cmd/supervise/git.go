package main

import (
	"context"
	"os/exec"
	"strings"
)

// topLevel returns the root of the git checkout that holds dir, dir itself when
// there is none.
func topLevel(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel")
	cmd.Dir = dir
	out, err := cmd.Output()
	if top := strings.TrimSpace(string(out)); err == nil && top != "" {
		return top
	}
	return dir
}
