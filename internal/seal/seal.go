// Package seal removes a random share of the failing tests from a tree before an agent starts, and
// restores them.
//
// [Choose] decides which tests are sealed: rows of a table, test definitions or complete files. A
// [Record] holds what is cut out of which file. [Record.Store] writes it, with the original files, to
// the folder of a loop before [Sealed.Hide] writes the tree. [Sealed.Restore] restores the cuts, also
// in files that were changed meanwhile (merge.go). Both can be repeated after a crash.
package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// Record is what is sealed in a tree.
type Record struct {
	Share    float64     `json:"share"`    // of the failing tests, in (0,1)
	Seed     uint64      `json:"seed"`     // of the random choice
	Snapshot snapshot.ID `json:"snapshot"` // the original tree
	Failing  int         `json:"failing"`  // failing tests of the original tree
	Tests    []Test      `json:"tests"`    // the sealed ones
	Files    []File      `json:"files"`
	// InHistory is how many of the files git has with the sealed tests.
	InHistory int  `json:"in_history,omitempty"`
	Checked   bool `json:"checked,omitempty"`  // the other tests have the same results without the sealed ones
	Restored  bool `json:"restored,omitempty"` // the sealed tests are in the tree
}

// Test is a sealed test.
type Test struct {
	metric.ID
	File string `json:"file"` // slash separated, relative to the root of the tree
}

// File is a file with sealed tests.
type File struct {
	Path string        `json:"path"`
	Mode fs.FileMode   `json:"mode"`
	Cuts []source.Span `json:"cuts,omitempty"` // in the original, in order; nil if the file is removed

	gone []metric.ID // reported tests that are no longer reported without the cuts
}

// apply returns the file without its cuts, and false if the file is removed.
func (f File) apply(original []byte) (text []byte, exists bool) {
	at := 0
	for _, c := range f.Cuts {
		text = append(text, original[at:c.From]...)
		at = c.To
	}
	return append(text, original[at:]...), len(f.Cuts) > 0
}

// The names in the folder of a loop.
const (
	folder     = "sealed"
	recordName = "sealed.json"
	filesName  = "tests" // the original files
)

// Sealed are the sealed tests of a loop.
type Sealed struct {
	Record
	dir string
}

// Store writes the record and the original files to the folder of a loop.
func (r Record) Store(loopDir string, originals treecopy.Files) (*Sealed, error) {
	s := &Sealed{r, filepath.Join(loopDir, folder)}
	err := os.RemoveAll(s.FilesDir())
	if err == nil {
		err = os.MkdirAll(s.FilesDir(), 0o700)
	}
	if err == nil {
		err = originals.Write(s.FilesDir())
	}
	if err == nil {
		err = s.save()
	}
	if err != nil {
		return nil, fmt.Errorf("store the sealed tests: %w", err)
	}
	return s, nil
}

// Read reads the sealed tests of a loop, nil if it has none.
func Read(loopDir string) (*Sealed, error) {
	s := &Sealed{dir: filepath.Join(loopDir, folder)}
	text, err := projectfile.ReadAnywhere(filepath.Join(s.dir, recordName), projectfile.Settings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there are none, as documented
	}
	if err == nil {
		err = json.Unmarshal(text, &s.Record)
	}
	if err != nil {
		return nil, fmt.Errorf("read the sealed tests: %w", err)
	}
	return s, nil
}

// FilesDir returns the folder that holds the original files, at their paths in the tree.
func (s *Sealed) FilesDir() string { return filepath.Join(s.dir, filesName) }

// MarkChecked records that the other tests have the same results without the sealed ones.
func (s *Sealed) MarkChecked() error {
	s.Checked = true
	return s.save()
}

// ByFile returns the file of each sealed test.
func (s *Sealed) ByFile() map[metric.ID]string {
	out := map[metric.ID]string{}
	for _, t := range s.Tests {
		out[t.ID] = t.File
	}
	return out
}

// CountIn returns how many files have their sealed tests in another version. read returns the text of a
// file there, nil if it does not exist.
func (s *Sealed) CountIn(read func(path string) []byte) (n int, err error) {
	for _, f := range s.Files {
		original, err := s.original(f.Path)
		if err != nil {
			return 0, err
		}
		longest := original
		for i, c := range f.Cuts {
			if text := original[c.From:c.To]; i == 0 || len(text) > len(longest) {
				longest = text
			}
		}
		if text := read(f.Path); text != nil && bytes.Contains(text, bytes.TrimSpace(longest)) {
			n++
		}
	}
	return n, nil
}

func (s *Sealed) save() error { return ledger.WriteJSON(filepath.Join(s.dir, recordName), s.Record) }

// original returns the original text of a file.
func (s *Sealed) original(path string) ([]byte, error) {
	return projectfile.ReadAnywhere(filepath.Join(s.FilesDir(), filepath.FromSlash(path)), maxFile)
}

// maxFile is the most bytes of a file with sealed tests.
const maxFile = 16 << 20
