package loop

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
)

// maxHidden bounds the hidden files, all of them together, in bytes.
const maxHidden = 256 << 20

// hiddenFile is a file that is laid over a tree.
type hiddenFile struct {
	path string // slash separated, relative
	text []byte
	exec bool
}

// hiddenFiles are sorted by path.
type hiddenFiles []hiddenFile

// readHidden reads the folder of the hidden tests. What links lead to counts as
// standing there; .git is left out.
func readHidden(dir string) (hiddenFiles, error) {
	var out hiddenFiles
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
		f := hiddenFile{exec: info.Mode()&0o100 != 0}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f.path = filepath.ToSlash(rel)
		if f.text, err = os.ReadFile(name); err == nil {
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
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out, nil
}

// sum identifies the files.
func (l hiddenFiles) sum() string {
	h := sha256.New()
	for _, f := range l {
		fmt.Fprintf(h, "%s\x00%t\x00%d\x00", f.path, f.exec, len(f.text))
		h.Write(f.text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// lay writes the files into a tree, over what is there. A link in the tree leads
// nowhere else: it is replaced where a file belongs, and refused where a folder does.
func (l hiddenFiles) lay(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range l {
		mode := fs.FileMode(0o600)
		if f.exec {
			mode = 0o700
		}
		name := filepath.FromSlash(f.path)
		err := root.MkdirAll(filepath.FromSlash(path.Dir(f.path)), 0o700)
		if err == nil {
			if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err == nil {
			err = root.WriteFile(name, f.text, mode)
		}
		if err != nil {
			return fmt.Errorf("lay a hidden test over the tree: %w", err)
		}
	}
	return nil
}

// definitions are the tests that the files define.
func (l hiddenFiles) definitions() []detector.TestSource {
	var out []detector.TestSource
	for _, f := range l {
		out = append(out, definitions(f.path, scan(nil, f.path, short(f.text)))...)
	}
	return out
}
