package treediff

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
)

// The limits of rename detection are git's.
const (
	minSimilarity = 40 // percent
	maxPairs      = 100_000
)

// renameCandidate is a pair of a removed file and a new one.
type renameCandidate struct {
	from, to   string
	similarity int // percent
}

// findRenames maps new files to removed files with similar content. It pairs the most similar
// files first.
func findRenames(old, now map[string]*content) map[string]string {
	gone, came := missingIn(old, now), missingIn(now, old)
	var list []renameCandidate
	if len(gone)*len(came) <= maxPairs {
		list = renameCandidates(gone, came, old, now)
	}
	slices.SortStableFunc(list, func(a, b renameCandidate) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(hasSameBase(b), hasSameBase(a)))
	})
	out, used := map[string]string{}, map[string]bool{}
	for _, c := range list {
		if out[c.to] == "" && !used[c.from] {
			out[c.to], used[c.from] = c.from, true
		}
	}
	return out
}

// missingIn returns the files of a that are missing in b, by name.
func missingIn(a, b map[string]*content) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(name string) bool { return a[name] == nil || b[name] != nil })
}

func hasSameBase(c renameCandidate) int {
	if path.Base(c.from) == path.Base(c.to) {
		return 1
	}
	return 0
}

func renameCandidates(gone, came []string, old, now map[string]*content) []renameCandidate {
	var list []renameCandidate
	bags := map[string]map[string]int{}
	for _, name := range gone {
		bags[name] = bytesPerLine(old[name].text)
	}
	for _, to := range came {
		if len(now[to].text) == 0 {
			continue
		}
		bag := bytesPerLine(now[to].text)
		for _, from := range gone {
			a, b := old[from].size, now[to].size
			if min(a, b)*100 < max(a, b)*minSimilarity {
				continue
			}
			if like := commonShare(bags[from], bag, max(a, b)); like >= minSimilarity {
				list = append(list, renameCandidate{from, to, like})
			}
		}
	}
	return list
}

// bytesPerLine returns how many bytes each distinct line takes.
func bytesPerLine(text []byte) map[string]int {
	bag := map[string]int{}
	for l := range bytes.Lines(text) {
		bag[string(l)] += len(l)
	}
	return bag
}

// commonShare returns the share of the longer text that is in both, in percent.
func commonShare(a, b map[string]int, longer int64) int {
	common := 0
	for l, n := range a {
		common += min(n, b[l])
	}
	return int(int64(common) * 100 / max(longer, 1))
}
