package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/json"
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

// journal is kept while a restore is under way.
type journal struct {
	Target, Safety ID
	Repository     gitstate.Identity // when the restore began
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
	return s.runRestore(ctx, journal{Target: id})
}

func (s *Store) runRestore(ctx context.Context, j journal) (Restored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock()
	if err != nil {
		return Restored{}, err
	}
	defer unlock()
	if err := s.finishInterrupted(ctx); err != nil {
		return Restored{}, err
	}
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

func (s *Store) restore(ctx context.Context, j journal) (Restored, error) {
	present, target, err := s.prepareRestore(ctx, j)
	if err != nil {
		return Restored{}, err
	}
	j.Safety, j.At, j.Repository = present.ID, present.TakenAt, s.config.Repository
	if err := s.notifyRestore(present, target); err != nil {
		return Restored{}, err
	}
	data, err := json.Marshal(j)
	if err != nil {
		return Restored{}, fmt.Errorf("write restore journal: %w", err)
	}
	if err := disk.WriteFile(s.journalFile(), data); err != nil {
		return Restored{}, err
	}
	return s.apply(ctx, j, present, target)
}

// PlannedRestore is what a restore is about to do.
type PlannedRestore struct {
	Target, Safety           ID
	Files, Ignored, GitFiles int // that are to be written or deleted

	same func(ID) bool
}

// IsSavedIn reports whether nothing is to be replaced that another snapshot does not have.
func (b PlannedRestore) IsSavedIn(id ID) bool { return b.same(id) }

// OnRestore has do called before every restore that changes a file, when the safety snapshot is there: who is killed
// later has named it. An error of do gives the restore up. do must not use the store; nil calls nothing.
func (s *Store) OnRestore(do func(PlannedRestore) error) { s.onRestore = do }

func (s *Store) notifyRestore(present, target *manifest.Manifest) error {
	if s.onRestore == nil {
		return nil
	}
	b := PlannedRestore{Target: target.ID, Safety: present.ID, same: func(id ID) bool {
		other, err := s.manifest(id)
		if err != nil {
			return false
		}
		files, ignored, git := restore.CountPlanned(s.config.Excludes, present, other)
		return files+ignored+git == 0 && !restore.ReplacesIgnored(present, target, other)
	}}
	b.Files, b.Ignored, b.GitFiles = restore.CountPlanned(s.config.Excludes, present, target)
	if b.Files+b.Ignored+b.GitFiles == 0 {
		return nil
	}
	return s.onRestore(b)
}

// prepareRestore takes the present, and reads what is to come in its place.
func (s *Store) prepareRestore(ctx context.Context, j journal) (present, target *manifest.Manifest, err error) {
	if target, err = s.manifest(j.Target); err != nil {
		return nil, nil, err
	}
	if err := s.checkLocks(target); err != nil {
		return nil, nil, err
	}
	if present, err = s.take(ctx, "before-restore", j.Token); err != nil {
		return nil, nil, fmt.Errorf("take the present first: %w", err)
	}
	return present, target, nil
}

// apply writes what differs between the present and the target; the journal is there.
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
	go func() { synced <- disk.SyncTree(s.root) }() // the disk works while we look
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

// checkLocks refuses to work beside a live git process. A stale lock is no obstacle: it is a file like any other.
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

func (s *Store) newRestorer(token string, r *Restored) *restore.Restorer {
	return &restore.Restorer{Tree: s.tree(), Store: s.dir, Objects: s.objects, Pools: s.pools, Token: token, Result: r, ExcludesSaved: s.saveExcludes}
}

// verify looks at the tree again and compares it with the target.
func (s *Store) verify(ctx context.Context, x *restore.Restorer, target *manifest.Manifest) error {
	now, err := s.scan(ctx, nil, x.Token)
	if err != nil {
		return fmt.Errorf("verify restored tree: %w", err)
	}
	s.base = now
	x.Verify(now, target)
	return nil
}

// ErrNoRollback is returned by Undo for a store in which nobody has rolled back anything.
var ErrNoRollback = errors.New("nothing has been rolled back")

// Rollback says what the last rollback of a store did.
type Rollback struct {
	Target ID // what was put back
	Safety ID // what was there before
	At     time.Time
}

func rollbackFile(dir string) string { return filepath.Join(dir, "rollback.json") }

// LastRollback reads what was rolled back last in the store in the folder dir, by Store.Rollback or Store.Undo. The error
// is ErrNoRollback if nothing was. The store need not be open.
func LastRollback(dir string) (Rollback, error) {
	var r Rollback
	data, err := os.ReadFile(rollbackFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("%w with the snapshots in %s", ErrNoRollback, dir)
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read last rollback %s: %w", rollbackFile(dir), err)
	}
	return r, nil
}

// Rollback is a Restore that is remembered, so that Undo can take it back. It is remembered also when a crash interrupts
// it and it is finished by a later Open.
func (s *Store) Rollback(ctx context.Context, id ID) (Restored, error) {
	return s.runRestore(ctx, journal{Target: id, Rollback: true})
}

// Undo restores what was there before the last Rollback or Undo, whatever has been done since then. It is a rollback
// itself: a second Undo does again what the first one undid.
func (s *Store) Undo(ctx context.Context) (Restored, error) {
	r, err := LastRollback(s.dir)
	if err != nil {
		return Restored{}, err
	}
	return s.Rollback(ctx, r.Safety)
}

// closeJournal ends a restore: the journal goes, or becomes the note of the last rollback.
func (s *Store) closeJournal(j journal) error {
	if !j.Rollback {
		return errors.Join(os.Remove(s.journalFile()), disk.SyncDir(s.dir))
	}
	return errors.Join(os.Rename(s.journalFile(), rollbackFile(s.dir)), disk.SyncDir(s.dir))
}
