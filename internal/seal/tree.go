package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"supervise/internal/projectfile"
)

// Outcome is how the sealed tests came back.
type Outcome struct {
	Restored []string // files that are as they were, or have their tests again
	Kept     []string // originals that were written next to files that were rewritten or deleted
	Found    []string // files that had their tests already
}

// Hide takes the sealed tests out of the files of a tree that have them. It leaves other files as they are.
func (s *Sealed) Hide(root string) error {
	s.Restored = false
	if err := s.save(); err != nil {
		return err
	}
	return s.each(root, func(t *tree, f File, original, current []byte) error {
		text, exists := f.apply(original)
		switch {
		case !bytes.Equal(current, original):
			return nil
		case !exists:
			return t.root.Remove(t.name(f.Path))
		}
		return t.write(f.Path, text, f.Mode)
	})
}

// Restore puts the sealed tests back into the files of a tree. If a file was changed so that their places
// are unknown, or was deleted, it writes the original next to it, as FILE.sealed. Files that have them are
// left as they are.
func (s *Sealed) Restore(root string) (out Outcome, err error) {
	err = s.each(root, func(t *tree, f File, original, current []byte) error {
		text, ok := original, current == nil
		if _, exists := f.apply(original); current != nil {
			text, ok = f.merge(original, current)
		} else if exists {
			ok = false // deleted
		}
		switch {
		case !ok:
			kept, err := t.keep(f, original)
			out.Kept = append(out.Kept, kept)
			return err
		case bytes.Equal(text, current) && current != nil:
			out.Found = append(out.Found, f.Path)
			return nil
		}
		out.Restored = append(out.Restored, f.Path)
		return t.write(f.Path, text, f.Mode)
	})
	if err != nil {
		return out, fmt.Errorf("restore the sealed tests, which are in %s: %w", s.FilesDir(), err)
	}
	s.Restored = true
	return out, s.save()
}

// State is a file in a tree.
type State struct {
	Text     string // whether it has the sealed tests
	Original []byte
}

// States returns the state of each file of the record in a tree.
func (s *Sealed) States(root string) (out []State, err error) {
	err = s.each(root, func(_ *tree, f File, original, current []byte) error {
		sealed, exists := f.apply(original)
		state := State{"changed, and the places of its sealed tests are gone", original}
		if merged, ok := f.merge(original, current); bytes.Equal(current, original) {
			state.Text = "the original"
		} else if current == nil && exists {
			state.Text = "deleted"
		} else if current == nil || bytes.Equal(current, sealed) {
			state.Text = "without its sealed tests"
		} else if ok && bytes.Equal(merged, current) {
			state.Text = "changed, with its sealed tests"
		} else if ok {
			state.Text = "changed, without its sealed tests"
		}
		out = append(out, state)
		return nil
	})
	return out, err
}

// Merge returns a version of a file with its sealed tests, and the version itself if it has none, or if
// they cannot be restored.
func (s *Sealed) Merge(name string, current []byte) ([]byte, error) {
	for _, f := range s.Files {
		if f.Path != name {
			continue
		}
		original, err := s.original(name)
		if err != nil {
			return nil, err
		}
		if text, ok := f.merge(original, current); ok {
			return text, nil
		}
	}
	return current, nil
}

// each calls do for each file with its original and current text, nil if it does not exist.
func (s *Sealed) each(root string, do func(t *tree, f File, original, current []byte) error) error {
	at, err := projectfile.OpenFolder(root)
	if err != nil {
		return err
	}
	defer at.Close()
	t := &tree{root, at}
	for _, f := range s.Files {
		original, err := s.original(f.Path)
		if err != nil {
			return err
		}
		if err := at.Remove(t.name(temporary(f.Path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		current, err := t.read(f.Path)
		if err == nil {
			err = do(t, f, original, current)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tree is a working tree.
type tree struct {
	dir  string
	root *os.Root
}

func (t *tree) name(slash string) string { return filepath.FromSlash(slash) }

// read returns the text of a file, nil if it does not exist. Something else than a file counts as a file
// with other text.
func (t *tree) read(slash string) ([]byte, error) {
	info, err := t.root.Lstat(t.name(slash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return []byte{}, nil
	}
	text, err := projectfile.ReadAnywhere(filepath.Join(t.dir, t.name(slash)), maxFile)
	if text == nil {
		text = []byte{}
	}
	return text, err
}

// temporary returns the name under which a file is written before it is renamed.
func temporary(slash string) string {
	return path.Join(path.Dir(slash), ".tmp-sealed-"+path.Base(slash))
}

// write replaces a file. After a crash it has the old text or the new one.
func (t *tree) write(slash string, text []byte, mode fs.FileMode) error {
	temp := t.name(temporary(slash))
	err := t.root.MkdirAll(filepath.Dir(temp), 0o755)
	if err == nil {
		err = t.root.WriteFile(temp, text, mode)
	}
	if err == nil {
		err = t.root.Chmod(temp, mode)
	}
	if err == nil {
		err = t.root.Rename(temp, t.name(slash))
	}
	return err
}

// keep writes an original next to its file, under a name that no other file has.
func (t *tree) keep(f File, original []byte) (string, error) {
	for n := 1; ; n++ {
		name := f.Path + ".sealed"
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		switch text, err := t.read(name); {
		case err != nil:
			return name, err
		case text == nil:
			return name, t.write(name, original, f.Mode)
		case bytes.Equal(text, original):
			return name, nil
		}
	}
}
