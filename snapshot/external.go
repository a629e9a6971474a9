package snapshot

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// gitRel is the part of a path behind its first .git: "refs" for "sub/.git/refs", "" for .git itself.
func gitRel(dir string) string {
	rest := dir
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if isDotGit(name) {
			return rest
		}
	}
	return dir
}

// isObjectDir tells object databases: that of a repository and those of its submodules. rel is relative to .git.
func isObjectDir(rel string) bool {
	return rel == "objects" || strings.HasPrefix(rel, "modules/") && path.Base(rel) == "objects"
}

// isLargeFiles tells the folders in which git-lfs and git-annex keep the contents of large files, under names that are
// made from the content. Often they are nowhere else: nobody has pushed them yet.
func isLargeFiles(rel string) bool { return rel == "lfs/objects" || rel == "annex/objects" }

// largeFiles are those folders.
func largeFiles() []string { return []string{"lfs/objects", "annex/objects"} }

// leadsToLargeFiles tells the folders above them. Of those nothing else is kept, nor that they are there.
func leadsToLargeFiles(rel string) bool { return rel == "lfs" || rel == "annex" || isLargeFiles(rel) }

// isLargeFilesKey tells it of the key of an object database.
func isLargeFilesKey(key string) bool {
	return isLargeFiles(gitRel(strings.TrimPrefix(key, inExternal)))
}

// keepGit leaves out of a git folder what is kept as objects (which never change) and what is only a cache.
func keepGit(rel, name string) bool {
	switch {
	case isLargeFiles(rel):
		return false // kept as links, see pool
	case rel == "lfs" || rel == "annex":
		return name == "objects"
	case isObjectDir(rel):
		return name == "info" || name == "pack"
	case path.Base(rel) == "pack" && isObjectDir(path.Dir(rel)):
		return !strings.HasPrefix(name, "pack-") && !strings.HasPrefix(name, "tmp_") && !strings.HasPrefix(name, ".tmp-")
	}
	return true
}

// external is a git folder outside of the tree: that of a linked worktree, or one made by git init --separate-git-dir.
// It is found once, when the store is made, so that an agent cannot point us at other folders.
type external struct {
	GitDir string // "" if there is none
	Common string // the shared folder of a linked worktree; otherwise GitDir
}

func (e external) linked() bool { return e.Common != e.GitDir }

// findExternal follows .git of the tree, if it is not an ordinary folder.
func findExternal(work string) (external, error) {
	dotGit := filepath.Join(work, ".git")
	fi, err := os.Lstat(dotGit)
	if err != nil || fi.IsDir() {
		return external{}, nil //nolint:nilerr // no repository is no error
	}
	dir := dotGit
	if fi.Mode().IsRegular() {
		data, err := os.ReadFile(dotGit)
		if err != nil {
			return external{}, fmt.Errorf("read %s: %w", dotGit, err)
		}
		dir = absFrom(work, strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")))
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return external{}, fmt.Errorf("find the git folder that %s names: %w", dotGit, err)
	}
	if isBelow(dir, work) {
		return external{}, nil // captured with the tree
	}
	ext := external{GitDir: dir, Common: dir}
	if data, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		ext.Common = absFrom(dir, strings.TrimSpace(string(data)))
	}
	return ext, nil
}

func absFrom(base, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// isBelow tells whether p is dir or lies in it; both are absolute and clean.
func isBelow(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// inExternal begins the names of what lies in the git folder outside of the tree, where names of the tree are mixed with
// them; no path of the tree begins with a slash.
const inExternal = "/external/"

// objectDir is the folder of an object database that a manifest names.
func (e external) objectDir(work, key string) string {
	rel, outside := strings.CutPrefix(key, inExternal)
	switch {
	case !outside:
		return filepath.Join(work, filepath.FromSlash(key))
	case rel == "objects" || isLargeFiles(rel): // shared by all linked worktrees
		return filepath.Join(e.Common, filepath.FromSlash(rel))
	default:
		return filepath.Join(e.GitDir, filepath.FromSlash(rel))
	}
}
