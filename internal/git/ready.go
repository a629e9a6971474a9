package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"supervise/internal/projectfile"
)

// gitFiles are the files of git that its commands open without looking what they are.
var gitFiles = []struct {
	name string
	most projectfile.Limit
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

// CheckFiles refuses a folder in whose checkout a git command would wait for ever, or read
// without end: a pipe, a device or a huge file is in the place of one that git reads.
// Errors about anything else are left to git. What was found in order is not looked at
// again before a program has run, see [TrackProgram].
func CheckFiles(dir string, args ...string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	top, _ := projectfile.FindCheckout(abs)
	own := gitDir(top)
	shared := own
	if text, err := projectfile.ReadAnywhere(filepath.Join(own, "commondir"), projectfile.Settings); err == nil {
		if shared = strings.TrimSpace(string(text)); !filepath.IsAbs(shared) {
			shared = filepath.Join(own, shared)
		}
	}
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
	running int             // programs that run now, under which nothing is remembered
	since   int             // counts what ended
	fine    map[string]bool // by folder
}

// TrackProgram says that a program runs that could write anywhere, until done is called.
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

// InvalidateChecks says that the files of a checkout are others than before.
func InvalidateChecks() { TrackProgram()() }

// checkOnce looks below a folder, unless that was done since the last program ran.
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

// gitDir is git's folder of a checkout.
func gitDir(top string) string {
	dot := filepath.Join(top, ".git")
	text, err := projectfile.ReadAnywhere(dot, projectfile.Settings)
	if err != nil {
		return dot // as a rule a folder
	}
	to := filepath.FromSlash(strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:")))
	if !filepath.IsAbs(to) {
		to = filepath.Join(top, to)
	}
	return to
}

// checkFile refuses a file that is special or huge; a folder is none that git waits for.
func checkFile(path string, most projectfile.Limit) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // git says what is wrong
	}
	return projectfile.CheckFile(path, info, most)
}

// checkBelow refuses files below a folder that git would wait for. Git follows no links to
// them.
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
