package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// deleteOld removes the reports of an earlier run, so that none of them can be
// taken for one of this run. An error says which one is in the way, and why.
func (m *Meter) deleteOld(c Check) error {
	for _, pattern := range c.Reports {
		for _, path := range matches(m.base(c), pattern) {
			if err := m.remove(pattern, path); err != nil {
				return fmt.Errorf("old report %s cannot be deleted: %w", relative(m.plan.Root, path), err)
			}
		}
		if outside(pattern) { // none is there yet, but the next run would refuse it
			return fmt.Errorf("old report %s cannot be deleted: %w", pattern, errOutside)
		}
	}
	return nil
}

// The reasons why a report is left alone.
var (
	errOutside = errors.New("it lies outside the working tree; name it by its absolute path")
	errFolder  = errors.New("it is a folder")
	errUnnamed = errors.New("no check names it as its report")
)

// outside reports whether a relative pattern leaves the working tree by its
// name.
func outside(pattern string) bool {
	return !filepath.IsAbs(pattern) && !filepath.IsLocal(pattern)
}

// RemoveReport deletes the file at the absolute path, which a check names as its
// report (see [Meter.IsReport]). In the tree no link is followed out of it. It is
// an error if the path is no such report, is a folder or lies outside the tree
// although its check names it relative to the tree; a file that vanished
// meanwhile is none.
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
		return gone(os.Remove(path)) // by its absolute path: a person wants it so
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

// gone is err without the path, which the caller names, and nil when the file is
// not there any more.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var at *os.PathError
	if errors.As(err, &at) {
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

// matches lists the files that a pattern means in the folder, as absolute paths.
// A link to a folder is not followed by "**".
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
	names, err := doublestar.Glob(os.DirFS(base), filepath.ToSlash(filepath.Clean(pattern)), doublestar.WithNoFollow())
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = filepath.Join(base, filepath.FromSlash(name))
	}
	return names
}

// openReport opens a report for reading. In the tree no link is followed out of
// it.
func openReport(root, path string) (*os.File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return os.Open(path)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Open(rel)
}
