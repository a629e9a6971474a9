package snapshot

import "strings"

// excludes are the files and folders of the tree that are neither captured nor deleted nor restored.
type excludes []pathText

// has reports whether a path, or a folder above it, is excluded.
func (x excludes) has(p string) bool {
	for _, e := range x {
		if p == string(e) || strings.HasPrefix(p, string(e)+"/") {
			return true
		}
	}
	return false
}

// without drops the working files that were excluded after a snapshot was taken.
func (x excludes) without(entries []entry) []entry {
	for _, e := range x {
		lo, hi := below(entries, string(e))
		if self := lookup(entries, string(e)); lo == hi && self < 0 {
			continue
		}
		var out []entry
		for i := range entries {
			if !x.has(entries[i].path) {
				out = append(out, entries[i])
			}
		}
		return out
	}
	return entries
}
