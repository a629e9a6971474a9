package treediff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"supervise/integrity"
	"supervise/internal/git"
)

// ErrRevision is wrapped by errors about names that are neither a commit nor a tree.
var ErrRevision = errors.New("git does not know it")

// Repo is a git repository, bare or not, or a folder in its working tree. The package never
// writes to it.
type Repo struct{ Dir string }

// git runs a git command that only reads, and returns its output. in is its standard input,
// nil for none.
func (r Repo) git(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	args = append([]string{"-c", "diff.renameLimit=1000", "--no-replace-objects"}, args...)
	return git.Command{Dir: r.Dir, Args: args, Stdin: in}.Output(ctx)
}

// Git runs a git command that only reads, and returns its output. The error is the cause of
// ctx, or git's message.
func (r Repo) Git(ctx context.Context, args ...string) ([]byte, error) {
	return r.git(ctx, nil, args...)
}

// ReadObjects reads objects, and returns their contents by id. It omits missing objects and
// those longer than [MaxSize].
func (r Repo) ReadObjects(ctx context.Context, ids []string) (map[string][]byte, error) {
	read, err := r.readContents(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(read))
	for id, c := range read {
		if c.text != nil {
			out[id] = c.text
		}
	}
	return out, nil
}

// TrackedFiles lists the files below r.Dir in git's index, relative to it and with slashes,
// whether they exist in the working tree or not.
func (r Repo) TrackedFiles(ctx context.Context) (map[string]bool, error) {
	out, err := r.git(ctx, nil, "ls-files", "-z")
	return splitNames(out), err
}

// HistoryFiles lists the files below r.Dir in a revision, and the files that commits or stashes
// since a time have changed, including unreachable ones.
func (r Repo) HistoryFiles(ctx context.Context, rev string, since time.Time) (map[string]bool, error) {
	out, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "--name-only", rev)
	if err != nil {
		return nil, err
	}
	later, err := r.git(ctx, nil, "log", "--all", "--reflog", "-m", "--relative", "--no-renames", "--format=", "--name-only", "-z", "--since="+strconv.FormatInt(since.Unix(), 10))
	return splitNames(append(out, later...)), err
}

// splitNames returns a set of names, each of which ends with a zero byte in out.
func splitNames(out []byte) map[string]bool {
	files := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			files[name] = true
		}
	}
	return files
}

// ResolveRange returns the ids of the two trees that a range like HEAD~5..HEAD compares. A
// single revision REV means its own change, REV^..REV. A root commit has no REV^, so it is
// compared with the empty tree.
func (r Repo) ResolveRange(ctx context.Context, arg string) (from, to string, err error) {
	from, to, isRange := strings.Cut(arg, "..")
	switch {
	case strings.HasPrefix(to, "."):
		return "", "", fmt.Errorf("%s: write two dots between the ends, as in HEAD~5..HEAD", arg)
	case isRange && to == "":
		to = "HEAD"
	case isRange && from == "":
		from = "HEAD"
	case !isRange:
		from, to = arg+"^", arg
	}

	if to, err = r.treeID(ctx, to); err != nil {
		return "", "", err
	}

	id, err := r.treeID(ctx, from)
	if err != nil && !isRange {
		return r.emptyTree(ctx, to)
	}
	return id, to, err
}

// treeID returns the id of the tree of a commit or a tree.
func (r Repo) treeID(ctx context.Context, rev string) (string, error) {
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{tree}")
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("%s: %w in %s as a commit or a tree", rev, ErrRevision, r.Dir)
	}
	return strings.TrimSpace(string(out)), nil
}

// emptyTree returns the id of the empty tree, in the repository's object format, and to
// unchanged.
func (r Repo) emptyTree(ctx context.Context, to string) (from, same string, err error) {
	out, err := r.git(ctx, nil, "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(out)), to, err
}

// CompareTrees returns the files that differ between two trees, whose ids ResolveRange
// returns.
func (r Repo) CompareTrees(ctx context.Context, from, to string) (Change, error) {
	out, err := r.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "-M40%", "--full-index", from, to)
	if err != nil {
		return Change{}, err
	}

	rows := parseRaw(string(out))
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.before, row.after)
	}

	texts, err := r.readContents(ctx, ids)
	if err != nil {
		return Change{}, err
	}

	var c Change
	for _, row := range rows {
		c.add(integrity.File{Path: row.path, OldPath: row.oldPath}, texts[row.before], texts[row.after])
	}
	c.sort()
	c.Base = r.treeAt(ctx, from, nil)
	return c, nil
}

// BaseTree returns the project at a commit or a tree, read on demand.
func (r Repo) BaseTree(ctx context.Context, rev string) integrity.Tree {
	return r.treeAt(ctx, rev, nil)
}

// treeAt returns the project at a commit or a tree. files maps its paths to ids; if it is nil,
// the list is read on demand.
func (r Repo) treeAt(ctx context.Context, id string, files map[string]string) integrity.Tree {
	list := sync.OnceValue(func() map[string]string {
		if files == nil {
			files, _ = r.listTree(ctx, id) // an error leaves it empty
		}
		return files
	})
	return newTree(
		func() []string { return slices.Sorted(maps.Keys(list())) },
		func(paths []string) map[string]*content {
			var ids []string
			for _, p := range paths {
				ids = append(ids, list()[p])
			}
			texts, _ := r.readContents(ctx, ids) // an error leaves it empty
			out := map[string]*content{}
			for _, p := range paths {
				out[p] = texts[list()[p]]
			}
			return out
		})
}

// rawRow is one file in the output of git diff-tree --raw.
type rawRow struct {
	before, after string // ids of the contents; only zeros for a missing file
	path, oldPath string // oldPath is "" unless the file was renamed
}

const submodule = "160000" // the mode of a submodule in a tree

// parseRaw reads the output of git diff-tree --raw -z, without submodules. Each file has two
// or three fields that end in a zero byte: ":100644 100644 OLD NEW M" and the path, or for a
// rename ":100644 100644 OLD NEW R90", the old path and the new path.
func parseRaw(out string) []rawRow {
	var rows []rawRow
	for fields := strings.Split(out, "\x00"); len(fields) >= 2; {
		head := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(head) < 5 {
			return rows
		}
		row := rawRow{before: head[2], after: head[3], path: fields[1]}
		fields = fields[2:]
		if k := head[4][0]; (k == 'R' || k == 'C') && len(fields) > 0 {
			row.oldPath, row.path, fields = row.path, fields[0], fields[1:]
		}
		if head[0] != submodule && head[1] != submodule {
			rows = append(rows, row)
		}
	}
	return rows
}

// readContents reads objects, and returns them by id. It omits missing objects. Objects that
// are too long have no text. It asks git for the sizes first, because git would read even a
// very long object into memory.
func (r Repo) readContents(ctx context.Context, ids []string) (map[string]*content, error) {
	out := map[string]*content{}
	var readable []string
	err := r.catFile(ctx, "--batch-check", ids, func(id string, size int64, _ io.Reader) error {
		if size > MaxSize {
			out[id] = &content{size: size}
		} else {
			readable = append(readable, id)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	err = r.catFile(ctx, "--batch", readable, func(id string, size int64, in io.Reader) error {
		text := make([]byte, size+1) // with the line feed after it
		if _, err := io.ReadFull(in, text); err != nil {
			return fmt.Errorf("read changed files: %w", err)
		}
		out[id] = &content{text: text[:size:size], size: size}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// catFile runs git cat-file with an option for objects, and calls do with each object that
// exists. in is at the start of its content if the option makes git write that.
func (r Repo) catFile(ctx context.Context, option string, ids []string, do func(id string, size int64, in io.Reader) error) error {
	if len(ids) == 0 {
		return nil
	}
	data, err := r.git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file", option)
	if err != nil {
		return err
	}
	for in := bufio.NewReader(bytes.NewReader(data)); ; {
		id, size, err := readObjectHeader(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && size >= 0 {
			err = do(id, size, in)
		}
		if err != nil {
			return err
		}
	}
}

// readObjectHeader reads a line "ID blob SIZE" of git cat-file. n is the size in bytes, or -1
// for a missing object.
func readObjectHeader(in *bufio.Reader) (id string, n int64, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	_, size, ok := strings.Cut(rest, " ")
	if !ok {
		return id, -1, nil // missing: the other side of a new or deleted file
	}
	if n, err = strconv.ParseInt(size, 10, 64); err != nil {
		return "", 0, fmt.Errorf("read changed files: git says %q", line)
	}
	return id, n, nil
}
