package agentrun

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"path"
	"path/filepath"
	"slices"

	"supervise/internal/projectfile"
	"supervise/source"
)

// newFiles are the files and tests that the agent has added. They may replace missing ones: a
// missing file was moved if its name, text or tests exist in new files.
type newFiles struct {
	names map[string]bool            // names of new files, without their folders
	texts map[[sha256.Size]byte]bool // checksums of new texts
	tests []source.TestDef           // new tests that have not replaced a missing test yet
}

// minTestSimilarity is the similarity from which one test replaces another, as in the rules
// about removed tests.
const minTestSimilarity = .5

// maxPairs limits how many pairs of tests are compared.
const maxPairs = 10_000

// collectNewFiles reads the new and the recently written files.
func (a *treeAlarms) collectNewFiles(ctx context.Context, there treeFiles) *newFiles {
	g := &newFiles{names: map[string]bool{}, texts: map[[sha256.Size]byte]bool{}}
	for _, file := range there.written {
		_, had := a.files[file]
		if !had {
			g.names[path.Base(file)] = true
		}
		full := filepath.Join(a.Root, filepath.FromSlash(file))
		if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
			continue
		}
		text, err := projectfile.Read(full, maxText)
		before := a.textBefore(ctx, file)
		if err != nil || had && bytes.Equal(text, before) {
			continue
		}
		g.texts[sha256.Sum256(text)] = true
		_, tests := pairTests(testsIn(file, before), testsIn(file, text))
		g.tests = append(g.tests, tests...)
	}
	return g
}

// explains reports whether a missing file was moved: its name, its text or all of its tests
// are in new files. text is the text of the file at the agent's start, nil if unknown.
func (g *newFiles) explains(file string, text []byte) bool {
	if g.names[path.Base(file)] {
		return true
	}
	if text == nil {
		return false
	}
	if g.texts[sha256.Sum256(text)] {
		return true
	}
	tests := testsIn(file, text)
	lost, left := pairTests(tests, g.tests)
	if len(tests) == 0 || len(lost) > 0 {
		return false
	}
	g.tests = left
	return true
}

// pairTests pairs the tests of before with those of now, first by name and then by similarity.
// It returns the tests of before without a partner, and those of now.
func pairTests(before, now []source.TestDef) (lost, left []source.TestDef) {
	left = slices.Clone(now)
	for _, def := range before {
		i := slices.IndexFunc(left, func(d source.TestDef) bool { return d.Name == def.Name })
		if i < 0 {
			lost = append(lost, def)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}

	if len(lost)*len(left) > maxPairs {
		return lost, left
	}

	lost = slices.DeleteFunc(lost, func(def source.TestDef) bool {
		i := slices.IndexFunc(left, func(d source.TestDef) bool { return source.Similarity(def, d) >= minTestSimilarity })
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	})
	return lost, left
}

// testsIn returns the tests in the text of a file, as far as it can be parsed.
func testsIn(file string, text []byte) []source.TestDef {
	f, _ := source.Scan(file, text) // what does not parse is read as far as it goes
	return f.Tests
}
