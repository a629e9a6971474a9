package mergegate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"supervise/internal/projectfile"
)

// repo is the user's repository. Nothing is written to it but the refs of records,
// and what a fetch brings.
type repo struct {
	dir    string
	remote string // "" fetches nothing
}

// git runs a command of git; nothing of the repository's settings that runs a
// program on files has a say.
func (r repo) git(ctx context.Context, in []byte, args ...string) (string, error) {
	if err := projectfile.GitReady(r.dir, args...); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.Env = r.dir, append(outside(os.Environ()), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	if in != nil {
		cmd.Stdin = bytes.NewReader(in)
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &exit):
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}

// id returns the commit that a revision names, "" for none that is here.
func (r repo) id(ctx context.Context, rev string) string {
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// tree returns the id of a tree that is here.
func (r repo) tree(ctx context.Context, rev string) (string, error) {
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(out)
	_, err = r.git(ctx, nil, "cat-file", "-e", id)
	return id, err
}

// parents returns those of HEAD as the commit itself names them, which a shallow
// clone does not hold.
func (r repo) parents(ctx context.Context) ([]string, error) {
	text, err := r.git(ctx, nil, "cat-file", "commit", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("%w: read HEAD: %w", ErrBase, err)
	}
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if id, ok := strings.CutPrefix(line, "parent "); ok {
			out = append(out, id)
		}
	}
	return out, nil
}

func (r repo) mergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := r.git(ctx, nil, "merge-base", "--", a, b)
	return strings.TrimSpace(out), err
}

func (r repo) shallow(ctx context.Context) bool {
	out, err := r.git(ctx, nil, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(out) == "true"
}

// dirty reports whether the working tree, with what is untracked, differs from HEAD.
func (r repo) dirty(ctx context.Context) (bool, error) {
	out, err := r.git(ctx, nil, "status", "--porcelain", "--untracked-files=normal")
	return strings.TrimSpace(out) != "", err
}

// fetchTimeout bounds one exchange with the remote.
const fetchTimeout = 2 * time.Minute

// fetch fetches from the remote. The error is the reason why nothing was fetched.
func (r repo) fetch(ctx context.Context, args ...string) error {
	if r.remote == "" {
		return errors.New("nothing is fetched with --offline")
	}
	if _, err := r.git(ctx, nil, "remote", "get-url", "--", r.remote); err != nil {
		return fmt.Errorf("there is no remote %s", r.remote)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	args = append([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", args[0], r.remote}, args[1:]...)
	_, err := r.git(ctx, nil, args...)
	return err
}

// ancestors lists a commit and those before it along the first parents, as far as
// they are here.
func (r repo) ancestors(ctx context.Context, commit string, limit int) []string {
	out, err := r.git(ctx, nil, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(limit), "--end-of-options", commit, "--")
	if err != nil {
		return []string{commit}
	}
	return strings.Fields(out)
}

// outside returns the environment without what names a repository: a git hook
// passes its own. How the remote is reached stays.
func outside(env []string) []string {
	var out []string
	for _, line := range env {
		name, _, _ := strings.Cut(line, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE":
		default:
			out = append(out, line)
		}
	}
	return out
}
