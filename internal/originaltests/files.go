package originaltests

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/projectfile"
)

// maxHidden bounds the hidden files, all of them together, in bytes.
const maxHidden = 256 << 20

// File is a file that is written into a tree.
type File struct {
	Path string // slash separated, relative
	Text []byte
	Exec bool
}

// Files are sorted by path.
type Files []File

// ReadFiles reads the folder of the hidden tests. Links are followed; .git is left out.
func ReadFiles(dir string) (Files, error) {
	var out Files
	left := int64(maxHidden)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && name != dir {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case info.IsDir() && (d.IsDir() || name == dir):
			return nil
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder: take it out", name)
		}
		if left -= info.Size(); left < 0 {
			return fmt.Errorf("%s holds more than %d MB: keep the tests alone there", dir, maxHidden>>20)
		}
		f := File{Exec: info.Mode()&0o100 != 0}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f.Path = filepath.ToSlash(rel)
		if f.Text, err = projectfile.ReadAnywhere(name, maxHidden); err == nil {
			out = append(out, f)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", dir, err)
	case len(out) == 0:
		return nil, fmt.Errorf("there is no file in %s: put the tests there, each where it belongs in the tree", dir)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// Sum identifies the files.
func (l Files) Sum() string {
	h := sha256.New()
	for _, f := range l {
		fmt.Fprintf(h, "%s\x00%t\x00%d\x00", f.Path, f.Exec, len(f.Text))
		h.Write(f.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the files into a tree and replaces what is there. Links in the tree are
// not followed: one in the place of a file is replaced, one in the place of a folder is
// refused.
func (l Files) Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range l {
		mode := fs.FileMode(0o600)
		if f.Exec {
			mode = 0o700
		}
		name := filepath.FromSlash(f.Path)
		err := root.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o700)
		if err == nil {
			if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err == nil {
			err = root.WriteFile(name, f.Text, mode)
		}
		if err != nil {
			return fmt.Errorf("lay a hidden test over the tree: %w", err)
		}
	}
	return nil
}

// Tests are the tests that the files define.
func (l Files) Tests() []detector.TestSource {
	var out []detector.TestSource
	for _, f := range l {
		out = append(out, evidence.Tests(f.Path, f.Text)...)
	}
	return out
}
