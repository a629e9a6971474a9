package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"supervise/internal/projectfile"
)

// deleteOld removes reports of an earlier run, so that they cannot count for this one.
// An error names the one that is in the way, and the reason.
func (m *Meter) deleteOld(c Check) error {
	for _, pattern := range c.Reports {
		for _, path := range matches(m.base(c), pattern) {
			if err := m.remove(pattern, path); err != nil {
				return fmt.Errorf("old report %s cannot be deleted: %w", relative(m.plan.Root, path), err)
			}
		}
		if outside(pattern) { // it does not exist yet, but the next run would refuse it
			return fmt.Errorf("old report %s cannot be deleted: %w", pattern, errOutside)
		}
	}
	return nil
}

// The reasons to leave a report alone.
var (
	errOutside = errors.New("it lies outside the working tree; name it by its absolute path")
	errFolder  = errors.New("it is a folder")
	errUnnamed = errors.New("no check names it as its report")
)

// outside reports whether the name of a relative pattern leads out of the working tree.
func outside(pattern string) bool {
	return !filepath.IsAbs(pattern) && !filepath.IsLocal(pattern)
}

// RemoveReport deletes the file at the absolute path, which a check names as its report
// (see [Meter.IsReport]). In the tree it follows no link out of it. It is an error if
// the path is not such a report, is a folder, or is outside the tree although its check
// names it relative to the tree. A file that is already gone is no error.
func (m *Meter) RemoveReport(path string) error {
	pattern, ok := m.naming(path)
	if !ok {
		return fmt.Errorf("remove report %s: %w", path, errUnnamed)
	}
	if err := m.remove(pattern, path); err != nil {
		return fmt.Errorf("remove report %s: %w", path, err)
	}
	return nil
}

// remove deletes one file that the pattern matches.
func (m *Meter) remove(pattern, path string) error {
	if outside(pattern) {
		return errOutside
	}
	rel, err := filepath.Rel(m.plan.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return gone(os.Remove(path)) // by its absolute path: a person configured it so
	}
	root, err := os.OpenRoot(m.plan.Root)
	if err != nil {
		return gone(err)
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case err != nil:
		return gone(err)
	case info.IsDir():
		return errFolder
	}
	return gone(root.Remove(rel))
}

// gone is err without the path, which the caller names, and nil if the file is already
// gone.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// IsReport reports whether a check names the file at the absolute path as its
// report.
func (m *Meter) IsReport(path string) bool {
	_, ok := m.naming(path)
	return ok
}

// naming returns the pattern by which a check names the file as its report.
func (m *Meter) naming(path string) (string, bool) {
	for _, c := range m.plan.Checks {
		for _, pattern := range c.Reports {
			if !strings.Contains(pattern, ReportDir) && slices.Contains(matches(m.base(c), pattern), path) {
				return pattern, true
			}
		}
	}
	return "", false
}

// matches lists the files that a pattern matches in the folder, as absolute paths. "**"
// does not follow links to folders.
func matches(base, pattern string) []string {
	if filepath.IsAbs(pattern) {
		paths, err := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow())
		if err != nil {
			return nil
		}
		return paths
	}
	if outside(pattern) {
		paths, err := filepath.Glob(filepath.Join(base, pattern))
		if err != nil {
			return nil
		}
		return paths
	}
	names, err := doublestar.Glob(os.DirFS(base), filepath.ToSlash(filepath.Clean(pattern)), doublestar.WithNoFollow()) //nolint:forbidigo // names alone
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = filepath.Join(base, filepath.FromSlash(name))
	}
	return names
}

// openReport opens a report for reading. In the tree it follows no link out of it.
func openReport(root, path string) (*os.File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return projectfile.Anywhere(path, projectfile.Report)
	}
	tree, err := projectfile.Open(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	return tree.File(rel, projectfile.Report)
}
