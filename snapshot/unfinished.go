package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/restore"
)

// ErrOtherRepository is returned by Restore if the tree contains another repository than the snapshots. Nothing was changed
// then. See Store.AdoptRepository.
var ErrOtherRepository = errors.New("the working tree is another repository than the one that the snapshots are of")

// UnfinishedError reports that an interrupted restore was given up, because the tree has changed or contains another
// repository. The tree was not modified. The error is returned only once.
type UnfinishedError struct {
	Target, Safety ID       // the target of the restore, and the tree before it
	Current        ID       // the snapshot of the tree that was found; "" in another repository
	Changed        []string // paths that were changed since; none in another repository
	store, work    string
}

// Error says what was interrupted, and names the commands that restore either tree.
func (e *UnfinishedError) Error() string {
	loop := filepath.Base(e.store)
	commands := fmt.Sprintf("the target of the restore: supervise rollback %s s%s; the tree before it: supervise rollback %s s%s", loop, e.Target, loop, e.Safety)
	if e.Current == "" {
		return fmt.Sprintf("a restore was interrupted, and %s is another repository now: nothing was touched, the restore is given up; %s (with --force)", e.work, commands)
	}
	names := e.Changed
	if len(names) > 5 {
		names = append(names[:5:5], fmt.Sprintf("%d more", len(e.Changed)-5))
	}
	return fmt.Sprintf("a restore was interrupted, and the tree has been changed since (%s): nothing was touched, the restore is given up; %s; the current tree is kept as s%s; to continue with it, run the command again",
		strings.Join(names, ", "), commands, e.Current)
}

// InterruptedRestore is an interrupted restore that was not finished or given up yet.
type InterruptedRestore struct{ Target, Safety ID }

// ReadUnfinished returns the interrupted restore of the store in the folder dir, nil if there is none. The store need not
// be open.
func ReadUnfinished(dir string) *InterruptedRestore {
	data, err := os.ReadFile(filepath.Join(dir, "restore.json"))
	var j journal
	if err != nil || json.Unmarshal(data, &j) != nil {
		return nil
	}
	return &InterruptedRestore{Target: j.Target, Safety: j.Safety}
}

// finishInterrupted finishes the restore of the journal, if there is one. It gives up if the tree contains another
// repository or was changed since. It first takes another snapshot of the current, perhaps partly restored, tree.
func (s *Store) finishInterrupted(ctx context.Context) error {
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

	unfinished := &UnfinishedError{Target: j.Target, Safety: j.Safety, store: s.dir, work: s.work}
	if s.otherRepository || !j.Repository.Same(gitstate.IdentityOf(s.work, s.config.External)) {
		return s.giveUp(unfinished)
	}
	r, err := s.finishRestore(ctx, j, unfinished)
	if len(unfinished.Changed) > 0 {
		return errors.Join(err, s.giveUp(unfinished))
	}
	if err != nil {
		return fmt.Errorf("finish interrupted restore of snapshot %s: %w", j.Target, err)
	}
	s.recovered = &r
	return nil
}

// finishRestore completes an interrupted restore. If the tree was changed since, it sets unfinished.Changed instead.
func (s *Store) finishRestore(ctx context.Context, j journal, unfinished *UnfinishedError) (Restored, error) {
	before, err := s.manifest(j.Safety)
	if err != nil {
		return Restored{}, err
	}
	present, target, err := s.prepareRestore(ctx, j)
	if err != nil {
		return Restored{}, err
	}
	x := restore.Interrupted{Now: present, Before: before, Target: target, Objects: s.objects, Excludes: s.config.Excludes}
	if unfinished.Changed = x.Changed(); len(unfinished.Changed) > 0 {
		unfinished.Current = present.ID
		return Restored{}, nil
	}
	return s.apply(ctx, j, present, target)
}

// giveUp renames the journal, so that the restore is not tried again, and returns why.
func (s *Store) giveUp(why *UnfinishedError) error {
	if err := errors.Join(os.Rename(s.journalFile(), filepath.Join(s.dir, "given-up.json")), disk.SyncDir(s.dir)); err != nil {
		return fmt.Errorf("give up an interrupted restore: %w", err)
	}
	return why
}

// CheckRepository returns ErrOtherRepository if the tree contained another repository when the store was opened.
func (s *Store) CheckRepository() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.otherRepository {
		return fmt.Errorf("%w: %s; --force restores all the same", ErrOtherRepository, s.work)
	}
	return nil
}

// AdoptRepository records the repository that is now in the tree as that of the snapshots.
func (s *Store) AdoptRepository() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.otherRepository = false
	return s.recordRepository()
}

// recordRepository records the identity of the repository in the tree, unless it was another one at Open. A repository that
// is replaced later was replaced by the agent.
func (s *Store) recordRepository() error {
	now := gitstate.IdentityOf(s.work, s.config.External)
	if s.otherRepository || now == s.config.Repository {
		return nil
	}
	s.config.Repository = now
	return s.saveConfig()
}
