package evidence

import (
	"bytes"
	"cmp"
	"slices"

	"supervise/integrity"
)

// The limits of the search for renamed files: as in git, half of the lines must be
// the same, and above this number of pairs only equal files are found.
const (
	minSimilarity = .5
	MaxPairs      = 10_000
)

// movedFiles collects the deleted and the new files.
type movedFiles struct{ deleted, added []movedFile }

// movedFile is a deleted or a new file. lines counts its lines by their trimmed text.
type movedFile struct {
	path  string
	text  []byte
	lines map[string]int // nil until they are compared
}

// add adds a changed file, unless it exists in both trees.
func (m *movedFiles) add(f integrity.File) {
	switch {
	case f.Deleted:
		m.deleted = append(m.deleted, movedFile{path: f.Path, text: f.Before})
	case f.Added:
		m.added = append(m.added, movedFile{path: f.Path, text: f.After})
	}
}

// pair is a deleted file and a new one that is similar to it, by their indexes in movedFiles.
type pair struct {
	from, to   int
	similarity float64 // from 0 to 1
}

// renames maps the old path of each renamed file to the new one. The most similar
// pairs come first; a file is part of one pair only.
func (m *movedFiles) renames() map[string]string {
	pairs := m.pairs()
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.similarity, a.similarity) })
	taken := map[string]bool{}
	var out map[string]string
	for _, p := range pairs {
		from, to := m.deleted[p.from].path, m.added[p.to].path
		if _, known := out[from]; known || taken[to] {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[from], taken[to] = to, true
	}
	return out
}

// pairs returns all pairs of files that are similar enough.
func (m *movedFiles) pairs() []pair {
	var out []pair
	equalOnly := len(m.deleted)*len(m.added) > MaxPairs
	for i := range m.deleted {
		for k := range m.added {
			switch a, b := &m.deleted[i], &m.added[k]; {
			case len(a.text) == 0 || len(b.text) == 0:
			case bytes.Equal(a.text, b.text):
				out = append(out, pair{i, k, 1})
			case equalOnly:
			default:
				if similarity := lineSimilarity(a, b); similarity >= minSimilarity {
					out = append(out, pair{i, k, similarity})
				}
			}
		}
	}
	return out
}

// lineSimilarity returns the share of the lines of the longer file that are in both.
func lineSimilarity(a, b *movedFile) float64 {
	if short, long := min(len(a.text), len(b.text)), max(len(a.text), len(b.text)); float64(short) < minSimilarity/2*float64(long) {
		return 0
	}
	a.countLines()
	b.countLines()
	common, inA, inB := 0, 0, 0
	for line, n := range a.lines {
		common += min(n, b.lines[line])
		inA += n
	}
	for _, n := range b.lines {
		inB += n
	}
	if inA == 0 || inB == 0 {
		return 0
	}
	return float64(common) / float64(max(inA, inB))
}

// countLines sets f.lines, once.
func (f *movedFile) countLines() {
	if f.lines != nil {
		return
	}
	f.lines = map[string]int{}
	for line := range bytes.Lines(f.text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			f.lines[string(line)]++
		}
	}
}
