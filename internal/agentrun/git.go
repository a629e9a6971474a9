package agentrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/internal/projectfile"
	"supervise/internal/treediff"
)

// gitState is the state of git: what is checked out, and the latest stash.
type gitState struct {
	head   string // the branch, or the commit
	commit string // that is checked out; empty where the files of git do not tell
	stash  string
	tables string // where references are kept in tables, what names these
}

// readGitState reads the state of git; the zero value without a repository.
func readGitState(root string) gitState {
	dir, common := gitDirs(root)
	g := gitState{head: readGitFile(dir, "HEAD"), stash: resolveRef(common, "refs/stash"), tables: readGitFile(common, "reftable/tables.list")}
	g.commit = g.head
	if ref, is := strings.CutPrefix(g.head, "ref: "); is {
		g.commit = resolveRef(common, ref)
	}
	return g
}

func readGitFile(dir, name string) string {
	text, err := projectfile.ReadAnywhere(filepath.Join(dir, filepath.FromSlash(name)), projectfile.Git)
	if err != nil {
		return "" // usually it does not exist
	}
	return strings.TrimSpace(string(text))
}

// resolveRef returns the commit of a ref, from its own file or from packed-refs.
func resolveRef(dir, name string) string {
	if id := readGitFile(dir, name); id != "" {
		return id
	}
	for line := range strings.Lines(readGitFile(dir, "packed-refs")) {
		if id, of, ok := strings.Cut(strings.TrimSpace(line), " "); ok && of == name {
			return id
		}
	}
	return ""
}

// gitDirs returns the git folder of this working tree, and the one that worktrees share. The
// tree may be part of a larger one.
func gitDirs(root string) (dir, common string) {
	dir = filepath.Join(root, ".git")
	for top := root; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			root, dir = top, filepath.Join(top, ".git")
			break
		}
		if top == filepath.Dir(top) {
			break
		}
	}
	if text, err := projectfile.ReadAnywhere(dir, projectfile.Settings); err == nil {
		to, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if dir = filepath.FromSlash(to); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	common = dir
	if text, err := projectfile.ReadAnywhere(filepath.Join(dir, "commondir"), projectfile.Settings); err == nil {
		if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	return dir, common
}

// gitBusyFiles are files that exist while git changes the tree.
var gitBusyFiles = []string{"index.lock", "rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "sequencer"}

// isGitBusy reports whether git is changing the tree: a checkout, a stash or a rebase removes
// files and may restore them.
func isGitBusy(root string) bool {
	dir, _ := gitDirs(root)
	return slices.ContainsFunc(gitBusyFiles, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// gitAnswer says whether git has removed a missing file.
type gitAnswer uint8

const (
	gitKeepsFile   gitAnswer = iota // its index has the file, or there is no git
	gitRemovedFile                  // a checkout, a stash, a merge or a commit
	gitUnknown                      // nothing of that is seen, but it may be in the middle of it
)

// gitTimeout limits the questions to git: the agent is stopped meanwhile.
const gitTimeout = 10 * time.Second

// gitExplainer returns a function that says whether git has removed a file. Git has not
// removed a file that is in the index, or one that was never in git. Removals by git are
// judged after the run.
func (a *treeAlarms) gitExplainer(ctx context.Context) (answer func(file string) gitAnswer, done context.CancelFunc) {
	now := readGitState(a.Root)
	if now == (gitState{}) {
		return func(string) gitAnswer { return gitKeepsFile }, func() {}
	}
	ctx, done = context.WithTimeout(ctx, gitTimeout)
	repo, moved := treediff.Repo{Dir: a.Root}, now != a.gitBefore
	tracked, err := repo.TrackedFiles(ctx)
	kept := sync.OnceValues(func() (map[string]bool, error) {
		if a.gitBefore.commit == "" {
			return nil, errors.New("the commit at the start is unknown")
		}
		return repo.HistoryFiles(ctx, a.gitBefore.commit, a.startedAt.Add(-time.Second))
	})
	return func(file string) gitAnswer {
		switch {
		case err == nil && tracked[file], err != nil && !moved:
			return gitKeepsFile
		case !moved:
			return gitUnknown
		}
		if had, err := kept(); err == nil && !had[file] {
			return gitKeepsFile
		}
		return gitRemovedFile
	}, done
}
