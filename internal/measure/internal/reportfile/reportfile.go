// Package reportfile finds, opens and deletes the reports that checks write.
package reportfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"supervise/internal/projectfile"
)

// DeleteOld removes the reports of an earlier run, so that they do not count for this one. The
// patterns are those of a check that runs in base, in the tree at root. The error names the
// report that could not be deleted.
func DeleteOld(root, base string, patterns []string) error {
	for _, pattern := range patterns {
		for _, path := range Glob(base, pattern) {
			if err := Delete(root, pattern, path); err != nil {
				return fmt.Errorf("old report %s cannot be deleted: %w", RelativePath(root, path), err)
			}
		}
		if isOutside(pattern) { // it does not exist yet, but the next run would refuse it
			return fmt.Errorf("old report %s cannot be deleted: %w", pattern, errOutside)
		}
	}
	return nil
}

// The reasons not to delete a report.
var (
	errOutside = errors.New("it is outside the working tree; name it by its absolute path")
	errFolder  = errors.New("it is a folder")
)

// isOutside reports whether a relative pattern leads out of the working tree.
func isOutside(pattern string) bool {
	return !filepath.IsAbs(pattern) && !filepath.IsLocal(pattern)
}

// Delete deletes one file that matches the pattern of a check in the tree at root. Within the
// tree it does not follow links that leave it. A missing file is no error.
func Delete(root, pattern, path string) error {
	if isOutside(pattern) {
		return errOutside
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ignoreMissing(os.Remove(path)) // by its absolute path: a person configured it so
	}
	tree, err := os.OpenRoot(root)
	if err != nil {
		return ignoreMissing(err)
	}
	defer tree.Close()
	info, err := tree.Lstat(rel)
	switch {
	case err != nil:
		return ignoreMissing(err)
	case info.IsDir():
		return errFolder
	}
	return ignoreMissing(tree.Remove(rel))
}

// ignoreMissing returns err without the path, which the caller names, and nil if the file is
// missing.
func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// Glob returns the files that match a pattern in the folder, as absolute paths. "**" does not
// follow links to folders.
func Glob(base, pattern string) []string {
	if filepath.IsAbs(pattern) {
		paths, err := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow())
		if err != nil {
			return nil
		}
		return paths
	}
	if isOutside(pattern) {
		paths, err := filepath.Glob(filepath.Join(base, pattern))
		if err != nil {
			return nil
		}
		return paths
	}
	names, err := doublestar.Glob(os.DirFS(base), filepath.ToSlash(filepath.Clean(pattern)), doublestar.WithNoFollow()) //nolint:forbidigo // only names
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = filepath.Join(base, filepath.FromSlash(name))
	}
	return names
}

// Open opens a report for reading. Within the tree it does not follow links that leave it.
func Open(root, path string) (*os.File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return projectfile.OpenAnywhere(path, projectfile.Report)
	}
	tree, err := projectfile.Open(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	return tree.Open(rel, projectfile.Report)
}

// RelativePath returns the path relative to root with slashes, or the path itself if it is not
// below root.
func RelativePath(root, path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return filepath.ToSlash(rel)
}

// Exists reports whether a file or folder exists at the path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
