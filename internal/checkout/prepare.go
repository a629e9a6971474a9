package checkout

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"supervise/runner"
)

// prepareTimeout limits the preparation of a tree.
const prepareTimeout = 30 * time.Minute

// Prepare runs the user's shell command in dir, a folder of the tree; "" runs nothing.
// why says why the command failed.
func (t *Tree) Prepare(ctx context.Context, command, dir string) (why string, err error) {
	if command == "" {
		return "", nil
	}
	words := runner.NewTail(4 << 10)
	res, err := runner.Run(ctx, runner.Command{
		Args: []string{"/bin/sh", "-c", command}, Dir: dir, Env: append(os.Environ(), "CI=true"),
		Stdout: words, Stderr: words, Timeout: prepareTimeout, Hold: []*os.File{t.Lock},
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("prepare a checkout: %w", err)
	case res.Cause != runner.Exited || res.ExitCode != 0:
		said, _, _ := strings.Cut(strings.TrimSpace(words.String()), "\n")
		return fmt.Sprintf("the setup command failed: %s, status %d: %s", res.Cause, res.ExitCode, said), nil
	}
	return "", nil
}
