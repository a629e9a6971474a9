package gitdir

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/manifest"
)

// PathInGit returns the part of a path after its first .git: "refs" for "sub/.git/refs", and
// "" for .git itself. A path without .git is returned unchanged.
func PathInGit(dir string) string {
	remaining := dir
	for remaining != "" {
		var name string
		name, remaining, _ = strings.Cut(remaining, "/")
		if IsDotGit(name) {
			return remaining
		}
	}
	return dir
}

// IsObjectDir reports whether rel, relative to .git, is the object database of the repository or of a submodule.
func IsObjectDir(rel string) bool {
	return rel == "objects" || strings.HasPrefix(rel, "modules/") && path.Base(rel) == "objects"
}

// IsLargeFileDir reports whether rel is a folder in which git-lfs or git-annex stores large files, under names made from
// their content. Often these are the only copies, because they were not pushed yet.
func IsLargeFileDir(rel string) bool { return rel == "lfs/objects" || rel == "annex/objects" }

// LargeFileDirs returns the folders that IsLargeFileDir recognizes.
func LargeFileDirs() []string { return []string{"lfs/objects", "annex/objects"} }

// IsLargeFileParent reports whether rel is a folder of IsLargeFileDir, or its parent. Nothing
// else in them is captured.
func IsLargeFileParent(rel string) bool { return rel == "lfs" || rel == "annex" || IsLargeFileDir(rel) }

// IsLargeFileKey reports whether the object database with a key is a folder of IsLargeFileDir.
func IsLargeFileKey(key string) bool {
	return IsLargeFileDir(PathInGit(strings.TrimPrefix(key, InExternal)))
}

// IsCapturedInGit reports whether a name in the folder rel of .git is captured. Objects, which never change, are kept in
// pools instead, and caches are omitted.
func IsCapturedInGit(rel, name string) bool {
	switch {
	case IsLargeFileDir(rel):
		return false // kept as links, see pool
	case rel == "lfs" || rel == "annex":
		return name == "objects"
	case IsObjectDir(rel):
		return name == "info" || name == "pack"
	case path.Base(rel) == "pack" && IsObjectDir(path.Dir(rel)):
		return !strings.HasPrefix(name, "pack-") && !strings.HasPrefix(name, "tmp_") && !strings.HasPrefix(name, ".tmp-")
	}
	return true
}

// External is a git folder outside the tree: that of a linked worktree, or one made by git init --separate-git-dir. It is
// determined when the store is created, so that an agent cannot redirect supervise to other folders.
type External struct {
	GitDir string // "" if there is none
	Common string // the shared folder of a linked worktree; otherwise GitDir
}

// Linked reports whether the tree is a linked worktree.
func (e External) Linked() bool { return e.Common != e.GitDir }

// FindExternal returns the git folder of the tree if it is outside the tree, and otherwise the zero value.
func FindExternal(work string) (External, error) {
	dotGit := filepath.Join(work, ".git")
	fi, err := os.Lstat(dotGit)
	if err != nil || fi.IsDir() {
		return External{}, nil //nolint:nilerr // no repository is no error
	}
	dir := dotGit
	if fi.Mode().IsRegular() {
		data, err := projectfile.ReadAnywhere(dotGit, projectfile.Settings)
		if err != nil {
			return External{}, fmt.Errorf("read %s: %w", dotGit, err)
		}
		dir = resolveFrom(work, strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")))
	}

	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return External{}, fmt.Errorf("find the git folder that %s names: %w", dotGit, err)
	}
	if IsBelow(dir, work) {
		return External{}, nil // captured with the tree
	}

	ext := External{GitDir: dir, Common: dir}
	if data, err := projectfile.ReadAnywhere(filepath.Join(dir, "commondir"), projectfile.Settings); err == nil {
		ext.Common = resolveFrom(dir, strings.TrimSpace(string(data)))
	}
	return ext, nil
}

// resolveFrom returns a path that may be relative to base.
func resolveFrom(base, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// IsBelow reports whether p is dir or inside it; both must be absolute and clean.
func IsBelow(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// InExternal is the prefix of names in the external git folder, in lists that also contain paths of the tree. No path of the
// tree starts with a slash.
const InExternal = "/external/"

// ObjectDir returns the folder of the object database with the given key. A key is a path
// relative to the tree at work, or InExternal and a path relative to the git folder outside
// the tree.
func (e External) ObjectDir(work, key string) string {
	rel, outside := strings.CutPrefix(key, InExternal)
	switch {
	case !outside:
		return filepath.Join(work, filepath.FromSlash(key))
	case rel == "objects" || IsLargeFileDir(rel): // shared by all linked worktrees
		return filepath.Join(e.Common, filepath.FromSlash(rel))
	default:
		return filepath.Join(e.GitDir, filepath.FromSlash(rel))
	}
}

// Tree is the working tree of a store.
type Tree struct {
	Work     string   // absolute, without symbolic links
	Root     *os.Root // the folder, opened
	External External // its git folder, if that is outside the tree
	Excludes Excludes
}

// Excludes are the files and folders of the tree that are neither captured nor restored nor deleted.
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

// Without returns the entries that are not excluded. The result is the same slice if none are.
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
