package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/restore"
)

// journal is stored in the file restore.json during a restore, so that the restore can be
// finished after a crash.
type journal struct {
	Target, Safety ID
	Repository     gitstate.Identity // the repository when the restore started
	Token          string            // mark in the names of temporary files
	At             time.Time
	Rollback       bool `json:",omitempty"` // the journal becomes the record of the last rollback
}

// journalFile returns the path of the journal.
func (s *Store) journalFile() string { return filepath.Join(s.dir, "restore.json") }

// Restore restores the tree, including git's state, to the snapshot id. It first takes a snapshot of the current tree
// (Restored.Safety). Once writing has started, it ignores the cancellation of ctx. After an error or a crash in the middle,
// the next Open finishes it.
//
// Processes that write to the tree must have ended. ErrLocked means that a git process is running; nothing was changed
// then.
func (s *Store) Restore(ctx context.Context, id ID) (Restored, error) {
	return s.runRestore(ctx, journal{Target: id})
}

// runRestore locks the store and executes the restore of a journal.
func (s *Store) runRestore(ctx context.Context, j journal) (Restored, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return Restored{}, err
	}
	defer release()
	if s.otherRepository {
		return Restored{}, fmt.Errorf("restore snapshot %s: %w: %s; --force restores all the same", j.Target, ErrOtherRepository, s.work)
	}
	j.Token = rand.Text()
	r, err := s.restore(ctx, j)
	if err != nil {
		return r, fmt.Errorf("restore snapshot %s: %w", j.Target, err)
	}
	return r, nil
}

// restore takes the safety snapshot, writes the journal, and changes the tree.
func (s *Store) restore(ctx context.Context, j journal) (Restored, error) {
	present, target, err := s.prepareRestore(ctx, j)
	if err != nil {
		return Restored{}, err
	}
	j.Safety, j.At, j.Repository = present.ID, present.TakenAt, s.config.Repository
	if err := s.notifyRestore(present, target); err != nil {
		return Restored{}, err
	}

	if err := disk.WriteJSON(s.journalFile(), "", j); err != nil {
		return Restored{}, err
	}
	return s.apply(ctx, j, present, target)
}

// PlannedRestore describes a restore that is about to start.
type PlannedRestore struct {
	Target, Safety           ID
	Files, Ignored, GitFiles int // numbers of files that will be written or deleted

	same func(ID) bool
}

// IsSavedIn reports whether the snapshot id contains everything that the restore will replace.
func (b PlannedRestore) IsSavedIn(id ID) bool { return b.same(id) }

// OnRestore sets a function that is called before every restore that changes a file, after the safety snapshot was taken,
// so that the caller can record its ID before anything can fail. If do returns an error, the restore is canceled. do must
// not use the store; nil removes the function.
func (s *Store) OnRestore(do func(PlannedRestore) error) { s.onRestore = do }

// notifyRestore calls the function of OnRestore if the restore changes a file.
func (s *Store) notifyRestore(present, target *manifest.Manifest) error {
	if s.onRestore == nil {
		return nil
	}
	planned := PlannedRestore{Target: target.ID, Safety: present.ID, same: func(id ID) bool {
		other, err := s.manifest(id)
		if err != nil {
			return false
		}
		files, ignored, git := restore.CountPlanned(s.config.Excludes, present, other)
		return files+ignored+git == 0 && !restore.ReplacesIgnored(present, target, other)
	}}
	planned.Files, planned.Ignored, planned.GitFiles = restore.CountPlanned(s.config.Excludes, present, target)
	if planned.Files+planned.Ignored+planned.GitFiles == 0 {
		return nil
	}
	return s.onRestore(planned)
}

// prepareRestore takes a snapshot of the current tree and loads the target.
func (s *Store) prepareRestore(ctx context.Context, j journal) (present, target *manifest.Manifest, err error) {
	if target, err = s.manifest(j.Target); err != nil {
		return nil, nil, err
	}
	if err := s.checkLocks(target); err != nil {
		return nil, nil, err
	}
	if present, err = s.take(ctx, "before-restore", j.Token); err != nil {
		return nil, nil, fmt.Errorf("take a safety snapshot: %w", err)
	}
	return present, target, nil
}

// apply writes the differences between the current tree and the target. The journal was written before.
func (s *Store) apply(ctx context.Context, j journal, present, target *manifest.Manifest) (Restored, error) {
	s.safety = j.Safety
	ctx = context.WithoutCancel(ctx)
	r := &Restored{Target: j.Target, Safety: j.Safety, Replaced: s.moved}
	s.moved = ""

	x := s.newRestorer(j.Token, r)
	if err := x.Apply(ctx, present, target); err != nil {
		return *r, err
	}

	synced := make(chan error, 1)
	go func() { synced <- disk.SyncTree(s.root) }() // in parallel with the verification
	if r.GitFiles > 0 && len(target.ObjectDirs) > 0 {
		r.Fsck = gitdir.Fsck(ctx, s.work)
	}

	if err := errors.Join(s.verify(ctx, x, target), <-synced, s.recordRepository()); err != nil {
		return *r, err
	}

	if err := s.closeJournal(j); err != nil {
		return *r, fmt.Errorf("close restore journal: %w", err)
	}
	return *r, nil
}

// checkLocks returns ErrLocked if a live git process holds a lock. A stale lock is restored like any other file.
func (s *Store) checkLocks(target *manifest.Manifest) error {
	dirs := map[string]bool{}
	for _, key := range target.ObjectDirs {
		dirs[filepath.Dir(s.config.External.ObjectDir(s.work, key))] = true
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
			if pid, live := gitdir.LockHolder(lock, s.work); live {
				return fmt.Errorf("%w: process %d holds %s; wait for it or end it", ErrLocked, pid, lock)
			}
		}
	}
	return nil
}

// newRestorer returns a restorer that records its result in r.
func (s *Store) newRestorer(token string, r *Restored) *restore.Restorer {
	return &restore.Restorer{Tree: s.tree(), Store: s.dir, Objects: s.objects, Pools: s.pools, Token: token, Result: r, ExcludesSaved: s.saveExcludes}
}

// verify scans the tree again and compares it with the target.
func (s *Store) verify(ctx context.Context, x *restore.Restorer, target *manifest.Manifest) error {
	now, err := s.scan(ctx, nil, x.Token)
	if err != nil {
		return fmt.Errorf("verify restored tree: %w", err)
	}
	s.base = now
	x.Verify(now, target)
	return nil
}

// ErrNoRollback is returned by Undo for a store without a rollback.
var ErrNoRollback = errors.New("nothing has been rolled back")

// Rollback is the record of the last rollback of a store.
type Rollback struct {
	Target ID // the restored snapshot
	Safety ID // the tree before the rollback
	At     time.Time
}

// rollbackFile returns the path of the record of the last rollback, for the store in dir.
func rollbackFile(dir string) string { return filepath.Join(dir, "rollback.json") }

// LastRollback reads the record of the last Store.Rollback or Store.Undo in the store in the folder dir. The error wraps
// ErrNoRollback if there was none. The store need not be open.
func LastRollback(dir string) (Rollback, error) {
	var r Rollback
	exists, err := disk.ReadJSON(rollbackFile(dir), &r)
	switch {
	case err != nil:
		err = fmt.Errorf("read last rollback %s: %w", rollbackFile(dir), err)
	case !exists:
		err = fmt.Errorf("%w with the snapshots in %s", ErrNoRollback, dir)
	}
	return r, err
}

// Rollback is a Restore that is recorded, so that Undo can reverse it. It is recorded even if a crash interrupts it and a
// later Open finishes it.
func (s *Store) Rollback(ctx context.Context, id ID) (Restored, error) {
	return s.runRestore(ctx, journal{Target: id, Rollback: true})
}

// Undo restores the tree before the last Rollback or Undo. Changes made since then are reversed too. Undo is itself a
// rollback: a second Undo reverses the first one.
func (s *Store) Undo(ctx context.Context) (Restored, error) {
	r, err := LastRollback(s.dir)
	if err != nil {
		return Restored{}, err
	}
	return s.Rollback(ctx, r.Safety)
}

// closeJournal ends a restore: the journal is removed, or becomes the record of the last rollback.
func (s *Store) closeJournal(j journal) error {
	if !j.Rollback {
		return errors.Join(os.Remove(s.journalFile()), disk.SyncDir(s.dir))
	}
	return errors.Join(os.Rename(s.journalFile(), rollbackFile(s.dir)), disk.SyncDir(s.dir))
}
