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
	similarEnough = 40 // percent
	maxPairs      = 100_000
)

// candidate is a pair of a removed file and a new one.
type candidate struct {
	from, to string
	like     int // percent
}

// renames finds removed files that are mostly the same elsewhere: new path to old path.
// It pairs the most similar files first.
func renames(old, now map[string]*content) map[string]string {
	gone, came := only(old, now), only(now, old)
	var list []candidate
	if len(gone)*len(came) <= maxPairs {
		list = candidates(gone, came, old, now)
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.like, a.like), cmp.Compare(sameBase(b), sameBase(a)))
	})
	out, used := map[string]string{}, map[string]bool{}
	for _, c := range list {
		if out[c.to] == "" && !used[c.from] {
			out[c.to], used[c.from] = c.from, true
		}
	}
	return out
}

// only returns the files of a that are missing in b, by name.
func only(a, b map[string]*content) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(name string) bool { return a[name] == nil || b[name] != nil })
}

func sameBase(c candidate) int {
	if path.Base(c.from) == path.Base(c.to) {
		return 1
	}
	return 0
}

func candidates(gone, came []string, old, now map[string]*content) []candidate {
	var list []candidate
	bags := map[string]map[string]int{}
	for _, name := range gone {
		bags[name] = lineBag(old[name].text)
	}
	for _, to := range came {
		if len(now[to].text) == 0 {
			continue
		}
		bag := lineBag(now[to].text)
		for _, from := range gone {
			a, b := old[from].size, now[to].size
			if min(a, b)*100 < max(a, b)*similarEnough {
				continue
			}
			if like := likeness(bags[from], bag, max(a, b)); like >= similarEnough {
				list = append(list, candidate{from, to, like})
			}
		}
	}
	return list
}

// lineBag returns how many bytes each distinct line takes.
func lineBag(text []byte) map[string]int {
	bag := map[string]int{}
	for l := range bytes.Lines(text) {
		bag[string(l)] += len(l)
	}
	return bag
}

// likeness returns the share of the longer text that is in both, in percent.
func likeness(a, b map[string]int, longer int64) int {
	common := 0
	for l, n := range a {
		common += min(n, b[l])
	}
	return int(int64(common) * 100 / max(longer, 1))
}
