package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"supervise/snapshot/internal/gitdir"
)

// WritePatch writes the changes of the working files as a unified diff with the prefixes a/ and b/. Excluded paths are
// omitted. It needs git.
func (s *Store) WritePatch(ctx context.Context, w io.Writer, from, to ID) error {
	return s.writeDiff(ctx, w, from, to)
}

// WriteStat writes the number of changed lines of each file, like git diff --stat. It needs git.
func (s *Store) WriteStat(ctx context.Context, w io.Writer, from, to ID) error {
	return s.writeDiff(ctx, w, from, to, "--stat")
}

// LineCounts are the numbers of added and deleted lines of a file, zero for a binary file.
type LineCounts struct {
	Added, Deleted int
	Binary         bool
}

// CountLines counts the changed lines of each changed file, by path. It needs git.
func (s *Store) CountLines(ctx context.Context, from, to ID) (map[string]LineCounts, error) {
	var b bytes.Buffer
	if err := s.writeDiff(ctx, &b, from, to, "--numstat", "-z", "--no-renames"); err != nil {
		return nil, err
	}
	out := map[string]LineCounts{}
	r := bufio.NewReader(&b)
	for {
		line, err := r.ReadString(0)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		f := strings.SplitN(strings.TrimSuffix(line, "\x00"), "\t", 3)
		if err != nil || len(f) != 3 {
			return nil, fmt.Errorf("count changed lines: git printed %q", line)
		}
		l := LineCounts{Binary: f[0] == "-"}
		l.Added, _ = strconv.Atoi(f[0]) // a dash for binary files
		l.Deleted, _ = strconv.Atoi(f[1])
		out[f[2]] = l
	}
}

// writeDiff writes the output of git diff between two snapshots to w. how has additional
// options of git diff.
func (s *Store) writeDiff(ctx context.Context, w io.Writer, from, to ID, how ...string) error {
	s.mu.Lock()
	_, errFrom := s.header(from)
	_, errTo := s.header(to)
	args := []string{
		"-c", "core.attributesFile=" + os.DevNull,
		"--git-dir=" + s.GitDir(), "diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
	}
	args = append(append(args, how...), from.Ref(), to.Ref(), "--")
	for _, x := range s.config.Excludes {
		args = append(args, ":(exclude,literal)"+string(x))
	}
	s.mu.Unlock()

	if err := cmp.Or(errFrom, errTo); err != nil {
		return err
	}

	cmd := gitdir.IsolatedGit(s.GitDir(), args...)
	cmd.Stdout = w
	_, err := cmd.Output(ctx)
	return err
}
