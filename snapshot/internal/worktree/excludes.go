package worktree

import (
	"strings"

	"supervise/snapshot/internal/manifest"
)

// Excludes are the files and folders of the tree that are neither captured nor deleted nor restored.
type Excludes []manifest.PathText

// Has reports whether a path, or a folder above it, is excluded.
func (x Excludes) Has(p string) bool {
	for _, e := range x {
		if p == string(e) || strings.HasPrefix(p, string(e)+"/") {
			return true
		}
	}
	return false
}

// Without drops the working files that were excluded after a snapshot was taken.
func (x Excludes) Without(entries []manifest.Entry) []manifest.Entry {
	for _, e := range x {
		lo, hi := manifest.Below(entries, string(e))
		if self := manifest.Lookup(entries, string(e)); lo == hi && self < 0 {
			continue
		}
		var out []manifest.Entry
		for i := range entries {
			if !x.Has(entries[i].Path) {
				out = append(out, entries[i])
			}
		}
		return out
	}
	return entries
}
