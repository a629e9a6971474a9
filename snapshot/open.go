package snapshot

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/ignore"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/pool"
	"supervise/snapshot/internal/restore"
)

// config is the configuration of a store: how it was created, and later changes.
type config struct {
	Version  int
	Work     manifest.PathText // path of the working tree
	External gitdir.External   // git folder outside the tree
	// Repository is the repository in the tree when it was last seen; zero in stores of earlier versions.
	Repository gitstate.Identity
	// Limits are the Options that the store was created with. Commands that open it later,
	// without the user's configuration, must capture the same files, because a file that is
	// missing in a safety snapshot cannot be restored.
	Limits   Options
	Rules    ignore.Config
	Excludes gitdir.Excludes
}

// configVersion is the version of the configuration file.
const configVersion = 1

// Open opens the store in the folder store for snapshots of the tree at work, and creates it if it does not exist. A new
// store records the options and the ignore rules; the options of a later Open are not used. If a restore was interrupted
// by a crash, Open finishes it (see Recovered) or gives it up with an UnfinishedError; the next Open then succeeds.
//
// Open refuses the root of the file system, the home folder and its parents, a store that belongs to another tree, and a
// store inside the tree that git does not ignore.
func Open(ctx context.Context, work, store string, o Options) (*Store, error) {
	work, store, err := resolveFolders(work, store)
	if err != nil {
		return nil, err
	}
	inside, err := storePathInTree(ctx, work, store)
	if err != nil {
		return nil, err
	}

	if err := os.MkdirAll(filepath.Join(store, "manifests"), 0o700); err != nil {
		return nil, fmt.Errorf("make snapshot store: %w", err)
	}

	root, err := os.OpenRoot(work)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; give yourself access to the folder (chmod u+rwx)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open working tree: %w", err)
	}

	fi, err := os.Stat(work)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("open working tree: %w", err)
	}

	s := &Store{
		rootMode: fi.Mode().Perm(),
		work:     work, dir: store, pathInTree: inside, opts: o.withDefaults(), root: root, lockWait: cmp.Or(o.lockWait, defaultLockWait),
		name: rand.Text(), pools: pool.New(filepath.Join(store, "objects")), infos: map[ID]manifest.Header{},
	}

	if err := s.load(ctx); err != nil {
		root.Close()
		return nil, err
	}
	return s, nil
}

// resolveFolders resolves the links in both paths and refuses trees that must never be rolled back.
func resolveFolders(work, store string) (absWork, absStore string, err error) {
	if absWork, err = filepath.Abs(work); err == nil {
		absWork, err = filepath.EvalSymlinks(absWork)
	}
	if err != nil {
		return "", "", fmt.Errorf("find working tree %s: %w", work, err)
	}
	if absStore, err = resolveNew(store); err != nil {
		return "", "", fmt.Errorf("find snapshot store %s: %w", store, err)
	}
	if absWork == filepath.Dir(absWork) {
		return "", "", fmt.Errorf("refuse to snapshot %s: it is an entire file system; run in the folder of a project", absWork)
	}
	if home, err := os.UserHomeDir(); err == nil {
		if real, err := filepath.EvalSymlinks(home); err == nil && gitdir.IsBelow(real, absWork) {
			return "", "", fmt.Errorf("refuse to snapshot %s: it contains the home folder; run in the folder of a project", absWork)
		}
	}
	if gitdir.IsBelow(absWork, absStore) {
		return "", "", fmt.Errorf("refuse snapshot store %s: the working tree lies inside it; choose another folder", absStore)
	}
	return absWork, absStore, nil
}

// resolveNew returns a path without symbolic links. Its last elements may not exist yet.
func resolveNew(p string) (string, error) {
	p, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(p)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(p) != p {
		parent, err := resolveNew(filepath.Dir(p))
		return filepath.Join(parent, filepath.Base(p)), err
	}
	return real, err
}

// storePathInTree returns the path of the store relative to the tree, "" if it is outside. A store inside the tree must be
// ignored by git.
func storePathInTree(ctx context.Context, work, store string) (string, error) {
	if !gitdir.IsBelow(store, work) {
		return "", nil
	}
	rel, err := filepath.Rel(work, store)
	if err != nil {
		return "", fmt.Errorf("find snapshot store: %w", err)
	}
	rel = filepath.ToSlash(rel)
	if first, _, _ := strings.Cut(rel, "/"); !gitdir.IsDotGit(first) {
		if _, err := gitdir.RepoGit(ctx, work, "check-ignore", "-q", "--no-index", "./"+rel+"/repo.git"); err == nil {
			return rel, nil
		}
	}
	return "", fmt.Errorf("refuse snapshot store %s: it lies inside the working tree; choose a folder outside, or add it to .gitignore", store)
}

// load reads or creates the parts of the store, and finishes what a crash interrupted.
func (s *Store) load(ctx context.Context) error {
	unlock, err := s.lock()
	busy := errors.Is(err, ErrBusy)
	if err != nil && !busy {
		return err
	}
	if !busy {
		defer unlock()
		s.sweepStore()
	}
	if s.objects, err = pack.Open(s.GitDir()); err != nil {
		return err
	}
	if err := s.loadConfig(ctx, busy); err != nil {
		return err
	}
	if err := s.refresh(); err != nil {
		return err
	}
	if !busy {
		for _, h := range s.infos {
			if err := s.objects.RepairRefs(h.Refs()); err != nil {
				return err
			}
		}
		_ = s.finishPrune(ctx) // the store records what is left to do
	}
	if id := s.newest(); id != "" {
		if s.base, err = s.manifest(id); err != nil {
			s.base = nil // damaged: all files are read again
		}
	}
	if busy {
		return nil // the process that holds the lock finishes restores
	}
	return s.finishInterrupted(ctx)
}

// sweepStore removes partial files that a crash left in the store.
func (s *Store) sweepStore() {
	for _, dir := range []string{"", "manifests", "repo.git", "repo.git/objects/pack", "repo.git/refs/iter", "repo.git/refs/state"} {
		disk.Sweep(filepath.Join(s.dir, filepath.FromSlash(dir)))
	}
	pools, _ := filepath.Glob(filepath.Join(s.dir, "objects", "*"))
	for _, dir := range pools {
		disk.Sweep(dir)
	}
	_ = pack.Sweep(filepath.Join(s.GitDir(), "objects", "pack")) // it will be tried again next time
}

// configFile returns the path of the configuration.
func (s *Store) configFile() string { return filepath.Join(s.dir, "store.json") }

// loadConfig reads the configuration, or creates it for a new store. busy says that another
// process has locked the store, so that nothing can be written.
func (s *Store) loadConfig(ctx context.Context, busy bool) error {
	data, err := os.ReadFile(s.configFile())
	if errors.Is(err, fs.ErrNotExist) {
		if busy {
			return fmt.Errorf("make snapshot store %s: %w", s.dir, ErrBusy)
		}
		return s.makeConfig(ctx)
	}
	if err != nil {
		return fmt.Errorf("read snapshot store: %w", err)
	}
	if err := json.Unmarshal(data, &s.config); err != nil {
		return fmt.Errorf("read snapshot store %s: %w; restore the file or choose another store", s.configFile(), err)
	}
	if s.config.Version != configVersion {
		return fmt.Errorf("read snapshot store %s: version %d is unknown; use the program that wrote it", s.configFile(), s.config.Version)
	}
	switch {
	case string(s.config.Work) == s.work:
	case s.opts.Moved && !busy:
		if err := s.changeTree(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("open snapshot store %s: it belongs to %s, not to %s; choose another store", s.dir, s.config.Work, s.work)
	}
	s.otherRepository = !s.config.Repository.Same(gitstate.IdentityOf(s.work, s.config.External)) && !disk.IsEmptyDir(s.work)
	s.opts = s.config.Limits
	s.rules = ignore.New(s.ruleDir(), s.config.Rules, s.opts.Precious)
	return nil
}

// changeTree records the new location of the tree.
func (s *Store) changeTree() (err error) {
	s.config.Work = manifest.PathText(s.work)
	if s.config.External, err = gitdir.FindExternal(s.work); err != nil {
		return err
	}
	return s.saveConfig()
}

// ruleDir returns the folder of the copied ignore files.
func (s *Store) ruleDir() string { return filepath.Join(s.dir, "rules") }

// ownFile returns the path of the list of uncommitted work.
func (s *Store) ownFile() string { return filepath.Join(s.dir, "uncommitted.json") }

// makeConfig creates the configuration of a new store. It learns the ignore rules from the
// current tree.
func (s *Store) makeConfig(ctx context.Context) error {
	ext, err := gitdir.FindExternal(s.work)
	if err != nil {
		return err
	}
	var own ignore.Uncommitted
	if s.rules, own, err = ignore.Learn(ctx, s.root, s.ruleDir(), s.pathInTree, s.opts.Precious); err != nil {
		return err
	}
	if err := own.Write(s.ownFile()); err != nil {
		return err
	}
	s.config = config{Version: configVersion, Work: manifest.PathText(s.work), External: ext, Repository: gitstate.IdentityOf(s.work, ext), Limits: s.opts, Rules: s.rules.Config()}
	return s.saveConfig()
}

// saveConfig writes the configuration.
func (s *Store) saveConfig() error {
	return disk.WriteJSON(s.configFile(), "\t", s.config)
}

// lock locks the store for other processes until the returned function is called.
func (s *Store) lock() (func(), error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock snapshot store: %w", err)
	}
	unlock := func() {
		disk.Unlock(f) // does nothing without the lock
		f.Close()
	}
	if err = disk.Lock(f, s.lockWait); err == nil {
		err = s.signLock(f)
	}
	if err != nil {
		unlock()
		return nil, fmt.Errorf("lock snapshot store %s: %w", s.dir, err)
	}
	return unlock, nil
}

// acquire locks the store within this process and for others, and finishes an interrupted restore. The caller must call
// release.
func (s *Store) acquire(ctx context.Context) (release func(), err error) {
	release, err = s.lockForChange()
	if err != nil {
		return nil, err
	}
	if err := s.finishInterrupted(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// lockForChange locks the store within this process and for others. The caller must call release.
func (s *Store) lockForChange() (release func(), err error) {
	s.mu.Lock()
	unlock, err := s.lock()
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	return func() {
		unlock()
		s.mu.Unlock()
	}, nil
}

// signLock writes the name of this Store to the lock file. If another name was there, another process may have added or
// dropped snapshots, and the store is marked stale.
func (s *Store) signLock(f *os.File) error {
	last := make([]byte, len(s.name)+1)
	n, err := f.ReadAt(last, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(last[:n]) == s.name {
		return nil
	}
	s.stale = true
	_, err = f.WriteAt([]byte(s.name), 0)
	return errors.Join(err, f.Truncate(int64(len(s.name))))
}

// Exclude adds files and folders, relative to the root of the tree, that are no longer captured, deleted or restored, in all
// snapshots of the store. It is meant for files that the checks themselves write. The store saves the list. Info.Tree of
// later snapshots does not cover excluded files, so call Exclude before taking snapshots that are compared.
func (s *Store) Exclude(paths []string) error {
	release, err := s.lockForChange()
	if err != nil {
		return err
	}
	defer release()
	excludes := slices.Clone(s.config.Excludes)
	for _, p := range paths {
		clean := path.Clean(filepath.ToSlash(p))
		first, _, _ := strings.Cut(clean, "/")
		if path.IsAbs(clean) || filepath.IsAbs(p) || clean == "." || first == ".." || gitdir.IsDotGit(first) {
			return fmt.Errorf("exclude %q: want a path below the root of the tree and not in .git", p)
		}
		if !slices.Contains(excludes, manifest.PathText(clean)) {
			excludes = append(excludes, manifest.PathText(clean))
		}
	}
	return s.saveExcludes(excludes)
}

// saveExcludes changes the excludes and writes the configuration. After an error the excludes
// are unchanged.
func (s *Store) saveExcludes(x gitdir.Excludes) error {
	old := s.config.Excludes
	s.config.Excludes = x
	if err := s.saveConfig(); err != nil {
		s.config.Excludes = old
		return err
	}
	return nil
}

// ensureRoot makes sure that the opened folder is the one at the path of the tree. A folder
// that was deleted or moved away is created again, so that a restore can fill it; a folder
// that was replaced is opened again. Otherwise snapshots would show a folder that is no longer
// in use.
//
// If the owner can no longer enter the folder, its permissions are reset to those at Open.
func (s *Store) ensureRoot() error {
	s.makeRootAccessible()
	there, err := os.Lstat(s.work)
	had, errHad := s.root.Stat(".")
	if errHad == nil && err == nil && os.SameFile(had, there) {
		return nil
	}
	if err == nil && !there.IsDir() {
		if err = s.displaceRoot(there); err == nil {
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(s.work, s.rootMode)
	}
	if err != nil {
		return fmt.Errorf("find the working tree again: %w; make the folder %s again (an empty one will do), then supervise rollback or resume", err, s.work)
	}
	return s.reopenRoot()
}

// displaceRoot moves a file or link at the path of the tree to the folder of displaced files in the store. The target of a
// link is not touched.
func (s *Store) displaceRoot(fi fs.FileInfo) error {
	if disk.KindOf(fi) != 0 {
		to, err := restore.KeepRoot(s.dir, s.work, fi)
		if err != nil {
			return fmt.Errorf("keep what is in its place: %w", err)
		}
		s.moved = to
	}
	return os.Remove(s.work)
}

// reopenRoot opens the folder at the path of the tree.
func (s *Store) reopenRoot() error {
	// A link at this path could lead anywhere.
	if real, err := filepath.EvalSymlinks(s.work); err != nil || real != s.work {
		return fmt.Errorf("find the working tree again: %s is a symbolic link now; remove it, make the folder again (an empty one will do), then supervise rollback or resume", s.work)
	}
	root, err := os.OpenRoot(s.work)
	if err != nil {
		return fmt.Errorf("open the working tree again: %w", err)
	}
	_ = s.root.Close() // nothing was written through it
	s.root, s.base = root, nil
	return nil
}

// makeRootAccessible gives the owner access to the folder of the tree. If that fails, opening the folder reports the error.
func (s *Store) makeRootAccessible() {
	fi, err := os.Lstat(s.work)
	if err == nil && fi.IsDir() && fi.Mode().Perm()&0o700 != 0o700 && s.rootMode&0o700 == 0o700 {
		_ = os.Chmod(s.work, s.rootMode)
	}
}
