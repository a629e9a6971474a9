package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

// Restored tells what a restore did. All paths are relative to the root of the tree, with slashes, and sorted.
type Restored struct {
	Target ID
	// Safety is the snapshot of the tree as it was before; restoring it undoes this restore.
	Safety ID
	// Written and Deleted are working files; files that were right already are in neither.
	Written, Deleted []string
	// GitFiles counts the files of git's own state that were written or deleted.
	GitFiles int
	// Shared is what was gone of the state that linked worktrees share and is there again, in the words of GitLost.
	Shared []string
	// Gone is what existed at the target, was not captured and does not exist now: ignored files and folders such as
	// node_modules, and skipped files. They cannot be brought back; what made them has to run again.
	Gone []string
	// Left is what was not there at the target, could not be captured, and is still there: a restore deletes nothing that
	// is in no snapshot.
	Left []string
	// Displaced is what was in the way and is not in the safety snapshot: files that are too big, unreadable or unstable,
	// or changed during the restore, and folders that still hold such or ignored files. They were moved into the folder
	// displaced/SAFETY of the store; if that is on another disk, into .supervise-displaced/SAFETY of the tree, which is in no
	// snapshot.
	Displaced []string
	// DisplacedTo is that folder, "" if nothing was displaced.
	DisplacedTo string
	// Mismatches is what differs from the target after all. Anything here means that the restore is not whole.
	Mismatches []Mismatch
}

// Mismatch is a path that is not as the target says.
type Mismatch struct{ Path, Why string }

// tempPrefix begins the names under which files are written before they are renamed.
const tempPrefix = ".supervise-"

// journal is kept while a restore is under way.
type journal struct {
	Target, Safety ID
	Token          string
	At             time.Time
	Rollback       bool `json:",omitempty"` // the journal becomes the note of the last rollback
}

func (s *Store) journalFile() string { return filepath.Join(s.dir, "restore.json") }

// Restore brings the tree, and git's state with it, back to what the snapshot id recorded. It takes the present first
// (Restored.Safety). Once it has begun to write, a cancelled ctx does not stop it half-way. After an error in the middle,
// or a crash, the next Open finishes it.
//
// The processes that write into the tree must be gone. ErrLocked means that a git process is at work; nothing has been
// changed then.
func (s *Store) Restore(ctx context.Context, id ID) (Restored, error) {
	return s.putBack(ctx, journal{Target: id})
}

func (s *Store) putBack(ctx context.Context, j journal) (Restored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock()
	if err != nil {
		return Restored{}, err
	}
	defer unlock()
	if err := s.recover(ctx); err != nil {
		return Restored{}, err
	}
	j.Token = rand.Text()
	r, err := s.restore(ctx, j)
	if err != nil {
		return r, fmt.Errorf("restore snapshot %s: %w", j.Target, err)
	}
	return r, nil
}

// recover finishes the restore of a journal, if there is one. The present, perhaps half restored, is taken again.
func (s *Store) recover(ctx context.Context) error {
	data, err := os.ReadFile(s.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read restore journal: %w", err)
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("read restore journal %s: %w; delete the file to give the restore up", s.journalFile(), err)
	}
	r, err := s.restore(ctx, j)
	if err != nil {
		return fmt.Errorf("finish interrupted restore of snapshot %s: %w", j.Target, err)
	}
	s.recovered = &r
	return nil
}

func (s *Store) restore(ctx context.Context, j journal) (Restored, error) {
	target, err := s.manifest(j.Target)
	if err != nil {
		return Restored{}, err
	}
	if err := s.checkLocks(target); err != nil {
		return Restored{}, err
	}
	present, err := s.take(ctx, "before-restore", j.Token)
	if err != nil {
		return Restored{}, fmt.Errorf("take the present first: %w", err)
	}
	if j.Safety == "" { // otherwise the journal exists and the first safety snapshot is the one to go back to
		j.Safety, j.At = present.ID, present.TakenAt
		data, err := json.Marshal(j)
		if err != nil {
			return Restored{}, fmt.Errorf("write restore journal: %w", err)
		}
		if err := writeFileSync(s.journalFile(), data); err != nil {
			return Restored{}, err
		}
	}
	s.safety = j.Safety
	ctx = context.WithoutCancel(ctx)
	r := &Restored{Target: j.Target, Safety: j.Safety}
	if err := s.apply(ctx, j, present, target, r); err != nil {
		return *r, err
	}
	synced := make(chan error, 1)
	go func() { synced <- syncTree(s.root) }() // the disk works while we look
	err = errors.Join(s.verify(ctx, j, target, r), <-synced)
	if err != nil {
		return *r, err
	}
	if err := s.closeJournal(j); err != nil {
		return *r, fmt.Errorf("close restore journal: %w", err)
	}
	return *r, nil
}

// checkLocks refuses to work beside a live git process. A stale lock is no obstacle: it is a file like any other.
func (s *Store) checkLocks(target *manifest) error {
	dirs := map[string]bool{}
	for _, key := range target.objectDirs {
		dirs[filepath.Dir(s.objectDir(key))] = true
	}
	if ext := s.config.External; ext.GitDir != "" {
		dirs[ext.GitDir] = true
	}
	for d := range dirs {
		for _, name := range []string{"index.lock", "HEAD.lock", "packed-refs.lock"} {
			lock := filepath.Join(d, name)
			if _, err := os.Lstat(lock); err != nil {
				continue
			}
			if pid, live := lockHolder(lock, s.work); live {
				return fmt.Errorf("%w: process %d holds %s; wait for it or end it", ErrLocked, pid, lock)
			}
		}
	}
	return nil
}

// apply changes the tree from present to target: working files, git's files, then git's objects.
func (s *Store) apply(ctx context.Context, j journal, present, target *manifest, r *Restored) error {
	if err := s.sweep(present.temps); err != nil {
		return err
	}
	if err := s.clearObjects(present, target); err != nil {
		return err
	}
	leave := target.unknown()
	work := s.newApplier(s.root, s.work, j, present.work, r)
	todo := diff(s.without(present.work), s.without(target.work), leave)
	if err := work.run(todo, target.work); err != nil {
		return err
	}
	r.Written, r.Deleted = work.written, work.deleted
	git := s.newApplier(s.root, s.work, j, present.git, r)
	if err := git.run(diff(present.git, target.git, leave), target.git); err != nil {
		return err
	}
	r.GitFiles = len(git.written) + len(git.deleted)
	// Folders that held nothing but a nested repository are empty only now.
	if err := work.run(plan{rmdir: todo.rmdir}, target.work); err != nil {
		return err
	}
	return s.applyExternal(ctx, j, present, target, r)
}

// sweep removes the temporary files of an earlier attempt.
func (s *Store) sweep(temps []string) error {
	for _, t := range temps {
		var err error
		if rel, outside := strings.CutPrefix(t, inExternal); outside {
			err = os.Remove(filepath.Join(s.config.External.GitDir, filepath.FromSlash(rel)))
		} else {
			err = s.root.Remove(t)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove left-over temporary file: %w", err)
		}
	}
	return nil
}

// applyExternal restores the git folder outside of the tree, if there is one, and gives back objects inside and outside.
func (s *Store) applyExternal(ctx context.Context, j journal, present, target *manifest, r *Restored) error {
	ext := s.config.External
	if ext.GitDir == "" {
		return s.giveObjects(target)
	}
	if err := os.MkdirAll(ext.GitDir, 0o755); err != nil {
		return fmt.Errorf("make git folder: %w", err)
	}
	root, err := os.OpenRoot(ext.GitDir)
	if err != nil {
		return fmt.Errorf("open git folder: %w", err)
	}
	defer root.Close()
	a := s.newApplier(root, ext.GitDir, j, present.ext, r)
	p := diff(present.ext, target.ext, func(string) bool { return false })
	if err := a.run(p, target.ext); err != nil {
		return err
	}
	r.GitFiles += len(a.written) + len(a.deleted)
	if err := s.giveObjects(target); err != nil {
		return err
	}
	if ext.linked() {
		if err := s.restoreShared(ctx, present, target, r); err != nil {
			return err
		}
		if err := restoreBranch(ctx, ext.Common, target.Branch); err != nil {
			r.mismatch(target.Branch.Name, err.Error())
		}
	}
	return nil
}

// clearObjects empties the object databases that the target does not have; the pool keeps what was in them.
func (s *Store) clearObjects(present, target *manifest) error {
	had := map[string]bool{}
	for _, d := range target.objectDirs {
		had[d] = true
	}
	leave := target.unknown()
	for _, d := range present.objectDirs {
		if had[d] || leave(d) || isLargeFilesKey(d) {
			continue // large files are no part of a tree: they are found by those that name them
		}
		p, err := s.poolFor(d)
		if err != nil {
			return err
		}
		if err := p.clear(s.objectDir(d)); err != nil {
			return err
		}
	}
	return nil
}

// giveObjects puts back what is missing from the target's object databases.
func (s *Store) giveObjects(target *manifest) error {
	for _, key := range target.objectDirs {
		if isLargeFilesKey(key) && !strings.HasPrefix(key, inExternal) {
			_ = s.root.MkdirAll(key, 0o755) // where it fails, realDir tells
		}
		if !strings.HasPrefix(key, inExternal) && !s.realDir(key) {
			continue // a mismatch that verify reports
		}
		p, err := s.poolFor(key)
		if err != nil {
			return err
		}
		if err := p.give(s.objectDir(key), target.header); err != nil {
			return err
		}
	}
	return nil
}

// realDir tells whether a path of the tree is a folder that is reached without symbolic links.
func (s *Store) realDir(p string) bool {
	for d := p; d != "."; d = path.Dir(d) {
		fi, err := s.root.Lstat(d)
		if err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

// verify looks at the tree again and compares it with the target.
func (s *Store) verify(ctx context.Context, j journal, target *manifest, r *Restored) error {
	now, err := s.scan(ctx, nil, j.Token)
	if err != nil {
		return fmt.Errorf("verify restored tree: %w", err)
	}
	s.base = now
	leave := target.unknown()
	for _, part := range []struct{ now, want []entry }{
		{s.without(now.work), s.without(target.work)}, {now.git, target.git}, {now.ext, target.ext},
	} {
		p := diff(part.now, part.want, leave)
		for _, list := range [][]entry{p.open, p.mkdir, p.write, p.chmod} {
			for _, e := range list {
				r.mismatch(e.path, "differs from the snapshot")
			}
		}
		for _, e := range p.remove {
			r.mismatch(e.path, "did not exist in the snapshot")
		}
	}
	r.Gone, r.Left = s.gone(target), left(now, target)
	sort.Strings(r.Written)
	sort.Strings(r.Deleted)
	sort.Strings(r.Displaced)
	if len(r.Displaced) > 0 {
		r.DisplacedTo = s.displacedTo(j.Safety)
	}
	sort.SliceStable(r.Mismatches, func(i, k int) bool { return r.Mismatches[i].Path < r.Mismatches[k].Path })
	return nil
}

// gone lists what the target saw, did not capture, and is not there any more.
func (s *Store) gone(target *manifest) []string {
	var out []string
	note := func(p string) {
		p = strings.TrimSuffix(p, "/")
		if _, err := s.root.Lstat(p); errors.Is(err, fs.ErrNotExist) && !s.excluded(p) {
			out = append(out, p)
		}
	}
	for _, p := range target.ignored {
		note(p)
	}
	for _, skip := range target.Skipped {
		note(skip.Path)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// left lists what is there, was not captured, and that the target had not seen.
func left(now, target *manifest) []string {
	var out []string
	unknown := target.unknown()
	for _, skip := range now.Skipped {
		p := strings.TrimSuffix(skip.Path, "/")
		if !unknown(p) && lookup(target.work, p) < 0 && lookup(target.git, p) < 0 {
			out = append(out, p)
		}
	}
	return out
}

// mismatch notes a path once, with the first reason.
func (r *Restored) mismatch(p, why string) {
	for _, m := range r.Mismatches {
		if m.Path == p {
			return
		}
	}
	r.Mismatches = append(r.Mismatches, Mismatch{p, why})
}
