package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"supervise/snapshot"
)

// Commit is one commit of a history.
type Commit struct {
	ID      string    `json:"commit"`
	Time    time.Time `json:"time"` // of the commit
	Subject string    `json:"subject"`
	tree    string    // git's id of what it holds
	parent  string    // the first one, "" for a root
}

// Short is the name of the commit as people write it.
func (c Commit) Short() string { return c.ID[:min(len(c.ID), 10)] }

// repo is the user's repository. It is read and never written to.
type repo struct{ dir string }

// git runs a command of git that reads.
func (r repo) git(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.Env = r.dir, in, append(withoutGit(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("git %s in %s: %w: %s", args[0], r.dir, err, bytes.TrimSpace(exit.Stderr))
	case err != nil:
		return nil, fmt.Errorf("git %s in %s: %w", args[0], r.dir, err)
	}
	return out, nil
}

// withoutGit returns an environment in which git looks for nothing elsewhere.
func withoutGit(env []string) []string {
	out := make([]string, 0, len(env)+2)
	for _, line := range env {
		if !strings.HasPrefix(line, "GIT_") {
			out = append(out, line)
		}
	}
	return out
}

// IsRange reports whether the argument of a command names commits: REV..REV.
func IsRange(arg string) bool { return strings.Contains(arg, "..") }

const logFormat = "--format=%H%x00%T%x00%P%x00%cI%x00%s"

// commits lists the commits of a range along the first parents, the oldest first,
// with the one before them at the head; the latest limit of them where it is not
// zero.
func (r repo) commits(ctx context.Context, span string, limit int) ([]Commit, error) {
	if strings.Contains(span, "...") {
		return nil, fmt.Errorf("%w: %s; two dots stand between the ends, as in HEAD~50..HEAD", ErrRange, span)
	}
	args := []string{"log", "-z", "--first-parent", "--reverse", logFormat}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	list, err := r.log(ctx, append(args, "--end-of-options", span, "--"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRange, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: there is no commit in %s; the older end stands first, as in HEAD~50..HEAD", ErrRange, span)
	}
	if list[0].parent == "" {
		return list, nil
	}
	before, err := r.log(ctx, []string{"log", "-z", "--max-count=1", logFormat, "--end-of-options", list[0].parent, "--"})
	if err != nil {
		return nil, fmt.Errorf("%w: the commit before %s is not there (a shallow clone?): %w", ErrRange, list[0].Short(), err)
	}
	return append(before, list...), nil
}

func (r repo) log(ctx context.Context, args []string) ([]Commit, error) {
	out, err := r.git(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	var list []Commit
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 5; fields = fields[5:] {
		c := Commit{ID: fields[0], tree: fields[1], Subject: fields[4]}
		c.parent, _, _ = strings.Cut(fields[2], " ")
		if c.Time, err = time.Parse(time.RFC3339, fields[3]); err != nil {
			return nil, fmt.Errorf("read the log of git: %w", err)
		}
		list = append(list, c)
	}
	return list, nil
}

// delta are the changed files between two commits and how to read them.
type delta struct {
	changes []snapshot.Change
	before  map[string]string // ids of the contents by path
	after   map[string]string
	texts   map[string][]byte // by id
}

// changes compares two commits.
func (r repo) changes(ctx context.Context, from, to Commit) (*delta, error) {
	out, err := r.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", from.ID, to.ID)
	if err != nil {
		return nil, err
	}
	d := &delta{before: map[string]string{}, after: map[string]string{}, texts: map[string][]byte{}}
	var ids []string
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 2; fields = fields[2:] {
		row, path := strings.Fields(strings.TrimPrefix(fields[0], ":")), fields[1]
		if len(row) < 5 || row[0] == submodule || row[1] == submodule {
			continue
		}
		d.before[path], d.after[path] = row[2], row[3]
		kind := kinds[row[4][0]]
		if kind == snapshot.Modified && row[2] == row[3] {
			kind = snapshot.Mode
		}
		ids = append(ids, row[2], row[3])
		d.changes = append(d.changes, snapshot.Change{Path: path, Kind: kind})
	}
	return d, r.contents(ctx, ids, d.texts)
}

const submodule = "160000" // its mode

var kinds = map[byte]snapshot.ChangeKind{'A': snapshot.Added, 'D': snapshot.Deleted, 'M': snapshot.Modified, 'T': snapshot.Modified}

// read returns the text of a changed file, as [loop.Sources] wants it.
func (d *delta) read(path string, after bool) ([]byte, error) {
	id := d.before[path]
	if after {
		id = d.after[path]
	}
	return d.texts[id], nil
}

// contents reads the objects with the given ids; those that are none are left
// out.
func (r repo) contents(ctx context.Context, ids []string, into map[string][]byte) error {
	if len(ids) == 0 {
		return nil
	}
	out, err := r.git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for in := bufio.NewReader(bytes.NewReader(out)); ; {
		head, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read changed files: %w", err)
		}
		id, rest, _ := strings.Cut(strings.TrimSpace(head), " ")
		_, size, ok := strings.Cut(rest, " ")
		if !ok {
			continue // missing: the other side of a new or deleted file
		}
		n, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("read changed files: git says %q", head)
		}
		text := make([]byte, n+1) // and the end of the line
		if _, err := io.ReadFull(in, text); err != nil {
			return fmt.Errorf("read changed files: %w", err)
		}
		into[id] = text[:n]
	}
}
