package treediff

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git names objects so
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"supervise/integrity"
	"supervise/internal/projectfile"
)

// CompareWorkingTree returns the files of the checkout at r that differ from the tree base. It
// includes untracked files, but not ignored ones. It does not trust the index, so it also
// compares files that are marked assume-unchanged.
func (r Repo) CompareWorkingTree(ctx context.Context, base string) (Change, error) {
	top, err := r.git(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return Change{}, fmt.Errorf("%s has no working tree: %w", r.Dir, err)
	}
	r.Dir = strings.TrimSuffix(string(top), "\n")

	before, err := r.listTree(ctx, base)
	if err != nil {
		return Change{}, err
	}

	out, err := r.git(ctx, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return Change{}, err
	}
	names := splitNames(out)
	for name := range before {
		names[name] = true // also files that were removed from the index
	}

	c, err := r.compareFiles(ctx, before, names)
	c.Base = r.treeAt(ctx, base, before)
	return c, err
}

// compareFiles returns the change between a tree and the files on disk. before maps the paths
// of the tree to the ids of their contents, and names are the paths to compare.
func (r Repo) compareFiles(ctx context.Context, before map[string]string, names map[string]bool) (Change, error) {
	now, ids, err := r.findDiffering(before, names)
	if err != nil {
		return Change{}, fmt.Errorf("read the working tree: %w", err)
	}
	texts, err := r.readContents(ctx, ids)
	if err != nil {
		return Change{}, err
	}
	old := map[string]*content{}
	for name, c := range now {
		previous := texts[before[name]]
		wasRead := previous != nil && previous.size <= MaxSize
		if wasRead && c != nil && bytes.Equal(normalizeLineEndings(previous.text), normalizeLineEndings(c.text)) {
			delete(now, name) // only its line endings differ
			continue
		}
		old[name] = previous
	}
	return changeOf(old, now), nil
}

// findDiffering returns the files on disk that differ from the tree, nil for removed ones, and
// the ids of their previous contents.
func (r Repo) findDiffering(before map[string]string, names map[string]bool) (now map[string]*content, ids []string, err error) {
	now = map[string]*content{}
	tree, err := projectfile.Open(r.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer tree.Close()
	for name := range names {
		c, err := readFile(tree, r.Dir, name)
		if err != nil {
			return nil, nil, err
		}
		id := before[name]
		isMissing := c == nil && id == ""
		isUnchanged := c != nil && c.text != nil && id != "" && blobID(c.text, len(id)) == id
		if isMissing || isUnchanged {
			continue
		}
		now[name] = c
		if id != "" {
			ids = append(ids, id)
		}
	}
	return now, ids, nil
}

// normalizeLineEndings returns a text with \n in place of \r\n.
func normalizeLineEndings(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// listTree returns the files of a tree: path → id of the content. Submodules are omitted.
func (r Repo) listTree(ctx context.Context, tree string) (map[string]string, error) {
	id, err := r.treeID(ctx, tree)
	if err != nil {
		return nil, err
	}
	out, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for _, row := range strings.Split(string(out), "\x00") {
		head, name, ok := strings.Cut(row, "\t")
		if f := strings.Fields(head); ok && len(f) == 3 && f[0] != submodule {
			list[name] = f[2]
		}
	}
	return list, nil
}

// blobID returns git's id of a content. length is the length of ids in the repository, 40 or
// 64 digits.
func blobID(text []byte, length int) string {
	var h hash.Hash
	if h = sha1.New(); length == hex.EncodedLen(sha256.Size) { //nolint:gosec // git names objects so
		h = sha256.New()
	}
	h.Write([]byte("blob " + strconv.Itoa(len(text)) + "\x00"))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// readFile reads a file of the tree in root, or the target of a link, like git. It returns nil
// for anything else. A too long file has no text.
func readFile(tree *projectfile.Tree, root, name string) (*content, error) {
	path := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
		return nil, nil //nolint:nilnil // a missing file is no error
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return &content{text: []byte(target), size: int64(len(target))}, err
	case !info.Mode().IsRegular():
		return nil, nil //nolint:nilnil // pipes and sockets are not files of a project
	case info.Size() > MaxSize:
		return &content{size: info.Size()}, nil
	}
	text, err := tree.Read(name, MaxSize)
	if _, refused := errors.AsType[*projectfile.Refusal](err); refused {
		return nil, nil //nolint:nilnil // a parent folder is a link out of the tree, which git does not follow either
	}
	return &content{text: text, size: int64(len(text))}, err
}

// CompareFolders returns the files that differ between two folders, without folders of version
// control and third-party code.
func CompareFolders(before, after string) (Change, error) {
	old, err := readFolder(before)
	if err != nil {
		return Change{}, err
	}
	now, err := readFolder(after)
	if err != nil {
		return Change{}, err
	}
	base := maps.Clone(old)
	for name, c := range now {
		previous := old[name]
		if previous != nil && previous.size == c.size && c.size <= MaxSize && bytes.Equal(previous.text, c.text) {
			delete(old, name)
			delete(now, name)
		}
	}
	c := changeOf(old, now)
	c.Base = newTree(
		func() []string { return slices.Sorted(maps.Keys(base)) },
		func(paths []string) map[string]*content {
			out := map[string]*content{}
			for _, p := range paths {
				out[p] = base[p]
			}
			return out
		})
	return c, nil
}

// excludedDirs are folders without files of the project itself.
var excludedDirs = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}

// readFolder reads all files of a folder, by path.
func readFolder(root string) (map[string]*content, error) {
	out := map[string]*content{}
	tree, err := projectfile.Open(root)
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	defer tree.Close()
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && slices.Contains(excludedDirs, d.Name()):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		c, err := readFile(tree, root, rel)
		if c != nil {
			out[filepath.ToSlash(rel)] = c
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	return out, nil
}

// changeOf returns the change between the old and the current contents of files that differ. A
// nil content is a missing file.
func changeOf(old, now map[string]*content) Change {
	var c Change
	renamed := findRenames(old, now)
	gone := map[string]bool{}
	for _, from := range renamed {
		gone[from] = true
	}
	for name, current := range now {
		if current == nil {
			continue
		}
		previous, from := old[name], renamed[name]
		if from != "" {
			previous = old[from]
		}
		c.add(integrity.File{Path: name, OldPath: from}, previous, current)
	}
	for name, previous := range old {
		if previous != nil && now[name] == nil && !gone[name] {
			c.add(integrity.File{Path: name}, previous, nil)
		}
	}
	c.sort()
	return c
}
