package remeasure

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"supervise/internal/treecopy"
)

// editedCopy is a private copy of a tree in which some files have other texts. A file whose
// text is nil is deleted.
type editedCopy struct {
	treecopy.Tree
	remeasurement Remeasurement
	texts         map[string][]byte
}

// inCopy makes the copy, calls work and removes the copy.
func (r Remeasurement) inCopy(ctx context.Context, texts map[string][]byte, work func(editedCopy) error) error {
	return r.WithCopy(ctx, r.Current, func(t treecopy.Tree) error {
		c := editedCopy{t, r, texts}
		if err := c.write(); err != nil {
			return err
		}
		return work(c)
	})
}

// write writes the other texts, or deletes the files, in the copy.
func (c editedCopy) write() error {
	var files treecopy.Files
	for _, path := range c.paths() {
		full := filepath.Join(c.Path, filepath.FromSlash(path))
		if c.texts[path] == nil {
			if err := os.Remove(full); err != nil {
				return err
			}
			continue
		}
		info, err := os.Lstat(full)
		if err != nil {
			return err
		}
		files = append(files, treecopy.File{Path: path, Text: c.texts[path], Executable: info.Mode()&0o100 != 0})
	}
	return files.Write(c.Path)
}

// paths returns the files with other texts, sorted.
func (c editedCopy) paths() []string { return slices.Sorted(maps.Keys(c.texts)) }

// restore restores the original files in the copy.
func (c editedCopy) restore(ctx context.Context) error {
	return c.Restore(ctx, c.remeasurement.Current, c.paths()...)
}
