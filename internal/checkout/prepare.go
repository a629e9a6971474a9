package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/holdout"
	"supervise/internal/measure"
	"supervise/runner"
	"supervise/snapshot"
)

// prepareTimeout limits the preparation of a tree.
const prepareTimeout = 30 * time.Minute

// Project is what is checked in the user's working tree.
type Project struct {
	Root  string       // the working tree
	Plan  measure.Plan // for it
	Setup string       // run by the shell in the folder of the project, "" for nothing
}

// Of is the folder of the project in the tree.
func (t *Tree) Of(p Project) (string, error) {
	below, err := filepath.Rel(p.Root, p.Plan.Root)
	if err != nil {
		return "", fmt.Errorf("find the project in the tree: %w", err)
	}
	return filepath.Join(t.Dir, below), nil
}

// Prepare links what is installed in the user's working tree to the tree, which holds
// the files, and runs the user's setup. why says why that failed.
func (t *Tree) Prepare(ctx context.Context, files []snapshot.File, p Project) (why string, err error) {
	if err := holdout.Reuse(t.Dir, p.Root, p.Plan, files); err != nil || p.Setup == "" {
		return "", err
	}
	dir, err := t.Of(p)
	if err != nil {
		return "", err
	}
	words := runner.NewTail(4 << 10)
	res, err := runner.Run(ctx, runner.Command{
		Args: []string{"/bin/sh", "-c", p.Setup}, Dir: dir, Env: append(os.Environ(), "CI=true"),
		Stdout: words, Stderr: words, Timeout: prepareTimeout, Hold: []*os.File{t.Lock},
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("prepare a checkout: %w", err)
	case res.Cause != runner.Exited || res.ExitCode != 0:
		said, _, _ := strings.Cut(strings.TrimSpace(words.String()), "\n")
		return strings.TrimSuffix(fmt.Sprintf("the setup command failed: %s, status %d: %s", res.Cause, res.ExitCode, said), ": "), nil
	}
	return "", nil
}
