package git

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"supervise/internal/projectfile"
)

// gitFiles are files that git opens without checking their type.
var gitFiles = []struct {
	name string
	most projectfile.Limit // the largest size that is accepted
}{
	{"HEAD", projectfile.Settings},
	{"config", projectfile.Git},
	{"config.worktree", projectfile.Git},
	{"index", projectfile.Report},
	{"packed-refs", projectfile.Git},
	{"commondir", projectfile.Settings},
	{"shallow", projectfile.Git},
	{"logs/HEAD", projectfile.Report},
	{"info/exclude", projectfile.Git},
	{"info/attributes", projectfile.Git},
	{"info/grafts", projectfile.Git},
	{"info/sparse-checkout", projectfile.Git},
	{"objects/info/alternates", projectfile.Git},
	{"objects/info/commit-graph", projectfile.Report},
	{"objects/pack/multi-pack-index", projectfile.Report},
}

// treeCommands are words of git commands that read .gitignore and .gitattributes.
var treeCommands = []string{"--exclude-standard", "check-ignore", "check-attr", "status", "diff", "diff-tree", "diff-index", "diff-files", "log", "add", "stash"}

// CheckFiles refuses a folder in whose checkout a git command would wait or read forever,
// because a file that git reads is a pipe, a device or a huge file. It ignores other errors,
// which git itself reports. Results are cached until a program runs, see [TrackProgram].
func CheckFiles(dir string, args ...string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	top, _ := projectfile.FindCheckout(abs)
	own, shared := Dirs(abs)
	for _, folder := range slices.Compact([]string{own, shared}) {
		for _, f := range gitFiles {
			if err := checkFile(filepath.Join(folder, filepath.FromSlash(f.name)), f.most); err != nil {
				return err
			}
		}
		if err := checkOnce(filepath.Join(folder, "refs"), func(fs.DirEntry) bool { return true }); err != nil {
			return err
		}
	}

	if !slices.ContainsFunc(args, func(word string) bool { return slices.Contains(treeCommands, word) }) {
		return nil
	}
	return checkOnce(top, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" || d.Name() == ".gitattributes" })
}

// checkedDirs remembers the folders that were found in order since the last program ran.
var checkedDirs struct {
	sync.Mutex
	running int             // programs that run now; nothing is cached meanwhile
	since   int             // number of programs that have ended
	fine    map[string]bool // by folder
}

// TrackProgram disables the cache of CheckFiles until done is called, because a running program
// may write anywhere.
func TrackProgram() (done func()) {
	checkedDirs.Lock()
	defer checkedDirs.Unlock()
	checkedDirs.running++
	checkedDirs.fine = nil
	return func() {
		checkedDirs.Lock()
		defer checkedDirs.Unlock()
		checkedDirs.running--
		checkedDirs.since++
		checkedDirs.fine = nil
	}
}

// InvalidateChecks clears the cache of CheckFiles after files of a checkout have changed.
func InvalidateChecks() { TrackProgram()() }

// checkOnce is checkBelow with a cache, which is valid until the next program runs. read
// selects the files to check.
func checkOnce(dir string, read func(fs.DirEntry) bool) error {
	checkedDirs.Lock()
	fine, since := checkedDirs.fine[dir], checkedDirs.since
	checkedDirs.Unlock()
	if fine {
		return nil
	}
	err := checkBelow(dir, read)
	checkedDirs.Lock()
	defer checkedDirs.Unlock()
	if err == nil && checkedDirs.running == 0 && checkedDirs.since == since {
		if checkedDirs.fine == nil {
			checkedDirs.fine = map[string]bool{}
		}
		checkedDirs.fine[dir] = true
	}
	return err
}

// Dirs returns the git folder of the checkout that contains an absolute path, and the one that it
// shares with its worktrees. Both are the same unless the checkout is a linked worktree. Without a
// checkout they do not exist.
func Dirs(path string) (own, shared string) {
	top, _ := projectfile.FindCheckout(path)
	own = filepath.Join(top, ".git") // usually a folder
	own = cmp.Or(readPath(own, top), own)
	return own, cmp.Or(readPath(filepath.Join(own, "commondir"), own), own)
}

// readPath reads a path from a file of git, possibly relative to base. It returns "" if the file
// cannot be read.
func readPath(file, base string) string {
	text, err := projectfile.ReadAnywhere(file, projectfile.Settings)
	if err != nil {
		return ""
	}
	to := filepath.FromSlash(strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:")))
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(base, to)
}

// checkFile refuses a special or huge file. Folders are accepted.
func checkFile(path string, most projectfile.Limit) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // git says what is wrong
	}
	return projectfile.CheckFile(path, info, most)
}

// checkBelow refuses special or huge files below a folder among those that read selects. Like
// git, it does not follow links.
func checkBelow(dir string, read func(fs.DirEntry) bool) error {
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
			return checkFile(path, projectfile.Git)
		}
		return nil
	})
}
