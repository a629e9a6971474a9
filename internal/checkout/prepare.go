package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/originaltests"
	"supervise/internal/projectfile"
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

// Ignore has git ignore the links of the tree to what is installed in the folder root: they
// are no work, and lead elsewhere in a tree that is made again elsewhere. A pattern that
// ignores a folder does not ignore a link of that name.
func (t *Tree) Ignore(ctx context.Context, root string) error {
	list, err := t.Git(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	path := filepath.Join(t.Dir, ".git", "info", "exclude")
	text, err := projectfile.Read(path, projectfile.Git)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("for a checkout: %w", err)
	}
	had := len(text)
	for name := range strings.SplitSeq(list, "\x00") {
		to, err := os.Readlink(filepath.Join(t.Dir, filepath.FromSlash(name)))
		if _, inside := ledger.Inside(to, root); name != "" && err == nil && inside && filepath.IsAbs(to) {
			text = fmt.Appendf(text, "\n/%s\n", escape(name))
		}
	}
	if len(text) == had {
		return nil
	}
	return ledger.WriteFile(path, text)
}

// Prepare links what is installed in the user's working tree to the tree, which holds
// the files, and runs the user's setup. why says why that failed.
func (t *Tree) Prepare(ctx context.Context, files []snapshot.File, p Project) (why string, err error) {
	if err := originaltests.Reuse(ctx, t.Dir, p.Root, p.Plan, files); err != nil || p.Setup == "" {
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
