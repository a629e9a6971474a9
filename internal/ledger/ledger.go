// Package ledger keeps the folder of one loop: its state, every iteration, the
// reports and an audit log whose entries are chained by hash.
//
// Every file is written whole beside its place, synced and renamed; a reader
// never sees half of one. One supervisor at a time holds a loop and a working
// tree.
package ledger

import (
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

// Version is the schema version of the files this package writes. Files of any other
// version are refused: their keys have other names, and would be read as zero.
const Version = 2

// Errors that callers distinguish.
var (
	ErrNoLoop  = errors.New("no such loop")
	ErrLocked  = errors.New("in use by another supervise")
	ErrVersion = errors.New("written by another version of supervise")
	ErrHome    = errors.New("the state cannot be kept there")
)

// Home returns the folder that holds everything about the working tree at
// root: base/<name>-<hash>. base is usually [DefaultBase].
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

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug reduces a text to what is safe and readable in a file name.
func slug(text string, limit int) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
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
	dir   string
	state State
	log   *eventLog
	locks []*os.File
	own   map[string][]byte // what was last written into the files that Check compares, by name
	meter string            // SHA-256 of what was kept last of the measuring
	rows  trackedRows
	moved []string // what Return has moved back
}

var folders = []string{"progress", "iterations", "checkpoints", "reports", "analytics", "final-output"}

// Create makes the folder of a new loop below home and takes its locks. The
// error wraps [ErrLocked] when another supervisor works in the same tree.
func Create(home string, s State) (*Ledger, error) {
	if err := ownFolder(home, s.Workspace); err != nil {
		return nil, err
	}
	l := &Ledger{dir: LoopDir(home, s.LoopID)}
	if err := l.lock(s.tree()); err != nil {
		return nil, err
	}
	if err := l.make(home, s); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

func (l *Ledger) make(home string, s State) error {
	if err := l.makeFolders(); err != nil {
		return err
	}
	if err := hide(home, s.Workspace); err != nil {
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

func (l *Ledger) makeFolders() error {
	for _, sub := range folders {
		if err := os.MkdirAll(filepath.Join(l.dir, sub), 0o700); err != nil {
			return fmt.Errorf("make loop folder: %w", err)
		}
	}
	return nil
}

// Open takes an existing loop to go on with it, and shows each event of its log,
// oldest first. What a crash left half written is swept away. The error wraps
// [ErrLocked] when a supervisor still works on the loop or in its tree.
func Open(home, loopID string, each func(Event)) (*Ledger, State, error) {
	return OpenIn("", home, loopID, each)
}

// OpenIn is [Open] for a loop whose working tree may lie elsewhere than before, and its
// folder too. From then on the tree is that at workspace; "" is where it was.
func OpenIn(workspace, home, loopID string, each func(Event)) (*Ledger, State, error) {
	l := &Ledger{dir: LoopDir(home, loopID)}
	s, err := ReadState(l.dir)
	if err != nil {
		return nil, s, err
	}
	if workspace == "" || s.tree() == "" {
		return l.take(s.tree(), each)
	}
	l, s, err = l.take(workspace, each)
	if err != nil || s.Workspace == workspace {
		return l, s, err
	}
	s.Workspace = workspace
	if err := l.Save(s); err != nil {
		return nil, s, errors.Join(err, l.release())
	}
	return l, s, nil
}

// OpenWithoutTree takes an existing loop as [Open] does to add to its records. The working
// tree is left to whoever works in it.
func OpenWithoutTree(home, loopID string, each func(Event)) (*Ledger, State, error) {
	l := &Ledger{dir: LoopDir(home, loopID)}
	if s, err := ReadState(l.dir); err != nil {
		return nil, s, err
	}
	return l.take("", each)
}

func (l *Ledger) take(tree string, each func(Event)) (*Ledger, State, error) {
	if err := l.lock(tree); err != nil {
		return nil, State{}, err
	}
	s, err := l.open(each)
	if err != nil {
		return nil, s, errors.Join(err, l.release())
	}
	return l, s, nil
}

// tree is the working tree that the loop locks; "" where somebody else runs the
// iterations.
func (s State) tree() string {
	if s.Kind == KindRecorded {
		return ""
	}
	return s.Workspace
}

// open reads the state again, now that no other process writes it.
func (l *Ledger) open(each func(Event)) (State, error) {
	err := l.sweep()
	if err == nil {
		err = l.makeFolders() // copies of a folder, such as git's, may lack empty ones
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

// sweep removes the unfinished files of a supervisor that was killed.
func (l *Ledger) sweep() error {
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
	return RemoveTree(l.ScratchDir())
}

// Problems lists what was wrong with the log when the loop was opened.
func (l *Ledger) Problems() []string { return l.log.problems }

// LoopDir returns the folder of a loop.
func LoopDir(home, loopID string) string { return filepath.Join(home, "loops", loopID) }

// Dir returns the folder of the loop.
func (l *Ledger) Dir() string { return l.dir }

// TempDir returns the folder for temporary files of an agent in a sandbox.
func (l *Ledger) TempDir() string { return filepath.Join(l.dir, "tmp") }

// lock takes the loop and, unless that is "", the working tree. Locks end with
// the process, also when it is killed.
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
		err = fmt.Errorf("%w; the state can be kept elsewhere: --state-dir or XDG_STATE_HOME", err)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("lock loop: %w", err), l.release())
	}
	l.locks = append(l.locks, own)
	return nil
}

// LockTree locks the working tree until the file is closed: no other process runs a
// loop in it or restores it meanwhile. The folder itself is locked, so it does not
// matter where each process keeps its state. The error wraps [ErrLocked].
func LockTree(workspace string) (*os.File, error) {
	f, err := lockDir(workspace)
	if err != nil {
		return nil, fmt.Errorf("lock the working tree %s: %w", workspace, err)
	}
	return f, nil
}

// Close ends the log and frees the locks.
func (l *Ledger) Close() error { return l.release() }

func (l *Ledger) release() error {
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

// ListLoops lists the loops of the working tree below home, the latest first. Other
// trees may have theirs in the same place.
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
		out = append(out, s.settle(LoopDir(home, e.Name())))
	}
	slices.SortStableFunc(out, func(a, b State) int { return b.StartedAt.Compare(a.StartedAt) })
	return out, nil
}

// FindLoop returns the folder and state of a loop of the working tree by its name or
// a unique part of it; the latest loop when name is "latest" or empty. The error
// wraps [ErrNoLoop].
//
// A name like LOOP/3 is that of a candidate's own loop, as its own name is.
func FindLoop(home, workspace, name string) (string, State, error) {
	if of, n := ParseCandidateName(name); of != "" {
		return findCandidate(home, workspace, of, n)
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
		if err := foreign(home, name); err != nil {
			return "", State{}, err
		}
		if name == "" {
			return "", State{}, fmt.Errorf("%w: nothing has been run in this working tree yet (looked in %s)", ErrNoLoop, home)
		}
		return "", State{}, fmt.Errorf("%w: %s (looked in %s)", ErrNoLoop, name, home)
	}
	return "", State{}, fmt.Errorf("%w: %s stands for %d loops; write more of the name", ErrNoLoop, name, len(found))
}

func findCandidate(home, workspace, of, number string) (string, State, error) {
	_, s, err := FindLoop(home, workspace, of)
	if err != nil {
		return "", s, err
	}
	n, err := strconv.Atoi(number)
	if s.Kind != KindCandidates || err != nil || n < 1 {
		return "", s, fmt.Errorf("%w: %s/%s is no candidate of a loop", ErrNoLoop, of, number)
	}
	dir := LoopDir(CandidateHome(home, s.LoopID, n), CandidateID(s.LoopID, n))
	s, err = ReadState(dir)
	return dir, s.settle(dir), err
}

// foreign finds a loop that matches the name and that only another version of supervise can read.
func foreign(home, name string) error {
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

// SnapshotDir returns the folder for the loop's snapshots: beside the loop's
// own, so that the loop's folder stays small enough to be looked at.
func (l *Ledger) SnapshotDir() string { return SnapshotDir(l.dir) }

// SnapshotDir returns the snapshot folder of the loop in dir.
func SnapshotDir(dir string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(dir)), "snapshots", filepath.Base(dir))
}

// ScratchDir returns a folder for what is read and thrown away: reports, and
// trees in which tests are tried.
func (l *Ledger) ScratchDir() string { return scratchDir(l.dir) }

func scratchDir(dir string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(dir)), "scratch", filepath.Base(dir))
}

// SweepScratch removes what the killed supervisor of the loop in dir left in its
// [Ledger.ScratchDir].
func SweepScratch(dir string) error { return RemoveTree(scratchDir(dir)) }

// RemoveTree removes a folder with all it holds, also where a program forbade
// that by its permissions. Links are not followed.
func RemoveTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700) // what fails shows below
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
	held, err := locked(filepath.Join(dir, "lock"))
	if err != nil {
		return false, fmt.Errorf("look for a running supervise: %w", err)
	}
	return !held, nil
}

// TreeLocks is what keeps others from the tree. A process that inherits it keeps the
// tree, though not the loop: whether this supervisor lives shows all the same.
func (l *Ledger) TreeLocks() []*os.File { return l.locks[:1] }
