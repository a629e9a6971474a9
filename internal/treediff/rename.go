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
	minSimilarity = 40      // the minimum similarity of a pair, in percent
	maxPairs      = 100_000 // with more pairs, renames are not searched
)

// renameCandidate is a pair of a removed file and a new one.
type renameCandidate struct {
	from, to   string
	similarity int // percent
}

// findRenames returns the renamed files: new path → old path. It pairs removed files with new
// files of similar content, the most similar first, and of equally similar ones those with the
// same base name. If there are too many pairs, it returns none.
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

// hasSameBase returns 1 if both files of a pair have the same base name, and 0 otherwise.
func hasSameBase(c renameCandidate) int {
	if path.Base(c.from) == path.Base(c.to) {
		return 1
	}
	return 0
}

// renameCandidates returns the pairs of a file in gone and a file in came that are similar
// enough. old and now have their contents.
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

// bytesPerLine returns how many bytes each distinct line takes in a text, by line.
func bytesPerLine(text []byte) map[string]int {
	bag := map[string]int{}
	for l := range bytes.Lines(text) {
		bag[string(l)] += len(l)
	}
	return bag
}

// commonShare returns how much of the longer text is in both texts, in percent. a and b are
// results of bytesPerLine, and longer is the size of the longer text in bytes.
func commonShare(a, b map[string]int, longer int64) int {
	common := 0
	for l, n := range a {
		common += min(n, b[l])
	}
	return int(int64(common) * 100 / max(longer, 1))
}
