package projectfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gitFiles are the files of git that its commands open without looking what they are.
var gitFiles = []struct {
	name string
	most Limit
}{
	{"HEAD", Settings},
	{"config", Git},
	{"config.worktree", Git},
	{"index", Report},
	{"packed-refs", Git},
	{"commondir", Settings},
	{"shallow", Git},
	{"logs/HEAD", Report},
	{"info/exclude", Git},
	{"info/attributes", Git},
	{"info/grafts", Git},
	{"info/sparse-checkout", Git},
	{"objects/info/alternates", Git},
	{"objects/info/commit-graph", Report},
	{"objects/pack/multi-pack-index", Report},
}

// treeCommands are words of git commands that read .gitignore and .gitattributes.
var treeCommands = []string{"--exclude-standard", "check-ignore", "check-attr", "status", "diff", "diff-tree", "diff-index", "diff-files", "log", "add", "stash"}

// GitReady refuses a folder in whose checkout a git command would wait for ever, or read
// without end: a pipe, a device or a huge file is in the place of one that git reads.
// Errors about anything else are left to git.
func GitReady(dir string, args ...string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	top, _ := checkout(abs)
	own := gitFolder(top)
	shared := own
	if text, err := ReadAnywhere(filepath.Join(own, "commondir"), Settings); err == nil {
		if shared = strings.TrimSpace(string(text)); !filepath.IsAbs(shared) {
			shared = filepath.Join(own, shared)
		}
	}
	for _, folder := range slices.Compact([]string{own, shared}) {
		for _, f := range gitFiles {
			if err := waits(filepath.Join(folder, filepath.FromSlash(f.name)), f.most); err != nil {
				return err
			}
		}
		if err := below(filepath.Join(folder, "refs"), func(fs.DirEntry) bool { return true }); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(args, func(word string) bool { return slices.Contains(treeCommands, word) }) {
		return nil
	}
	return below(top, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" || d.Name() == ".gitattributes" })
}

// gitFolder is git's folder of a checkout.
func gitFolder(top string) string {
	dot := filepath.Join(top, ".git")
	text, err := ReadAnywhere(dot, Settings)
	if err != nil {
		return dot // as a rule a folder
	}
	to := filepath.FromSlash(strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:")))
	if !filepath.IsAbs(to) {
		to = filepath.Join(top, to)
	}
	return to
}

// waits refuses a file that is special or huge; a folder is none that git waits for.
func waits(path string, most Limit) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // git says what is wrong
	}
	return check(path, info, most)
}

// below refuses files below a folder that git would wait for. Git follows no links to
// them.
func below(dir string, read func(fs.DirEntry) bool) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // git says what is wrong
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil || d.Type()&fs.ModeSymlink != 0:
			return nil //nolint:nilerr // git says what is wrong
		case d.IsDir() && d.Name() == ".git" && path != dir:
			return fs.SkipDir
		case !d.IsDir() && read(d):
			return waits(path, Git)
		}
		return nil
	})
}
