package snapshot

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// writeTrees writes the folders of sorted entries as git trees and returns the id of the topmost. Empty folders have no
// place in them. The entry of a folder keeps the id of its tree; a tree that is known and stored is not made again.
func writeTrees(p *packWriter, entries []entry, prefix string) (oid, error) {
	var items []treeItem
	for i := 0; i < len(entries); {
		name, _, deep := strings.Cut(entries[i].path[len(prefix):], "/")
		if !deep {
			if entries[i].kind != kindDir {
				items = append(items, treeItem{name, gitMode(&entries[i]), entries[i].oid})
			}
			i++
			continue
		}
		dir := prefix + name
		n := sort.Search(len(entries)-i, func(k int) bool { return !strings.HasPrefix(entries[i+k].path[len(prefix):], name+"/") })
		id, err := writeSubtree(p, entries[:i], entries[i:i+n], dir)
		if err != nil {
			return oid{}, err
		}
		if id != (oid{}) {
			items = append(items, treeItem{name, modeTree, id})
		}
		i += n
	}
	return p.add(objTree, encodeTree(items))
}

// writeSubtree writes the tree of one folder, whose own entry is among those before; the id is zero if it holds no files.
func writeSubtree(p *packWriter, before, entries []entry, dir string) (oid, error) {
	var self *entry
	if i := lookup(before, dir); i >= 0 && before[i].kind == kindDir {
		self = &before[i]
		if self.oid != (oid{}) && p.has(self.oid) {
			return self.oid, nil
		}
	}
	if !slices.ContainsFunc(entries, func(e entry) bool { return e.kind != kindDir }) {
		return oid{}, nil
	}
	id, err := writeTrees(p, entries, dir+"/")
	if self != nil && err == nil {
		self.oid = id
	}
	return id, err
}

type treeItem struct {
	name, mode string
	id         oid
}

const (
	modeTree = "40000"
	modeFile = "100644"
)

func gitMode(e *entry) string {
	switch {
	case e.kind == kindLink:
		return "120000"
	case e.st.mode&0o100 != 0:
		return "100755"
	default:
		return modeFile
	}
}

// encodeTree writes a tree object. Git sorts folders as if their names ended in a slash.
func encodeTree(items []treeItem) []byte {
	key := func(t treeItem) string {
		if t.mode == modeTree {
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

// writeCommit records a tree with a message; the commit has no parent, so that any snapshot can be dropped alone.
func writeCommit(p *packWriter, tree oid, message string, at time.Time) (oid, error) {
	who := fmt.Sprintf("supervise <supervise@localhost> %d +0000", at.Unix())
	text := fmt.Sprintf("tree %s\nauthor %s\ncommitter %s\n\n%s\n", tree, who, who, strings.ReplaceAll(message, "\x00", " "))
	return p.add(objCommit, []byte(text))
}

// writeFlat writes the contents of entries as one tree that is keyed by content. It keeps the files of git's state
// reachable without giving them names that git refuses, such as .git.
func writeFlat(p *packWriter, parts ...[]entry) (oid, error) {
	seen := map[oid]bool{}
	var items []treeItem
	for _, part := range parts {
		for _, e := range part {
			if e.kind != kindDir && !seen[e.oid] {
				seen[e.oid] = true
				items = append(items, treeItem{e.oid.String(), modeFile, e.oid})
			}
		}
	}
	return p.add(objTree, encodeTree(items))
}
