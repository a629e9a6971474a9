package mergegate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supervise/internal/git"
)

// repo is the user's repository. The gate writes nothing to it but refs of records and fetched
// objects.
type repo struct {
	dir    string
	remote string // "" fetches nothing
}

// git runs git with the arguments, with in as its input, and returns its output.
func (r repo) git(ctx context.Context, in []byte, args ...string) (string, error) {
	c := git.NewCommand(r.dir, args...)
	if in != nil {
		c.Stdin = bytes.NewReader(in)
	}
	out, err := c.Output(ctx)
	return string(out), err
}

// commitID returns the commit of a revision, "" if the repository does not have it.
func (r repo) commitID(ctx context.Context, rev string) string {
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// treeID returns the ID of the object that a revision such as HEAD^{tree} names. It is an error if
// the object is missing.
func (r repo) treeID(ctx context.Context, rev string) (string, error) {
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(out)
	_, err = r.git(ctx, nil, "cat-file", "-e", id)
	return id, err
}

// parents returns the parents that the commit HEAD names. In a shallow clone, these commits may be
// missing.
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

// mergeBase returns the best common ancestor of two revisions, and an error if there is none.
func (r repo) mergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := r.git(ctx, nil, "merge-base", "--", a, b)
	return strings.TrimSpace(out), err
}

// isAncestor reports whether a commit is another one or an ancestor of it.
func (r repo) isAncestor(ctx context.Context, a, b string) bool {
	_, err := r.git(ctx, nil, "merge-base", "--is-ancestor", "--", a, b)
	return err == nil
}

// trackedBranch returns the remote and the branch of a remote-tracking branch, "" for other
// revisions.
func (r repo) trackedBranch(ctx context.Context, rev string) (remote, branch string) {
	out, err := r.git(ctx, nil, "rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", rev)
	name, ok := strings.CutPrefix(strings.TrimSpace(out), "refs/remotes/")
	if err != nil || !ok {
		return "", ""
	}
	remote, branch, _ = strings.Cut(name, "/")
	return remote, branch
}

// remoteTip returns the commit of a branch at the remote, "" if it cannot be read.
func (r repo) remoteTip(ctx context.Context, branch string) string {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	out, err := r.git(ctx, nil, "ls-remote", "--quiet", "--refs", "--", r.remote, "refs/heads/"+branch)
	if err != nil {
		return ""
	}
	id, _, _ := strings.Cut(out, "\t")
	return id
}

// isShallow reports whether the repository is a shallow clone.
func (r repo) isShallow(ctx context.Context) bool {
	out, err := r.git(ctx, nil, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(out) == "true"
}

// isDirty reports whether the working tree, including untracked files, differs from HEAD.
func (r repo) isDirty(ctx context.Context) (bool, error) {
	out, err := r.git(ctx, nil, "status", "--porcelain", "--untracked-files=normal")
	return strings.TrimSpace(out) != "", err
}

// fetchTimeout limits one exchange with the remote.
const fetchTimeout = 2 * time.Minute

// fetch runs git fetch from the remote. The first argument is an option, and the others are what to
// fetch.
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

// ancestors returns a commit and its ancestors along the first parents, at most limit commits, as
// far as they are in the repository.
func (r repo) ancestors(ctx context.Context, commit string, limit int) []string {
	out, err := r.git(ctx, nil, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(limit), "--end-of-options", commit, "--")
	if err != nil {
		return []string{commit}
	}
	return strings.Fields(out)
}
