package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/pack"
)

// WriteTrees writes sorted entries as git trees, one for each folder, and returns the id of
// the top one. All paths start with prefix, which is "" or ends in a slash. Empty folders are
// omitted. The id of each tree is saved in the entry of its folder; trees that the store
// already has are not written again.
func WriteTrees(p *pack.Writer, entries []Entry, prefix string) (pack.OID, error) {
	var items []treeItem
	for i := 0; i < len(entries); {
		name, _, deep := strings.Cut(entries[i].Path[len(prefix):], "/")
		if !deep {
			if entries[i].Kind != disk.KindDir {
				items = append(items, treeItem{name, gitMode(&entries[i]), entries[i].OID})
			}
			i++
			continue
		}

		dir := prefix + name
		n := sort.Search(len(entries)-i, func(k int) bool { return !strings.HasPrefix(entries[i+k].Path[len(prefix):], name+"/") })
		id, err := writeSubtree(p, entries[:i], entries[i:i+n], dir)
		if err != nil {
			return pack.OID{}, err
		}
		if id != (pack.OID{}) {
			items = append(items, treeItem{name, ModeTree, id})
		}
		i += n
	}
	return p.Add(pack.Tree, encodeTree(items))
}

// writeSubtree writes the tree of the folder dir, which contains entries. The folder's own
// entry is in before. The id is zero if the folder contains no files.
func writeSubtree(p *pack.Writer, before, entries []Entry, dir string) (pack.OID, error) {
	var self *Entry
	if i := Lookup(before, dir); i >= 0 && before[i].Kind == disk.KindDir {
		self = &before[i]
		if self.OID != (pack.OID{}) && p.Has(self.OID) {
			return self.OID, nil
		}
	}
	if !slices.ContainsFunc(entries, func(e Entry) bool { return e.Kind != disk.KindDir }) {
		return pack.OID{}, nil
	}
	id, err := WriteTrees(p, entries, dir+"/")
	if self != nil && err == nil {
		self.OID = id
	}
	return id, err
}

// treeItem is one line of a git tree. mode is octal text, like 100644.
type treeItem struct {
	name, mode string
	id         pack.OID
}

// Modes of entries in a git tree.
const (
	ModeTree = "40000"
	modeFile = "100644"
)

// gitMode returns the mode of an entry in a git tree. Git knows only links, executable files
// and other files.
func gitMode(e *Entry) string {
	switch {
	case e.Kind == disk.KindLink:
		return "120000"
	case e.Stat.Mode&0o100 != 0:
		return "100755"
	default:
		return modeFile
	}
}

// encodeTree encodes a git tree, and sorts the items as git requires: folders as if their
// names ended in a slash.
func encodeTree(items []treeItem) []byte {
	key := func(t treeItem) string {
		if t.mode == ModeTree {
			return t.name + "/"
		}
		return t.name
	}
	sort.Slice(items, func(i, j int) bool { return key(items[i]) < key(items[j]) })
	var b bytes.Buffer
	for _, t := range items {
		b.WriteString(t.mode + " " + t.name + "\x00")
		b.Write(t.id[:])
	}
	return b.Bytes()
}

// WriteCommit writes a commit of a tree. It has no parent, so that each snapshot can be dropped separately.
func WriteCommit(p *pack.Writer, tree pack.OID, message string, at time.Time) (pack.OID, error) {
	who := fmt.Sprintf("supervise <supervise@localhost> %d +0000", at.Unix())
	text := fmt.Sprintf("tree %s\nauthor %s\ncommitter %s\n\n%s\n", tree, who, who, strings.ReplaceAll(message, "\x00", " "))
	return p.Add(pack.Commit, []byte(text))
}

// WriteFlat writes the contents of entries as one tree, named by content. It keeps the files of git's state reachable
// without names that git refuses, such as .git.
func WriteFlat(p *pack.Writer, parts ...[]Entry) (pack.OID, error) {
	seen := map[pack.OID]bool{}
	var items []treeItem
	for _, part := range parts {
		for _, e := range part {
			if e.Kind != disk.KindDir && !seen[e.OID] {
				seen[e.OID] = true
				items = append(items, treeItem{e.OID.String(), modeFile, e.OID})
			}
		}
	}
	return p.Add(pack.Tree, encodeTree(items))
}
