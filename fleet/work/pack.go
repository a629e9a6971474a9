package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/git"
)

// remote is the repository of a task, as a worker has it, and the refs by which workers hand
// each other what they did.
type remote struct {
	objects
	refs
	url string
}

// refs are names of commits that all workers see.
type refs interface {
	// read returns which commit a ref is, "" where there is none.
	read(ctx context.Context, ref string) (string, error)
	// fetch makes a commit of a ref be there.
	fetch(ctx context.Context, ref, id string) error
	// write writes a ref if it is still what it was; "" for a new one. Otherwise the error
	// wraps [errMoved]. Everybody has the commit base.
	write(ctx context.Context, ref, id, was, base string) error
	// remove removes refs that are there.
	remove(ctx context.Context, refs ...string) error
}

// objects is a repository without a tree, in which the objects of all tasks are that have
// the same one.
type objects struct{ dir string }

// openObjects makes the copy of a repository where there is none.
func openObjects(ctx context.Context, dir, url string) (objects, error) {
	r := objects{dir: dir}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		return r, nil
	}
	temp := dir + ".new"
	err := errors.Join(os.RemoveAll(temp), os.MkdirAll(filepath.Dir(dir), 0o700))
	if err == nil {
		_, err = git.NewCommand(filepath.Dir(dir), "init", "-q", "--bare", temp).Output(ctx)
	}
	if err == nil {
		// Whatever the attributes of a state say, its files are kept as they are.
		err = os.WriteFile(filepath.Join(temp, "info", "attributes"), []byte("* -text -filter -ident -working-tree-encoding\n"), 0o600)
	}
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return r, fmt.Errorf("copy %s: %w", url, err)
	}
	return r, nil
}

func (r objects) git(ctx context.Context, args ...string) (string, error) {
	out, err := git.NewCommand(r.dir, args...).Output(ctx)
	return strings.TrimSpace(string(out)), err
}

// has reports whether all these commits are there, with what they need.
func (r objects) has(ctx context.Context, ids ...string) bool {
	for _, id := range ids {
		if _, err := r.git(ctx, "cat-file", "-e", id+"^{tree}"); err != nil {
			return false
		}
	}
	return true
}

// commit fetches a commit, branch or tag, and returns the commit.
func (r *remote) commit(ctx context.Context, name string) (string, error) {
	if name == "" {
		name = "HEAD"
	}
	if id, err := r.git(ctx, "rev-parse", "-q", "--verify", name+"^{commit}"); err == nil && len(name) >= 40 {
		return id, nil
	}
	if _, err := r.git(ctx, "fetch", "-q", "--no-tags", r.url, name); err != nil {
		// A server that gives no single commits gives its branches.
		if _, all := r.git(ctx, "fetch", "-q", r.url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"); all != nil {
			return "", err
		}
		return r.git(ctx, "rev-parse", "-q", "--verify", name+"^{commit}")
	}
	return r.git(ctx, "rev-parse", "FETCH_HEAD^{commit}")
}

// pack makes a commit of a folder, after another one; "" for the first.
func (r objects) pack(ctx context.Context, dir, after, says string) (string, error) {
	index := dir + ".index"
	defer os.Remove(index)
	in := func(args ...string) (string, error) {
		c := git.Command{Dir: dir, Args: append([]string{"--git-dir=" + r.dir, "--work-tree=" + dir}, args...), Env: append(os.Environ(), "GIT_INDEX_FILE="+index), KeepRepoEnv: true}
		out, err := c.Output(ctx)
		return strings.TrimSpace(string(out)), err
	}
	if after != "" { // what is as it was is not read again
		if _, err := in("read-tree", after); err != nil {
			return "", err
		}
	}
	if _, err := in("add", "-A", "-f", "--", "."); err != nil {
		return "", err
	}
	tree, err := in("write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"-c", "user.name=supervise-fleet", "-c", "user.email=fleet@localhost", "commit-tree", tree, "-m", says}
	if after != "" {
		args = append(args, "-p", after)
	}
	return r.git(ctx, args...)
}

// keep brings a state, with what a step came to in a file of it, into a new ref. The error
// wraps [errMoved] where there is one already.
func (r *remote) keep(ctx context.Context, dir, ref string, as document, says string) (id string, err error) {
	text, err := json.Marshal(as.value)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, as.name), text, 0o600)
	}
	if err == nil {
		id, err = r.pack(ctx, dir, "", says)
	}
	if err == nil {
		err = r.write(ctx, ref, id, "", "")
	}
	return id, err
}

// kept reads what [remote.keep] has kept, and returns its commit, "" where there is none.
func (r *remote) kept(ctx context.Context, ref string, into document) (id string, err error) {
	if id, err = r.read(ctx, ref); err != nil || id == "" {
		return "", err
	}
	if err := r.fetch(ctx, ref, id); err != nil {
		return "", err
	}
	text, err := r.git(ctx, "cat-file", "blob", id+":"+into.name)
	if err == nil {
		err = json.Unmarshal([]byte(text), into.value)
	}
	return id, err
}

// document is a value that is kept as a file in a state.
type document struct {
	name  string
	value any
}

// unpack makes a folder what a commit, or a folder in it, holds.
func (r objects) unpack(ctx context.Context, tree, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	index := filepath.Clean(dir) + ".index"
	defer os.Remove(index)
	env := append(os.Environ(), "GIT_INDEX_FILE="+index)
	for _, args := range [][]string{{"read-tree", tree}, {"checkout-index", "-a", "-f", "-q"}} {
		c := git.Command{Dir: dir, Args: append([]string{"--git-dir=" + r.dir, "--work-tree=" + dir}, args...), Env: env, KeepRepoEnv: true}
		if _, err := c.Output(ctx); err != nil {
			return fmt.Errorf("unpack %s: %w", tree, err)
		}
	}
	return nil
}

// tree makes a repository with the given commit checked out, that shares the objects.
func (r objects) tree(ctx context.Context, dir, commit string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	if _, err := git.NewCommand(dir, "init", "-q").Output(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(filepath.Join(r.dir, "objects")+"\n"), 0o600); err != nil {
		return err
	}
	_, err := git.NewCommand(dir, "checkout", "-q", "--detach", commit).Output(ctx)
	return err
}
