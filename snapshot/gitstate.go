package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// gitRel is the part of a path behind its first .git: "refs" for "sub/.git/refs", "" for .git itself.
func gitRel(dir string) string {
	rest := dir
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if isDotGit(name) {
			return rest
		}
	}
	return dir
}

// isObjectDir tells object databases: that of a repository and those of its submodules. rel is relative to .git.
func isObjectDir(rel string) bool {
	return rel == "objects" || strings.HasPrefix(rel, "modules/") && path.Base(rel) == "objects"
}

// keepGit leaves out of a git folder what is kept as objects (which never change) and what is only a cache.
func keepGit(rel, name string) bool {
	switch {
	case rel == "":
		return name != "lfs" && name != "annex"
	case isObjectDir(rel):
		return name == "info" || name == "pack"
	case path.Base(rel) == "pack" && isObjectDir(path.Dir(rel)):
		return !strings.HasPrefix(name, "pack-") && !strings.HasPrefix(name, "tmp_") && !strings.HasPrefix(name, ".tmp-")
	}
	return true
}

// external is a git folder outside of the tree: that of a linked worktree, or one made by git init --separate-git-dir.
// It is found once, when the store is made, so that an agent cannot point us at other folders.
type external struct {
	GitDir string // "" if there is none
	Common string // the shared folder of a linked worktree; otherwise GitDir
}

func (e external) linked() bool { return e.Common != e.GitDir }

// findExternal follows .git of the tree, if it is not an ordinary folder.
func findExternal(work string) (external, error) {
	dotGit := filepath.Join(work, ".git")
	fi, err := os.Lstat(dotGit)
	if err != nil || fi.IsDir() {
		return external{}, nil //nolint:nilerr // no repository is no error
	}
	dir := dotGit
	if fi.Mode().IsRegular() {
		data, err := os.ReadFile(dotGit)
		if err != nil {
			return external{}, fmt.Errorf("read %s: %w", dotGit, err)
		}
		dir = absFrom(work, strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")))
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return external{}, fmt.Errorf("find the git folder that %s names: %w", dotGit, err)
	}
	if isBelow(dir, work) {
		return external{}, nil // captured with the tree
	}
	ext := external{GitDir: dir, Common: dir}
	if data, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		ext.Common = absFrom(dir, strings.TrimSpace(string(data)))
	}
	return ext, nil
}

func absFrom(base, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// isBelow tells whether p is dir or lies in it; both are absolute and clean.
func isBelow(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// inExternal begins the names of what lies in the git folder outside of the tree, where names of the tree are mixed with
// them; no path of the tree begins with a slash.
const inExternal = "/external/"

// objectDir is the folder of an object database that a manifest names.
func (s *Store) objectDir(key string) string {
	rel, outside := strings.CutPrefix(key, inExternal)
	switch {
	case !outside:
		return filepath.Join(s.work, filepath.FromSlash(key))
	case rel == "objects": // shared by all linked worktrees
		return filepath.Join(s.config.External.Common, rel)
	default:
		return filepath.Join(s.config.External.GitDir, filepath.FromSlash(rel))
	}
}

// external looks at the git folder outside of the tree.
func (sc *scanner) external(ctx context.Context) error {
	ext := sc.s.config.External
	if ext.GitDir == "" {
		return nil
	}
	if ext.linked() {
		sc.m.objectDirs = append(sc.m.objectDirs, inExternal+"objects")
	}
	root, err := os.OpenRoot(ext.GitDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted; a restore makes it again
	}
	if err != nil {
		return fmt.Errorf("open git folder: %w", err)
	}
	defer root.Close()
	if err := sc.walker(partExt).walk(ctx, root, zoneGit); err != nil {
		return err
	}
	if ext.linked() {
		sc.m.Branch = currentBranch(ctx, ext.GitDir)
	}
	return nil
}

// currentBranch reads where the branch of a linked worktree stands. A detached HEAD has none.
func currentBranch(ctx context.Context, gitDir string) branchRef {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	name, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if err != nil || !isRef {
		return branchRef{}
	}
	return branchRef{name, resolveRef(ctx, gitDir, name)}
}

func resolveRef(ctx context.Context, gitDir, name string) string {
	out, err := runGit(gitCommand(ctx, gitDir, "--git-dir="+gitDir, "rev-parse", "--verify", "-q", name))
	if err != nil {
		return "" // no commit yet
	}
	return strings.TrimSpace(string(out))
}

// restoreBranch moves the branch of a linked worktree back, if it moved. gitDir is the shared folder: seen from there the
// branch is not checked out, so that git does not write into the worktree's own HEAD log.
func restoreBranch(ctx context.Context, gitDir string, b branchRef) error {
	if b.Name == "" || resolveRef(ctx, gitDir, b.Name) == b.Commit {
		return nil
	}
	args := []string{"--git-dir=" + gitDir, "update-ref", "-m", "supervise: restore", b.Name, b.Commit}
	if b.Commit == "" {
		args = []string{"--git-dir=" + gitDir, "update-ref", "-d", b.Name}
	}
	_, err := runGit(gitCommand(ctx, gitDir, args...))
	return err
}

// pool keeps the object files of one object database. A file lies in the folder of the snapshot that saw it first.
type pool struct {
	dir   string
	first map[string]int // name such as "ab/cdef…" or "pack/pack-….idx" → number of that snapshot
	gone  map[string]int // name → number of the first snapshot that missed it in the database
}

// poolFor opens the pool of the object database that key names.
func (s *Store) poolFor(key string) (*pool, error) {
	if p := s.pools[key]; p != nil {
		return p, nil
	}
	dir := filepath.Join(s.dir, "objects", poolName(key))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make object pool: %w", err)
	}
	p, err := openPool(dir)
	if err == nil {
		s.pools[key] = p
	}
	return p, err
}

// openPool reads which files are in a pool.
func openPool(dir string) (*pool, error) {
	p := &pool{dir: dir, first: map[string]int{}}
	if err := p.loadGone(); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, fmt.Errorf("list object pool: %w", err)
	}
	for _, d := range list {
		seq, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		names, err := listObjects(filepath.Join(p.dir, d.Name()))
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if old, ok := p.first[n]; !ok || seq < old {
				p.first[n] = seq
			}
		}
	}
	return p, nil
}

func (p *pool) file(name string) string {
	return filepath.Join(p.dir, strconv.Itoa(p.first[name]), filepath.FromSlash(name))
}

// gather takes the objects in dir that the pool does not have yet.
func (p *pool) gather(dir string, seq int) error {
	names, err := listObjects(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if _, ok := p.first[n]; ok {
			continue
		}
		to := filepath.Join(p.dir, strconv.Itoa(seq), filepath.FromSlash(n))
		err := linkOrCopy(filepath.Join(dir, filepath.FromSlash(n)), to)
		if errors.Is(err, fs.ErrNotExist) {
			continue // packed or pruned since it was listed
		}
		if err != nil {
			return fmt.Errorf("keep git object: %w", err)
		}
		p.first[n] = seq
	}
	return p.missed(names, seq)
}

// give puts back the objects that existed when the snapshot h was taken and are missing from dir now, or are not what they
// were.
func (p *pool) give(dir string, h header) error {
	present, err := listObjects(dir)
	if err != nil {
		return err
	}
	have := make(map[string]bool, len(present))
	for _, n := range present {
		have[n] = true
	}
	changed := changedFolders(dir, h.Started)
	for n := range p.first {
		to := filepath.Join(dir, filepath.FromSlash(n))
		if !p.neededBy(n, h.ID.seq()) || have[n] && (!changed[path.Dir(n)] || p.intact(n, to)) {
			continue
		}
		if err := errors.Join(ignoreMissing(os.Remove(to)), linkOrCopy(p.file(n), to)); err != nil {
			return fmt.Errorf("give back git object: %w", err)
		}
	}
	return nil
}

// changedFolders names the folders of an object database in which files came or went since then. Whoever edits files, as
// sed -i does, usually puts new ones in their place.
func changedFolders(dir string, since time.Time) map[string]bool {
	out := map[string]bool{}
	list, _ := os.ReadDir(dir) // without it nothing counts as changed
	for _, d := range list {
		if fi, err := d.Info(); err == nil && fi.IsDir() && fi.ModTime().After(since.Add(-racyWindow)) {
			out[d.Name()] = true
		}
	}
	return out
}

// intact tells whether an object file is still the one that the pool knows by its name. Files beside a pack that git
// writes anew at will are not looked at.
func (p *pool) intact(name, file string) bool {
	if ext := path.Ext(name); ext != "" && ext != ".pack" && ext != ".idx" {
		return true
	}
	ours, errOurs := os.Open(p.file(name))
	theirs, errTheirs := os.Open(file)
	defer ours.Close()
	defer theirs.Close()
	if errOurs != nil {
		return true // nothing better can be had
	}
	a, errA := ours.Stat()
	b, errB := theirs.Stat()
	if errors.Join(errTheirs, errA, errB) != nil || a.Size() != b.Size() {
		return false
	}
	return os.SameFile(a, b) || sameBytes(ours, theirs)
}

func sameBytes(a, b io.Reader) bool {
	var bufA, bufB [1 << 15]byte
	for {
		n, errA := io.ReadFull(a, bufA[:])
		m, errB := io.ReadFull(b, bufB[:])
		switch {
		case n != m || !bytes.Equal(bufA[:n], bufB[:m]):
			return false
		case errA != nil || errB != nil:
			return errA == errB //nolint:errorlint // both are ends of file, or one is not
		}
	}
}

// clear removes the objects that the pool holds from a database that the target snapshot did not have.
func (p *pool) clear(dir string) error {
	names, err := listObjects(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if _, kept := p.first[n]; !kept {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(n))
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove git object: %w", err)
		}
		if !strings.HasPrefix(n, "pack/") {
			_ = os.Remove(filepath.Dir(file)) // fails until it is empty
		}
	}
	return nil
}

// listObjects names the files of an object database that never change: loose objects and packs with their indexes.
func listObjects(dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open git objects: %w", err)
	}
	defer root.Close()
	var out []string
	for _, sub := range namesIn(root, ".") {
		if len(sub) != 2 && sub != "pack" {
			continue
		}
		for _, n := range namesIn(root, sub) {
			loose := len(sub) == 2 && (len(n) == 38 || len(n) == 62) && strings.Trim(n, "0123456789abcdef") == ""
			if loose || sub == "pack" && strings.HasPrefix(n, "pack-") {
				out = append(out, sub+"/"+n)
			}
		}
	}
	return out, nil
}

// namesIn lists a folder; one that cannot be read has no names.
func namesIn(root *os.Root, dir string) []string {
	d, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// linkOrCopy makes a second name for a regular file, or a copy where that is impossible.
func linkOrCopy(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), "tmp_obj_")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // it has its final name by then, or is garbage that git sweeps
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(fi.Mode().Perm()), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
