package originaltests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/projectfile"
	"supervise/internal/treecopy"
)

// maxHidden bounds the total size of the hidden files, in bytes.
const maxHidden = 256 << 20

// HiddenFiles are the hidden tests, sorted by path.
type HiddenFiles treecopy.Files

// ReadHiddenFiles reads the folder of the hidden tests. Links are followed; .git is left out.
func ReadHiddenFiles(dir string) (HiddenFiles, error) {
	var out HiddenFiles
	bytesLeft := int64(maxHidden)
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
		if bytesLeft -= info.Size(); bytesLeft < 0 {
			return fmt.Errorf("%s holds more than %d MB: keep the tests alone there", dir, maxHidden>>20)
		}
		f := treecopy.File{Executable: info.Mode()&0o100 != 0}
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

// Sum returns a digest of the paths, modes and texts of the files, in hexadecimal.
func (l HiddenFiles) Sum() string {
	h := sha256.New()
	for _, f := range l {
		fmt.Fprintf(h, "%s\x00%t\x00%d\x00", f.Path, f.Executable, len(f.Text))
		h.Write(f.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Tests returns the tests that the files define.
func (l HiddenFiles) Tests() []detector.TestSource {
	var out []detector.TestSource
	for _, f := range l {
		out = append(out, evidence.TestsIn(f.Path, f.Text)...)
	}
	return out
}
