package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/snapshot/internal/disk"
)

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
	return s.putBack(ctx, journal{Target: id, Rollback: true})
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
