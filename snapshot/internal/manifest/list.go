package manifest

import (
	"sort"
	"strings"
)

// Part is one of the lists of a manifest.
type Part int

// The parts of a manifest, in the order of the file.
const (
	PartWork Part = iota // working files
	PartGit              // .git folders inside the tree, without objects
	PartExt              // a git folder outside of the tree
	PartKept             // ignored files that no tool regenerates, and their folders
	Parts
)

// Below returns the range of the sorted entries inside a folder.
func Below(list []Entry, dir string) (lo, hi int) {
	if dir == "" {
		return 0, len(list)
	}
	prefix := dir + "/"
	lo = Search(list, 0, prefix)
	hi = lo + sort.Search(len(list)-lo, func(i int) bool { return !strings.HasPrefix(list[lo+i].Path, prefix) })
	return lo, hi
}

// Search returns the index of the first entry whose path, without its first skip bytes, is not less than name.
func Search(list []Entry, skip int, name string) int {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if list[mid].Path[skip:] < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Lookup returns the index of the entry of a path, or -1.
func Lookup(list []Entry, path string) int {
	if i := Search(list, 0, path); i < len(list) && list[i].Path == path {
		return i
	}
	return -1
}

// IsSameList reports whether two slices are the same, without comparing their entries.
func IsSameList(a, b []Entry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ForEachPair calls do for each path in two sorted lists, with nil for a missing entry.
func ForEachPair(a, b []Entry, do func(a, b *Entry)) {
	if IsSameList(a, b) {
		b = a
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Path < b[0].Path:
			do(&a[0], nil)
			a = a[1:]
		case len(a) == 0 || b[0].Path < a[0].Path:
			do(nil, &b[0])
			b = b[1:]
		default:
			do(&a[0], &b[0])
			a, b = a[1:], b[1:]
		}
	}
}

// ByPath indexes entries by their path.
func ByPath(list []Entry) map[string]Entry {
	m := make(map[string]Entry, len(list))
	for _, e := range list {
		m[e.Path] = e
	}
	return m
}
