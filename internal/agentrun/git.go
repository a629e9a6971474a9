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

	"supervise/internal/git"
	"supervise/internal/projectfile"
	"supervise/internal/treediff"
)

// gitState is the state of git: what is checked out, and the latest stash.
type gitState struct {
	head   string // the text of the file HEAD: "ref: refs/heads/main", or a commit
	commit string // the commit that is checked out, "" if the files of git do not name it
	stash  string // the commit of the latest stash, "" for none
	tables string // the list of reference tables, "" for the usual format of references
}

// readGitState reads the state of git; the zero value without a repository.
func readGitState(root string) gitState {
	dir, common := git.Dirs(root)
	g := gitState{head: readGitFile(dir, "HEAD"), stash: resolveRef(common, "refs/stash"), tables: readGitFile(common, "reftable/tables.list")}
	g.commit = g.head
	if ref, is := strings.CutPrefix(g.head, "ref: "); is {
		g.commit = resolveRef(common, ref)
	}
	return g
}

// readGitFile returns the text of a file in a git folder, "" if it does not exist.
func readGitFile(dir, name string) string {
	text, err := projectfile.ReadAnywhere(filepath.Join(dir, filepath.FromSlash(name)), projectfile.Git)
	if err != nil {
		return "" // usually it does not exist
	}
	return strings.TrimSpace(string(text))
}

// resolveRef returns the commit of a ref, from its own file or from packed-refs; "" if there
// is none.
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

// gitBusyFiles are files that exist while git changes the tree.
var gitBusyFiles = []string{"index.lock", "rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "sequencer"}

// isGitBusy reports whether git is changing the tree: a checkout, a stash or a rebase removes
// files and may restore them.
func isGitBusy(root string) bool {
	dir, _ := git.Dirs(root)
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
	gitUnknown                      // git shows none of that, but may be in the middle of it
)

// gitTimeout limits the commands of git, because the agent is paused while they run.
const gitTimeout = 10 * time.Second

// gitExplainer returns a function that says whether git has removed a file, and a function to
// call after the last question. Git has not removed a file that is still in the index, or that
// was never in a commit. Removals by git are judged after the run.
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
