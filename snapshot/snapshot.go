package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/ignore"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/pool"
)

// Options limits what a store captures. The zero value means the defaults. The store saves the options when it is created.
type Options struct {
	// MaxFile is the size in bytes above which a file is skipped. Zero means 50 MiB.
	MaxFile int64
	// MaxTotal is the sum in bytes of all captured working files above which the largest ones are skipped. Zero means
	// 4 GiB.
	MaxTotal int64
	// Precious are glob patterns (path.Match) of ignored files up to 1 MiB that are captured nevertheless. A pattern
	// without a slash is matched against the last element of the path, one with a slash against the entire path. Nil means
	// DefaultPrecious, an empty slice means none.
	Precious []string
	// MaxIgnored is the sum in bytes of all captured ignored files that no tool can regenerate, above which the largest
	// ones are skipped. Zero means 200 MiB; if it is negative, none are captured.
	MaxIgnored int64
	// MinFree is how many bytes of the disk of the store a snapshot must leave free (see ErrNoSpace). Zero means the larger
	// of 512 MiB and 2 % of the disk; if it is negative, there is no limit.
	MinFree int64
	// Moved allows the tree to be at another path than recorded in the store: it was moved or cloned, or will be created
	// from the snapshots. The store then belongs to the new path. In most cases it contains another repository, see
	// Store.AdoptRepository.
	Moved bool `json:"-"`

	lockWait time.Duration // for the store's lock; zero means defaultLockWait
}

// DefaultPrecious returns the patterns of ignored files that users usually write manually.
func DefaultPrecious() []string {
	return []string{".env", ".env.*", ".env-*", ".envrc", "*.local", "*.local.*", "*.pem", "*.key", "*.tfvars", "local.properties"}
}

// defaultLockWait is how long to wait for the lock. Other processes hold it briefly, and a snapshot must not fail because a
// user runs a diff at the same time.
const defaultLockWait = 10 * time.Second

const (
	defaultMaxFile  = 50 << 20
	defaultMaxTotal = 4 << 30

	// DefaultMaxIgnored is the default of Options.MaxIgnored in bytes.
	DefaultMaxIgnored = 200 << 20
)

// withDefaults returns the options with defaults for unset ones.
func (o Options) withDefaults() Options {
	if o.MaxFile <= 0 {
		o.MaxFile = defaultMaxFile
	}
	if o.MaxTotal <= 0 {
		o.MaxTotal = defaultMaxTotal
	}
	if o.MaxIgnored == 0 {
		o.MaxIgnored = DefaultMaxIgnored
	}
	if o.Precious == nil {
		o.Precious = DefaultPrecious()
	}
	return o
}

var (
	// ErrUnknown is returned for an ID that is not in the store.
	ErrUnknown = errors.New("unknown snapshot")
	// ErrLocked is returned by Restore when a live process holds a lock of the git repository.
	ErrLocked = errors.New("git repository is locked by a live process")
)

// Store is a folder of snapshots of one working tree. Its methods may be called from several goroutines. Take, Restore and
// Exclude run one at a time, also across processes (ErrBusy).
type Store struct {
	work       string // absolute, without symbolic links
	dir        string // folder of the store
	opts       Options
	pathInTree string   // path of the store relative to the tree, "" if it is outside
	root       *os.Root // the working tree

	rootMode fs.FileMode // permissions of the root when the store was opened

	name            string // identifies this Store in the lock file
	lockWait        time.Duration
	mu              sync.Mutex
	otherRepository bool // the tree contains another repository than the snapshots
	stale           bool // another process may have changed the store since it was read
	config          config
	objects         *pack.Objects
	rules           *ignore.Rules
	pools           *pool.Pools
	infos           map[ID]manifest.Header // headers of all known snapshots
	manifests       manifest.Cache
	// base is the tree when it was last scanned; unchanged files are not read again.
	base      *manifest.Manifest
	recovered *Restored                  // see Recovered
	onRestore func(PlannedRestore) error // see OnRestore
	safety    ID                         // safety snapshot of the last restore
	// moved is the path to which a file or link at the path of the tree was moved; "" if there
	// was none.
	moved string
}

// tree returns the working tree for the internal packages.
func (s *Store) tree() *gitdir.Tree {
	return &gitdir.Tree{Work: s.work, Root: s.root, External: s.config.External, Excludes: s.config.Excludes}
}

// Close releases the store. It does not delete anything.
func (s *Store) Close() error { return s.root.Close() }

// GitDir returns the bare git directory with the contents. ID.Ref is the ref of a snapshot in it.
func (s *Store) GitDir() string { return filepath.Join(s.dir, "repo.git") }

// Recovered returns the result of finishing an interrupted restore, by Open or by the next Take or Restore; nil if there was
// none.
func (s *Store) Recovered() *Restored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recovered
}

// Info describes the snapshot id. The error wraps ErrUnknown if there is no such snapshot.
func (s *Store) Info(id ID) (Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.header(id)
	return h.Info, err
}

// List describes all snapshots, oldest first.
func (s *Store) List() ([]Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.resync(); err != nil {
		return nil, err
	}
	list := make([]Info, 0, len(s.infos))
	for _, id := range s.snapshotsExcept(nil) {
		list = append(list, s.infos[id].Info)
	}
	return list, nil
}

// header returns the header of a snapshot, including snapshots that another process has just taken.
func (s *Store) header(id ID) (manifest.Header, error) {
	if h, ok := s.infos[id]; ok {
		return h, nil
	}
	if err := s.refresh(); err != nil {
		return manifest.Header{}, err
	}
	if h, ok := s.infos[id]; ok {
		return h, nil
	}
	return manifest.Header{}, s.missingError(id)
}

// refresh reads the headers of manifests and the packs that are not known yet.
func (s *Store) refresh() error {
	if err := s.objects.Refresh(); err != nil {
		return err
	}
	ids, err := s.storedIDs()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list snapshots: %w", err)
	}
	for _, id := range ids {
		if _, known := s.infos[id]; known {
			continue
		}
		h, err := manifest.ReadHeader(filepath.Join(s.manifestDir(), string(id)))
		if err != nil {
			return err
		}
		s.infos[id] = h
	}
	return nil
}

// newest returns the highest ID, or "" in an empty store.
func (s *Store) newest() ID {
	if len(s.infos) == 0 {
		return ""
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(s.infos)), compareIDs)
}

// compareIDs orders IDs by their numbers, which have no leading zeros.
func compareIDs(a, b ID) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// storedIDs lists the snapshots in the folder of the store, oldest first.
func (s *Store) storedIDs() ([]ID, error) {
	list, err := os.ReadDir(s.manifestDir())
	var ids []ID
	for _, f := range list {
		if id := ID(f.Name()); manifest.Seq(id) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareIDs)
	return ids, err
}

// manifestDir returns the folder of the manifests. The name of each file is the ID.
func (s *Store) manifestDir() string { return filepath.Join(s.dir, "manifests") }

// manifest loads the manifest of a snapshot.
func (s *Store) manifest(id ID) (*manifest.Manifest, error) {
	if m := s.manifests.Get(id); m != nil {
		return m, nil
	}
	if _, err := s.header(id); err != nil {
		return nil, err
	}
	m, err := manifest.Read(filepath.Join(s.manifestDir(), string(id)))
	if errors.Is(err, fs.ErrNotExist) { // dropped by another process
		delete(s.infos, id)
		return nil, s.missingError(id)
	}
	if err != nil {
		return nil, err
	}
	s.manifests.Put(m)
	return m, nil
}
