package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
)

// ErrDropped is returned for an ID whose snapshot was dropped by Prune. It never comes back.
var ErrDropped = errors.New("dropped to save space")

// dropped is what the store remembers of snapshots that it does not hold any more.
type dropped struct {
	Version int
	Next    int  // no new snapshot gets a lower number
	Pending bool // some of the space has still to be given back
	Sets    []droppedSet
}

// droppedSet are the snapshots that one Prune dropped.
type droppedSet struct {
	At  time.Time
	IDs []ID
}

const droppedVersion = 1

func (s *Store) droppedFile() string { return filepath.Join(s.dir, "dropped.json") }

// loadDropped reads the file, which most stores do not have.
func (s *Store) loadDropped() (dropped, error) {
	d := dropped{Version: droppedVersion}
	data, err := os.ReadFile(s.droppedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err == nil && d.Version != droppedVersion {
		err = fmt.Errorf("version %d is unknown; use the program that wrote it", d.Version)
	}
	if err != nil {
		return d, fmt.Errorf("read list of dropped snapshots %s: %w", s.droppedFile(), err)
	}
	return d, nil
}

func (s *Store) saveDropped(d dropped) error {
	data, err := json.MarshalIndent(d, "", "\t")
	if err != nil {
		return fmt.Errorf("write list of dropped snapshots: %w", err)
	}
	return disk.WriteFile(s.droppedFile(), append(data, '\n'))
}

// when tells when a snapshot was dropped, if it was.
func (d dropped) when(id ID) (time.Time, bool) {
	for _, set := range d.Sets {
		if slices.Contains(set.IDs, id) {
			return set.At, true
		}
	}
	return time.Time{}, false
}

// next is the number of the next snapshot.
func (s *Store) next() (int, error) {
	d, err := s.loadDropped()
	return max(manifest.Seq(s.newest())+1, d.Next), err
}

// missing is the error for a snapshot that the store does not hold.
func (s *Store) missing(id ID) error {
	d, err := s.loadDropped()
	if err != nil {
		return err
	}
	if at, ok := d.when(id); ok {
		return fmt.Errorf("snapshot s%s was %w on %s; raise the limit of the store to keep more of them next time (snapshot.max_store_mb)",
			id, ErrDropped, at.Local().Format(time.DateTime))
	}
	return fmt.Errorf("snapshot %q in %s: %w", id, s.dir, ErrUnknown)
}
