package treecopy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// File is a file to write into a tree.
type File struct {
	Path       string // slash separated, relative
	Text       []byte
	Executable bool
}

// Files are sorted by path.
type Files []File

// Write writes the files into the tree at dir, and replaces existing ones. It follows no links
// in the tree: it replaces a link at the path of a file, and fails at a link at the path of a
// folder.
func (l Files) Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range l {
		mode := fs.FileMode(0o600)
		if f.Executable {
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
			return fmt.Errorf("write %s into the tree: %w", f.Path, err)
		}
	}
	return nil
}
