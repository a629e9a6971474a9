// Package codesize counts the files, lines and functions of a project's own source.
package codesize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/git"
	"supervise/internal/projectfile"
	"supervise/metric"
	"supervise/source"
)

// maxSourceBytes is the size above which a file does not count as hand-written source.
const maxSourceBytes = 4 << 20

// Cache stores the shape of files by their slash paths, so that only changed files are read again.
type Cache map[string]fileShape

// fileShape is what counts of one file, with the size and time by which a change is detected.
type fileShape struct {
	size     int64
	modified time.Time
	isSource bool // it is source code of the project, not generated or vendored
	loc      int
	funcs    int
	branches int // sum of the functions' complexities
}

// Measure returns the size of the project's own source below root, except below ignore.
func (c Cache) Measure(ctx context.Context, root, ignore string) (*metric.Code, error) {
	paths, err := listTracked(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("list source files: %w", err)
	}

	dir, err := projectfile.Open(root)
	if err != nil {
		return nil, fmt.Errorf("list source files: %w", err)
	}
	defer dir.Close()
	var sum fileShape
	code := &metric.Code{}
	for _, path := range paths {
		if ignore != "" && strings.HasPrefix(filepath.Join(root, path), ignore+string(filepath.Separator)) {
			continue
		}
		s := c.shapeOf(dir, root, path)
		if !s.isSource {
			continue
		}
		code.Files++
		sum.loc += s.loc
		sum.funcs += s.funcs
		sum.branches += s.branches
	}

	code.LOC, code.Functions = sum.loc, sum.funcs
	if sum.funcs > 0 {
		code.Complexity = float64(sum.branches) / float64(sum.funcs)
	}
	return code, nil
}

// shapeOf returns the shape of one file: the zero shape if it is missing, no regular file, or
// not the project's own source.
func (c Cache) shapeOf(dir *projectfile.Tree, root, path string) fileShape {
	if source.IsVendored(path) {
		return fileShape{}
	}
	info, err := os.Lstat(filepath.Join(root, path))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSourceBytes {
		return fileShape{}
	}
	if s, ok := c[path]; ok && s.size == info.Size() && s.modified.Equal(info.ModTime()) {
		return s
	}
	s := fileShape{size: info.Size(), modified: info.ModTime()}
	if f, err := dir.Open(path, maxSourceBytes); err == nil {
		s.scan(f, path)
		f.Close()
	}
	c[path] = s
	return s
}

// scan counts the lines, functions and branches of a file. A file that is no source code of the
// project keeps isSource false.
func (s *fileShape) scan(f io.Reader, path string) {
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return // empty or unreadable
	}
	head = head[:n]
	if source.DetectLanguage(path, head) == source.Unknown || source.IsBinary(head) || source.IsGenerated(path, head) {
		return
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		return
	}
	// A file that does not parse still has lines.
	file, _ := source.Scan(path, append(head, rest...))
	s.isSource, s.loc, s.funcs = true, file.LOC, len(file.Functions)
	for _, f := range file.Functions {
		s.branches += f.Complexity
	}
}

// listTracked lists the files below root that git tracks or would track. Without git, it lists
// every file outside of dependency folders.
func listTracked(ctx context.Context, root string) ([]string, error) {
	out, err := git.NewCommand(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate").Output(ctx)
	if _, refused := errors.AsType[*projectfile.Refusal](err); refused {
		return nil, err
	}
	if err != nil {
		return listAll(root)
	}
	var paths []string
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			paths = append(paths, string(name))
		}
	}
	return paths, nil
}

// listAll lists every regular file below root outside of .git and of dependency folders.
func listAll(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not counted
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || source.IsVendored(rel+"/")) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			paths = append(paths, rel)
		}
		return nil
	})
	return paths, err
}
