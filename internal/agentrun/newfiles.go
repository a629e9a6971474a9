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

// newFiles are files and tests that the agent has added. They may replace missing ones.
type newFiles struct {
	names map[string]bool // of new files, without their folders
	texts map[[sha256.Size]byte]bool
	tests []source.TestDef // that explain nothing yet
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

// explains reports whether a missing file with that text, or all of its tests, are in new
// files.
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

// pairTests pairs tests of before with those of now, first by name and then by similarity, and
// returns those without a partner.
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

func testsIn(file string, text []byte) []source.TestDef {
	f, _ := source.Scan(file, text) // what does not parse is read as far as it goes
	return f.Tests
}
