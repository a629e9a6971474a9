// Package ledger stores everything about one loop in a folder: its state, every iteration,
// the reports and an audit log whose entries are chained by hash. [Create] makes the folder
// of a new loop, [Open] continues an existing one, and the Read functions read a loop
// without locking it.
//
// Files are replaced atomically, so that readers never see a partial file. Locks ensure that
// only one supervisor works on a loop and in a working tree.
package ledger

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/document"
	"supervise/internal/regexp"
)

// Version is the schema version of the files that this package writes. Files of other
// versions are refused: their keys have other names and would be read as zero.
const Version = 2

// Errors that callers distinguish.
var (
	ErrNoLoop  = errors.New("no such loop")
	ErrLocked  = errors.New("in use by another supervise")
	ErrVersion = errors.New("written by another version of supervise")
	ErrHome    = errors.New("the state cannot be kept there")
)

// Home returns the folder for all loops of the working tree at root: base/<name>-<hash>.
// base is usually [DefaultBase].
func Home(base, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(base, slug(filepath.Base(root), 40)+"-"+hex.EncodeToString(sum[:4]))
}

// DefaultBase returns $XDG_STATE_HOME/supervise, or ~/.local/state/supervise.
func DefaultBase(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "supervise"), nil
	}
	home := getenv("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("find a folder for the state: %w; set XDG_STATE_HOME or give --state-dir", err)
		}
	}
	return filepath.Join(home, ".local", "state", "supervise"), nil
}

// NewID makes the name of a loop: ralph-<slug>-<8 hex>.
func NewID(task string) string {
	b := make([]byte, 4)
	rand.Read(b) // never fails, see crypto/rand
	return "ralph-" + slug(task, 32) + "-" + hex.EncodeToString(b)
}

// notSlugPattern matches characters that slug replaces by a dash.
var notSlugPattern = regexp.MustCompile(`[^a-z0-9]+`)

// slug reduces a text to lower-case letters, digits and dashes, for file names.
func slug(text string, limit int) string {
	s := strings.Trim(notSlugPattern.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(s) > limit {
		s = s[:limit]
		if i := strings.LastIndexByte(s, '-'); i > limit/2 {
			s = s[:i]
		}
	}
	if s = strings.Trim(s, "-"); s == "" {
		return "loop"
	}
	return s
}

// Ledger is the folder of one loop, held by this process.
type Ledger struct {
	dir             string
	state           State // the last one that was saved, without derived fields
	log             *eventLog
	locks           []*os.File
	written         map[string][]byte // content last written to the files that RepairChanged compares, by name
	measureStateSum string            // SHA-256 of the measuring state that was saved last
	rows            trackingRows
	movedBack       []string // what MoveBack has moved
}

// folders are the subfolders of a loop's folder.
var folders = []string{"progress", "iterations", "checkpoints", "reports", "analytics", "final-output"}

// Create makes the folder of a new loop below home and takes its locks. The
// error wraps [ErrLocked] when another supervisor works in the same tree.
func Create(home string, s State) (*Ledger, error) {
	if err := checkHome(home, s.Workspace); err != nil {
		return nil, err
	}
	l := &Ledger{dir: LoopDir(home, s.LoopID)}
	if err := l.lock(s.lockedTree()); err != nil {
		return nil, err
	}
	if err := l.initialize(home, s); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// initialize writes the first files of a new loop, after its locks are taken.
func (l *Ledger) initialize(home string, s State) error {
	if err := l.makeFolders(); err != nil {
		return err
	}
	if err := writeGitignore(home, s.Workspace); err != nil {
		return err
	}
	var err error
	if l.log, err = openLog(filepath.Join(l.dir, logName), func(Event) {}); err != nil {
		return err
	}
	s.Version = Version
	if err := l.Log(s.StartedAt, eventCreated, 0, 0, s); err != nil {
		return err
	}
	return l.Save(s)
}

// makeFolders makes the subfolders of the loop that are missing.
func (l *Ledger) makeFolders() error {
	for _, sub := range folders {
		if err := os.MkdirAll(filepath.Join(l.dir, sub), 0o700); err != nil {
			return fmt.Errorf("make loop folder: %w", err)
		}
	}
	return nil
}

// Open locks an existing loop to continue it, and calls each with every event of its log,
// oldest first. If its working tree has moved, the loop belongs to the one at workspace from
// now on; "" means the recorded one. Partial files left by a crash are removed. The error
// wraps [ErrLocked] if a supervisor still works on the loop or in its tree.
func Open(workspace, home, loopID string, each func(Event)) (*Ledger, State, error) {
	l := &Ledger{dir: LoopDir(home, loopID)}
	s, err := ReadState(l.dir)
	if err != nil {
		return nil, s, err
	}
	tree := s.lockedTree()
	if tree != "" {
		tree = cmp.Or(workspace, tree)
	}
	l, s, err = l.lockAndOpen(tree, each)
	if err != nil || tree != workspace || s.Workspace == tree {
		return l, s, err
	}
	s.Workspace = tree
	if err := l.Save(s); err != nil {
		return nil, s, errors.Join(err, l.Close())
	}
	return l, s, nil
}

// OpenWithoutTree is [Open] for adding to the records of a loop: it does not lock the
// working tree, in which another process may work.
func OpenWithoutTree(home, loopID string, each func(Event)) (*Ledger, State, error) {
	l := &Ledger{dir: LoopDir(home, loopID)}
	if s, err := ReadState(l.dir); err != nil {
		return nil, s, err
	}
	return l.lockAndOpen("", each)
}

// lockAndOpen locks the loop and, unless tree is "", that working tree, and reads the log and the
// state.
func (l *Ledger) lockAndOpen(tree string, each func(Event)) (*Ledger, State, error) {
	if err := l.lock(tree); err != nil {
		return nil, State{}, err
	}
	s, err := l.loadState(each)
	if err != nil {
		return nil, s, errors.Join(err, l.Close())
	}
	return l, s, nil
}

// lockedTree returns the working tree that the loop locks, "" if another orchestrator runs
// the iterations.
func (s State) lockedTree() string {
	if s.Kind == KindRecorded {
		return ""
	}
	return s.Workspace
}

// loadState opens the log and reads the state, now that no other process can write them.
func (l *Ledger) loadState(each func(Event)) (State, error) {
	err := l.removeUnfinished()
	if err == nil {
		err = l.makeFolders() // a copy of the folder, as made by git, may lack empty folders
	}
	if err != nil {
		return State{}, err
	}
	if l.log, err = openLog(filepath.Join(l.dir, logName), each); err != nil {
		return State{}, err
	}
	l.state, err = ReadState(l.dir)
	return l.state, err
}

// removeUnfinished removes the temporary files of a supervisor that was killed.
func (l *Ledger) removeUnfinished() error {
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "artifacts" || d.Name() == "final-output"):
			return fs.SkipDir // the agent's files may have any name
		case d.Type().IsRegular() && strings.HasPrefix(d.Name(), tempPrefix):
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sweep the loop's folder: %w", err)
	}
	return removeScratch(l.ScratchDir())
}

// Problems lists the problems that were found in the log when the loop was opened.
func (l *Ledger) Problems() []string { return l.log.problems }

// LoopDir returns the folder of a loop.
func LoopDir(home, loopID string) string { return filepath.Join(home, "loops", loopID) }

// Dir returns the folder of the loop.
func (l *Ledger) Dir() string { return l.dir }

// TempDir returns the folder for temporary files of an agent in a sandbox.
func (l *Ledger) TempDir() string { return filepath.Join(l.dir, "tmp") }

// lock locks the loop and, unless workspace is "", the working tree. The locks end with the
// process, even if it is killed.
func (l *Ledger) lock(workspace string) error {
	if workspace != "" {
		tree, err := LockTree(workspace)
		if err != nil {
			return err
		}
		l.locks = append(l.locks, tree)
	}
	own, err := lockFile(filepath.Join(l.dir, "lock"))
	if err != nil && !errors.Is(err, ErrLocked) {
		err = fmt.Errorf("%w; use another folder for the state: --state-dir or XDG_STATE_HOME", err)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("lock loop: %w", err), l.Close())
	}
	l.locks = append(l.locks, own)
	return nil
}

// LockTree locks the working tree until the file is closed, so that no other process runs a
// loop in it or restores it. The folder itself is locked, so it does not matter where each
// process keeps its state. The error wraps [ErrLocked].
func LockTree(workspace string) (*os.File, error) {
	f, err := lockDir(workspace)
	if err != nil {
		return nil, fmt.Errorf("lock the working tree %s: %w", workspace, err)
	}
	return f, nil
}

// Close closes the log and frees the locks.
func (l *Ledger) Close() error {
	var errs []error
	if l.log != nil {
		errs = append(errs, l.log.close())
	}
	for _, f := range l.locks {
		errs = append(errs, f.Close())
	}
	l.locks = nil
	return errors.Join(errs...)
}

// ListLoops lists the loops of the working tree, the latest first. home may also contain
// loops of other trees.
func ListLoops(home, workspace string) ([]State, error) {
	entries, err := os.ReadDir(filepath.Join(home, "loops"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list loops: %w", err)
	}
	var out []State
	for _, e := range entries {
		s, err := ReadState(LoopDir(home, e.Name()))
		if err != nil || s.Workspace != workspace {
			continue
		}
		out = append(out, s.withActualStatus(LoopDir(home, e.Name())))
	}
	slices.SortStableFunc(out, func(a, b State) int { return b.StartedAt.Compare(a.StartedAt) })
	return out, nil
}

// FindLoop finds a loop of the working tree by its name or a unique part of it, and returns
// its folder and state. The name "latest", or "", is the latest loop. The error wraps
// [ErrNoLoop].
//
// A name like LOOP/3, or the full name of its loop, finds the loop of a candidate.
func FindLoop(home, workspace, name string) (string, State, error) {
	if loop, n := ParseCandidateName(name); loop != "" {
		return findCandidate(home, workspace, loop, n)
	}

	loops, err := ListLoops(home, workspace)
	if err != nil {
		return "", State{}, err
	}
	if name == "latest" {
		name = ""
	}
	var found []State
	for _, s := range loops {
		if s.LoopID == name || name == "" {
			return LoopDir(home, s.LoopID), s, nil
		}
		if strings.Contains(s.LoopID, name) {
			found = append(found, s)
		}
	}

	switch len(found) {
	case 1:
		return LoopDir(home, found[0].LoopID), found[0], nil
	case 0:
		if err := findOtherVersion(home, name); err != nil {
			return "", State{}, err
		}
		if name == "" {
			return "", State{}, fmt.Errorf("%w: nothing has been run in this working tree yet (looked in %s)", ErrNoLoop, home)
		}
		return "", State{}, fmt.Errorf("%w: %s (looked in %s)", ErrNoLoop, name, home)
	}

	return "", State{}, fmt.Errorf("%w: %s stands for %d loops; write more of the name", ErrNoLoop, name, len(found))
}

func findCandidate(home, workspace, loop, number string) (string, State, error) {
	_, s, err := FindLoop(home, workspace, loop)
	if err != nil {
		return "", s, err
	}
	n, err := strconv.Atoi(number)
	if s.Kind != KindCandidates || err != nil || n < 1 {
		return "", s, fmt.Errorf("%w: %s/%s is no candidate of a loop", ErrNoLoop, loop, number)
	}
	dir := LoopDir(CandidateHome(home, s.LoopID, n), CandidateID(s.LoopID, n))
	s, err = ReadState(dir)
	return dir, s.withActualStatus(dir), err
}

// findOtherVersion returns the error of a loop that matches the name and was written by
// another version of supervise, nil if there is none.
func findOtherVersion(home, name string) error {
	entries, err := os.ReadDir(filepath.Join(home, "loops"))
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	for _, e := range entries {
		if _, err := ReadState(LoopDir(home, e.Name())); errors.Is(err, ErrVersion) && strings.Contains(e.Name(), name) {
			return err
		}
	}
	return nil
}

// SnapshotDir returns the folder for the snapshots of the loop. It is outside the folder of
// the loop, which stays small.
func (l *Ledger) SnapshotDir() string { return SnapshotDir(l.dir) }

// SnapshotDir returns the snapshot folder of the loop in dir.
func SnapshotDir(dir string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(dir)), "snapshots", filepath.Base(dir))
}

// ScratchDir returns the folder for temporary data: reports and copies of trees in which
// tests run.
func (l *Ledger) ScratchDir() string { return scratchDir(l.dir) }

func scratchDir(dir string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(dir)), "scratch", filepath.Base(dir))
}

// SweepScratch removes the [Ledger.ScratchDir] of the loop in dir after its supervisor was
// killed.
func SweepScratch(dir string) error { return removeScratch(scratchDir(dir)) }

// CopyPrefix starts the names of folders for copies outside the scratch folder, which has links to
// them.
const CopyPrefix = "supervise-copy-"

// removeScratch removes a scratch folder, and what its links lead to.
func removeScratch(dir string) error {
	entries, _ := os.ReadDir(dir) // there may be none
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil && filepath.IsAbs(to) && filepath.Base(to) == e.Name() && strings.HasPrefix(e.Name(), CopyPrefix) {
			if err := RemoveTree(to); err != nil {
				return err
			}
		}
	}
	return RemoveTree(dir)
}

// RemoveTree removes a folder and its contents, even if permissions of folders in it forbid
// that. Links are not followed.
func RemoveTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700) // RemoveAll reports what fails
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove a folder of the loop: %w", err)
	}
	return nil
}

// WriteAnalytics writes analytics/analytics.json and analytics/report.md.
func (l *Ledger) WriteAnalytics(v any, d document.Document) error {
	return errors.Join(
		WriteJSON(filepath.Join(l.dir, "analytics", "analytics.json"), v),
		WriteFile(filepath.Join(l.dir, "analytics", "report.md"), []byte(d.Markdown())),
	)
}

// IsUnlocked reports whether no supervisor holds the loop in dir.
func IsUnlocked(dir string) (bool, error) {
	held, err := isLocked(filepath.Join(dir, "lock"))
	if err != nil {
		return false, fmt.Errorf("look for a running supervise: %w", err)
	}
	return !held, nil
}

// TreeLocks returns the lock of the tree. A child process that inherits it keeps the tree
// locked after this supervisor has ended, but not the loop.
func (l *Ledger) TreeLocks() []*os.File { return l.locks[:1] }
