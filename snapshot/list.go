package snapshot

import (
	"sort"
	"strings"
)

// part is one of the lists of a manifest.
type part int

const (
	partWork part = iota // working files
	partGit              // .git folders inside the tree, without objects
	partExt              // a git folder outside of the tree
	parts
)

// below is the range of the sorted entries that lie in a folder.
func below(list []entry, dir string) (lo, hi int) {
	if dir == "" {
		return 0, len(list)
	}
	prefix := dir + "/"
	lo = search(list, 0, prefix)
	hi = lo + sort.Search(len(list)-lo, func(i int) bool { return !strings.HasPrefix(list[lo+i].path, prefix) })
	return lo, hi
}

// search finds the first entry whose path without its first skip bytes is not less than name.
func search(list []entry, skip int, name string) int {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if list[mid].path[skip:] < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// lookup finds the entry of a path, or -1.
func lookup(list []entry, path string) int {
	if i := search(list, 0, path); i < len(list) && list[i].path == path {
		return i
	}
	return -1
}

// shared tells whether two lists are one and the same.
func shared(a, b []entry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// pairs goes through two sorted lists together: each path once, with nil for the list that does not have it.
func pairs(a, b []entry, do func(a, b *entry)) {
	if shared(a, b) {
		b = a
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].path < b[0].path:
			do(&a[0], nil)
			a = a[1:]
		case len(a) == 0 || b[0].path < a[0].path:
			do(nil, &b[0])
			b = b[1:]
		default:
			do(&a[0], &b[0])
			a, b = a[1:], b[1:]
		}
	}
}

func byPath(list []entry) map[string]entry {
	m := make(map[string]entry, len(list))
	for _, e := range list {
		m[e.path] = e
	}
	return m
}
