// Package treediff compares two states of a project: commits of git, the working tree, or
// folders. The result is the list of files that differ, with their texts. It uses only git's
// plumbing, so that no setting of the repository can run a program or hide a file, and it
// writes nothing.
//
// git.go compares two commits, disk.go compares files on disk, with a commit or with another
// folder, rename.go finds renamed files, and checkout.go asks about a checkout.
package treediff

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"supervise/integrity"
)

// MaxSize is the largest size of a file that is read, in bytes.
const MaxSize = 1 << 20

// Change is the difference between two states.
type Change struct {
	Files []integrity.File // sorted by path
	// Unread are the changed files that were not read, with the reason: "data.bin:
	// binary".
	Unread []string
	// Base is the complete project before the change, read on demand.
	Base integrity.Tree
}

// newTree returns a tree from two functions: list lists its paths and is called once, and read
// reads some of them. If an error occurs, files are missing, so that the rules know less.
func newTree(list func() []string, read func(paths []string) map[string]*content) integrity.Tree {
	return integrity.Tree{
		Paths: sync.OnceValue(list),
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for name, c := range read(paths) {
				if text := textOf(c); text != nil {
					out[name] = text
				}
			}
			return out
		},
	}
}

// unreadableReason returns why a file is not read, "" if it is. A zero byte near the start
// marks a binary file, as in git.
func unreadableReason(text []byte, size int64) (why string) {
	switch {
	case size > MaxSize:
		return "longer than 1 MiB"
	case bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0:
		return "binary"
	}
	return ""
}

// content is a file on one side of a comparison. text is nil if the file is empty or was not
// read, and size is in bytes.
type content struct {
	text []byte
	size int64
}

// add adds a changed file. before or after is nil if it is missing there.
func (c *Change) add(f integrity.File, before, after *content) {
	why := ""
	for _, side := range []*content{before, after} {
		if side != nil {
			why = cmp.Or(why, unreadableReason(side.text, side.size))
		}
	}
	if why != "" {
		c.Unread = append(c.Unread, f.Path+": "+why)
	}
	f.Added, f.Deleted = before == nil, after == nil
	f.Before, f.After = textOf(before), textOf(after)
	c.Files = append(c.Files, f)
}

// textOf returns the text of a file, which is not nil for an empty one. It is nil for a
// missing file, and for one that is not read.
func textOf(c *content) []byte {
	switch {
	case c == nil || unreadableReason(c.text, c.size) != "":
		return nil
	case c.text == nil:
		return []byte{}
	}
	return c.text
}

// sort sorts the lists by path.
func (c *Change) sort() {
	slices.SortFunc(c.Files, func(a, b integrity.File) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(c.Unread)
}
