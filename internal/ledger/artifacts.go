package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"supervise/internal/projectfile"
)

// CopyArtifacts replaces the artifacts of iteration n with copies of files and folders.
// Relative paths are relative to root. The contents of a folder are copied to the top
// level; a file keeps its path in root, or its base name if it is outside root. Links
// are copied as links. Missing paths and name collisions are errors.
func (l *Ledger) CopyArtifacts(n int, root string, paths []string) error {
	dir, err := l.MakeIterationDir(n)
	if err != nil {
		return err
	}

	fresh := filepath.Join(dir, "artifacts.new")
	err = l.replaceArtifacts(fresh, filepath.Join(dir, "artifacts"), root, paths)
	if err = errors.Join(err, os.RemoveAll(fresh)); err != nil {
		return fmt.Errorf("keep artifacts: %w", err)
	}
	return nil
}

// replaceArtifacts copies the paths to fresh, and then renames it to final if there are any.
func (l *Ledger) replaceArtifacts(fresh, final, root string, paths []string) error {
	if err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(fresh, 0o700)); err != nil {
		return err
	}
	for _, path := range paths {
		if err := l.copyArtifact(fresh, root, path); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(final); err != nil || len(paths) == 0 {
		return err
	}
	return os.Rename(fresh, final)
}

// copyArtifact copies a file or folder, whose path is relative to root or absolute, into a folder.
func (l *Ledger) copyArtifact(to, root, path string) error {
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(root, path)
	}
	info, err := os.Stat(full)
	if err != nil {
		return err
	}

	name, err := filepath.Rel(root, full)
	within := err == nil && filepath.IsLocal(name)
	if !within { // the user gave its absolute path
		root, name = filepath.Dir(full), filepath.Base(full)
	}
	tree, err := projectfile.Open(root)
	if err != nil {
		return err
	}
	defer tree.Close()
	if info.IsDir() {
		if _, within := PathInTree(l.dir, full); within {
			return fmt.Errorf("%s holds the state of the loop itself: name a folder without it", path)
		}
		folder, err := tree.FS(name)
		if err != nil {
			return err
		}
		return os.CopyFS(to, folder)
	}

	data, err := tree.Read(name, projectfile.Report)
	if err != nil {
		return err
	}
	return writeNewFile(filepath.Join(to, name), data)
}

// writeNewFile writes a file that must not exist yet.
func writeNewFile(to string, data []byte) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("write %s: %w", to, fs.ErrExist)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return WriteFile(to, data)
}

// OutputArtifacts replaces final-output/ with the artifacts of iteration n and returns
// their paths.
func (l *Ledger) OutputArtifacts(n int) ([]string, error) {
	to, err := l.clearOutput()
	if err != nil {
		return nil, err
	}
	from := os.DirFS(filepath.Join(l.dir, "iterations", IterationName(n), "artifacts"))
	var paths []string
	err = fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = os.CopyFS(to, from)
	}
	if err != nil {
		return nil, fmt.Errorf("write final output: %w", err)
	}
	return paths, nil
}

// RemoveResults removes the result files next to the record of an iteration that is about
// to be replaced, because the new iteration may have fewer of them.
func (l *Ledger) RemoveResults(n int) error {
	for _, name := range []string{"results.xml", "coverage.json", "lint.json", evidenceName} {
		if err := os.Remove(filepath.Join(l.dir, "iterations", IterationName(n), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace iteration %d: %w", n, err)
		}
	}
	return nil
}

// writeArtifacts copies changed files into dir. Their names come from the agent, so no
// path may leave the folder.
func writeArtifacts(dir string, files Files) (err error) {
	if len(files) == 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep changed files: %w", err)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for path, data := range files {
		if err := root.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}

	return nil
}
