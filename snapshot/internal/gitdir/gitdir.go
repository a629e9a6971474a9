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

// PathInGit is the part of a path behind its first .git: "refs" for "sub/.git/refs", "" for .git itself.
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

// IsObjectDir recognises object databases: that of a repository and those of its submodules. rel is relative to .git.
func IsObjectDir(rel string) bool {
	return rel == "objects" || strings.HasPrefix(rel, "modules/") && path.Base(rel) == "objects"
}

// IsLargeFileDir recognises the folders in which git-lfs and git-annex keep the contents of large files, under names that are
// made from the content. Often they are nowhere else: nobody has pushed them yet.
func IsLargeFileDir(rel string) bool { return rel == "lfs/objects" || rel == "annex/objects" }

// LargeFileDirs are those folders.
func LargeFileDirs() []string { return []string{"lfs/objects", "annex/objects"} }

// IsLargeFileParent recognises the folders above them. Of those nothing else is kept, nor that they are there.
func IsLargeFileParent(rel string) bool { return rel == "lfs" || rel == "annex" || IsLargeFileDir(rel) }

// IsLargeFileKey is IsLargeFiles for the key of an object database.
func IsLargeFileKey(key string) bool {
	return IsLargeFileDir(PathInGit(strings.TrimPrefix(key, InExternal)))
}

// IsCapturedInGit leaves out of a git folder what is kept as objects (which never change) and what is only a cache.
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

// External is a git folder outside of the tree: that of a linked worktree, or one made by git init --separate-git-dir.
// It is found once, when the store is made, so that an agent cannot point us at other folders.
type External struct {
	GitDir string // "" if there is none
	Common string // the shared folder of a linked worktree; otherwise GitDir
}

// Linked reports whether the tree is a linked worktree.
func (e External) Linked() bool { return e.Common != e.GitDir }

// FindExternal follows .git of the tree, if it is not an ordinary folder.
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

func resolveFrom(base, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// IsBelow reports whether p is dir or lies in it; both are absolute and clean.
func IsBelow(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// InExternal begins the names of what lies in the git folder outside of the tree, where names of the tree are mixed with
// them; no path of the tree begins with a slash.
const InExternal = "/external/"

// ObjectDir is the folder of an object database that a manifest names.
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

// Tree is the working tree that the snapshots of a store are of.
type Tree struct {
	Work     string   // absolute, without symbolic links
	Root     *os.Root // the folder, opened
	External External // its git folder, if that lies outside of it
	Excludes Excludes
}

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
