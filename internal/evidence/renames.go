package evidence

import (
	"bytes"
	"cmp"
	"slices"

	"supervise/snapshot"
)

// The limits of the search for renamed files: as in git, half of the lines must be
// the same, and above this number of pairs only equal files are found.
const (
	sameLines = .5
	MaxPairs  = 10_000
)

// moved collects the deleted and the new files.
type moved struct{ gone, fresh []movedFile }

type movedFile struct {
	path  string
	text  []byte
	lines map[string]int // nil until they are compared
}

func (m *moved) add(c snapshot.Change, was, is []byte) {
	switch c.Kind {
	case snapshot.Deleted:
		m.gone = append(m.gone, movedFile{path: c.Path, text: was})
	case snapshot.Added:
		m.fresh = append(m.fresh, movedFile{path: c.Path, text: is})
	case snapshot.Modified, snapshot.Mode:
	}
}

// pair is a deleted file and a new one that is similar to it.
type pair struct {
	from, to int
	like     float64
}

// renames maps the old path of each renamed file to the new one. The most similar
// pairs come first; a file is part of one pair only.
func (m *moved) renames() map[string]string {
	pairs := m.pairs()
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.like, a.like) })
	taken := map[string]bool{}
	var out map[string]string
	for _, p := range pairs {
		from, to := m.gone[p.from].path, m.fresh[p.to].path
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

func (m *moved) pairs() []pair {
	var out []pair
	equalOnly := len(m.gone)*len(m.fresh) > MaxPairs
	for i := range m.gone {
		for k := range m.fresh {
			switch a, b := &m.gone[i], &m.fresh[k]; {
			case len(a.text) == 0 || len(b.text) == 0:
			case bytes.Equal(a.text, b.text):
				out = append(out, pair{i, k, 1})
			case equalOnly:
			default:
				if like := likeness(a, b); like >= sameLines {
					out = append(out, pair{i, k, like})
				}
			}
		}
	}
	return out
}

// likeness returns the share of the lines of the longer file that are in both.
func likeness(a, b *movedFile) float64 {
	if short, long := min(len(a.text), len(b.text)), max(len(a.text), len(b.text)); float64(short) < sameLines/2*float64(long) {
		return 0
	}
	a.split()
	b.split()
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

func (f *movedFile) split() {
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
