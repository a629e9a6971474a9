package treecopy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/measure"
	"supervise/runner"
	"supervise/snapshot"
)

// prepareTimeout limits the preparation of a tree.
const prepareTimeout = 30 * time.Minute

// Project is the project in the working tree of the user.
type Project struct {
	Root  string       // the working tree
	Plan  measure.Plan // of the working tree
	Setup string       // command that the shell runs in the folder of the project, "" for none
}

// DirIn returns the folder of the project in a copy of the working tree.
func (p Project) DirIn(dir string) (string, error) {
	below, err := filepath.Rel(p.Root, p.Plan.Root)
	if err != nil {
		return "", fmt.Errorf("find the project in the tree: %w", err)
	}
	return filepath.Join(dir, below), nil
}

// Prepare links the dependencies of the working tree to the copy in dir, and runs the setup
// command of the user. files are those of the copy. why says why the command failed, "" if it
// did not. The files in hold stay open while it runs.
func (p Project) Prepare(ctx context.Context, dir string, files []snapshot.File, hold ...*os.File) (why string, err error) {
	if err := (Tree{Workspace: Workspace{Root: p.Root, Plan: p.Plan}, Path: dir}).linkDependencies(ctx, files); err != nil || p.Setup == "" {
		return "", err
	}
	dir, err = p.DirIn(dir)
	if err != nil {
		return "", err
	}
	words := runner.NewTail(4 << 10)
	res, err := runner.Run(ctx, runner.Command{
		Args: []string{"/bin/sh", "-c", p.Setup}, Dir: dir, Env: append(os.Environ(), "CI=true"),
		Stdout: words, Stderr: words, Timeout: prepareTimeout, KeepOpen: hold,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("prepare a checkout: %w", err)
	case res.Cause != runner.Exited || res.ExitCode != 0:
		line, _, _ := strings.Cut(strings.TrimSpace(words.String()), "\n")
		return strings.TrimSuffix(fmt.Sprintf("the setup command failed: %s, status %d: %s", res.Cause, res.ExitCode, line), ": "), nil
	}
	return "", nil
}
