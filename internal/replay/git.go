package replay

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supervise/internal/treediff"
	"supervise/snapshot"
)

// Commit is one commit of a history.
type Commit struct {
	ID      string    `json:"commit"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
	tree    string    // ID of its tree
	parent  string    // first parent, "" for a root
}

// Short returns the abbreviated ID.
func (c Commit) Short() string { return c.ID[:min(len(c.ID), 10)] }

// repo is the user's repository. The methods only read it.
type repo struct{ treediff.Repo }

// IsRange reports whether the argument of a command is a range of commits, as in HEAD~50..HEAD.
func IsRange(arg string) bool { return strings.Contains(arg, "..") }

// logFormat makes git log print five fields for each commit, separated by NUL: the IDs of the
// commit, of its tree and of its parents, the date of the commit, and the subject.
const logFormat = "--format=%H%x00%T%x00%P%x00%cI%x00%s"

// commits lists the commits of a range along the first parents, the oldest first. The list starts
// with the commit before the range, unless the range starts with a root. If limit is not 0, only
// the latest commits are listed, as many as limit says.
func (r repo) commits(ctx context.Context, span string, limit int) ([]Commit, error) {
	if strings.Contains(span, "...") {
		return nil, fmt.Errorf("%w: %s; put two dots between the ends, as in HEAD~50..HEAD", ErrRange, span)
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
		return nil, fmt.Errorf("%w: there is no commit in %s; the older end comes first, as in HEAD~50..HEAD", ErrRange, span)
	}
	if list[0].parent == "" {
		return list, nil
	}

	base, err := r.log(ctx, []string{"log", "-z", "--max-count=1", logFormat, "--end-of-options", list[0].parent, "--"})
	if err != nil {
		return nil, fmt.Errorf("%w: the commit before %s is missing (a shallow clone?): %w", ErrRange, list[0].Short(), err)
	}
	return append(base, list...), nil
}

// log runs git log with the arguments, which include -z and [logFormat], and parses its output.
func (r repo) log(ctx context.Context, args []string) ([]Commit, error) {
	out, err := r.Git(ctx, args...)
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

// fileChanges are the changed files between two commits, with their contents.
type fileChanges struct {
	changes []snapshot.Change
	before  map[string]string // blob IDs by path
	after   map[string]string
	texts   map[string][]byte // contents by blob ID
}

// diff returns the changes between two commits, without submodules. It parses the raw format of
// git diff-tree, in which each file has two fields, separated by NUL:
//
//	:100644 100644 <blob before> <blob after> M
//	path/to/file
func (r repo) diff(ctx context.Context, from, to Commit) (*fileChanges, error) {
	out, err := r.Git(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", from.ID, to.ID)
	if err != nil {
		return nil, err
	}

	d := &fileChanges{before: map[string]string{}, after: map[string]string{}}
	var ids []string
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 2; fields = fields[2:] {
		row, path := strings.Fields(strings.TrimPrefix(fields[0], ":")), fields[1]
		if len(row) < 5 || row[0] == submoduleMode || row[1] == submoduleMode {
			continue
		}
		d.before[path], d.after[path] = row[2], row[3]
		kind := changeKinds[row[4][0]]
		if kind == snapshot.Modified && row[2] == row[3] {
			kind = snapshot.Mode
		}
		ids = append(ids, row[2], row[3])
		d.changes = append(d.changes, snapshot.Change{Path: path, Kind: kind})
	}

	if d.texts, err = r.ReadObjects(ctx, ids); err != nil {
		return nil, err
	}
	return d, nil
}

// submoduleMode is the file mode of a submodule in git.
const submoduleMode = "160000"

// changeKinds maps the status letters of git diff-tree to kinds of changes.
var changeKinds = map[byte]snapshot.ChangeKind{'A': snapshot.Added, 'D': snapshot.Deleted, 'M': snapshot.Modified, 'T': snapshot.Modified}

// read returns the text of a changed file before or after the change, nil if the file did not
// exist then. It has the signature of [evidence.Reader].
func (d *fileChanges) read(path string, after bool) ([]byte, error) {
	id := d.before[path]
	if after {
		id = d.after[path]
	}
	return d.texts[id], nil
}
