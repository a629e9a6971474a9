package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/pack"
)

// Pool keeps the object files of one object database. Each file is in the folder of the first snapshot that saw it.
type Pool struct {
	dir   string         // has a folder for each snapshot that added files
	Large bool           // the files are large: they are linked and never copied
	first map[string]int // name such as "ab/cdef…" or "pack/pack-….idx" → number of the first snapshot with it
	gone  map[string]int // name → number of the first snapshot without it
	// linked are the files that are hard links to the database, with their Stat when they were linked.
	linked map[string]disk.Stat
}

// Pools are all pools of a store.
type Pools struct {
	dir  string // contains a folder for each pool
	open map[string]*Pool
}

// New returns the pools in the folder dir.
func New(dir string) *Pools { return &Pools{dir: dir, open: map[string]*Pool{}} }

// Forget clears the cache of open pools, after another process may have changed them.
func (s *Pools) Forget() { clear(s.open) }

// Get returns the pool of the object database with the given key.
func (s *Pools) Get(key string) (*Pool, error) {
	if p := s.open[key]; p != nil {
		return p, nil
	}
	dir := filepath.Join(s.dir, Name(key))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make object pool: %w", err)
	}
	p, err := Open(dir)
	if err == nil {
		p.Large = gitdir.IsLargeFileKey(key)
		s.open[key] = p
	}
	return p, err
}

// Open opens the pool in the folder dir.
func Open(dir string) (*Pool, error) {
	p := &Pool{dir: dir, first: map[string]int{}}
	if err := errors.Join(p.loadGone(), p.loadLinked()); err != nil {
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
		names, err := listAll(filepath.Join(p.dir, d.Name()))
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

// file returns the path of a file in the pool.
func (p *Pool) file(name string) string {
	return filepath.Join(p.dir, strconv.Itoa(p.first[name]), filepath.FromSlash(name))
}

// listFiles lists the files of a database that belong in the pool.
func (p *Pool) listFiles(dir string) ([]string, error) {
	if p.Large {
		return listAll(dir)
	}
	return listObjects(dir)
}

// ErrOtherDisk is returned if large files would have to be copied to another disk.
var ErrOtherDisk = errors.New("on another disk")

// linkLarge makes a hard link to a large file. The error wraps ErrOtherDisk if that is
// impossible.
func linkLarge(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Link(from, to)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrOtherDisk, err) // or the file system has no links, or the file too many
	}
	return err
}

// Gather copies or links new objects in dir into the pool, for the snapshot with number seq.
func (p *Pool) Gather(dir string, seq int) error {
	names, err := p.listFiles(dir)
	if err != nil {
		return err
	}

	budget := p.newCopyBudget(names)
	links := len(p.linked)
	for _, n := range names {
		if _, ok := p.first[n]; ok {
			continue
		}
		to := filepath.Join(p.dir, strconv.Itoa(seq), filepath.FromSlash(n))
		err := p.keep(n, filepath.Join(dir, filepath.FromSlash(n)), to, &budget)
		if errors.Is(err, fs.ErrNotExist) {
			continue // packed or pruned by git since it was listed
		}
		if err != nil {
			return fmt.Errorf("keep git object: %w", err)
		}
		p.first[n] = seq
	}

	if len(p.linked) > links {
		if err := disk.WriteJSON(p.linkedFile(), "", p.linked); err != nil {
			return err
		}
	}

	if err := p.recordFolderRights(dir, seq); err != nil {
		return err
	}
	return p.recordMissing(names, seq)
}

// Clear removes the objects that are in the pool from the database in dir, which does not exist in the target of a restore.
func (p *Pool) Clear(dir string) error {
	names, err := p.listFiles(dir)
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
			_ = os.Remove(filepath.Dir(file)) // succeeds only if it is empty
		}
	}
	return nil
}

// listObjects lists the files of an object database that never change: loose objects, and packs with their indexes.
func listObjects(dir string) ([]string, error) {
	root, err := projectfile.OpenFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open git objects: %w", err)
	}
	defer root.Close()
	var out []string
	for _, sub := range listNames(root, ".") {
		if len(sub) != 2 && sub != "pack" {
			continue
		}
		for _, n := range listNames(root, sub) {
			loose := len(sub) == 2 && (len(n) == 38 || len(n) == 62) && strings.Trim(n, "0123456789abcdef") == ""
			if loose || sub == "pack" && strings.HasPrefix(n, "pack-") {
				out = append(out, sub+"/"+n)
			}
		}
	}
	return out, nil
}

// listAll lists all regular files below a folder, except names with a line feed, which git never creates.
func listAll(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err == nil && !strings.HasPrefix(d.Name(), disk.TempObject) && !strings.Contains(rel, "\n") {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	return out, nil
}

// listNames lists the names in a folder. A missing or unreadable folder counts as empty.
func listNames(root *os.Root, dir string) []string {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return nil // opening a pipe would block
	}
	d, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// Name returns the name of the folder of the pool for an object database: 16 digits of a hash
// of the key.
func Name(key string) string { return pack.Hash(pack.Blob, []byte(key)).String()[:16] }

// goneFile is the name of a file that lists the files of the pool that are missing in the
// database. Each line has the number of the first snapshot without the file, and its name,
// like "7 ab/cdef…". Only earlier snapshots need such files.
const goneFile = "gone"

// loadGone reads the file goneFile, which may be missing.
func (p *Pool) loadGone() error {
	p.gone = map[string]int{}
	data, err := os.ReadFile(filepath.Join(p.dir, goneFile))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("read object pool: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		n, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if seq, err := strconv.Atoi(n); err == nil {
			p.gone[name] = seq
		}
	}
	return nil
}

// saveGone writes the file goneFile.
func (p *Pool) saveGone() error {
	lines := make([]string, 0, len(p.gone))
	for name, seq := range p.gone {
		lines = append(lines, strconv.Itoa(seq)+" "+name+"\n")
	}
	sort.Strings(lines)
	return disk.WriteFile(filepath.Join(p.dir, goneFile), []byte(strings.Join(lines, "")))
}

// recordMissing records which files of the pool are missing in the database for the first time
// in snapshot number seq. names are the existing files.
func (p *Pool) recordMissing(names []string, seq int) error {
	back := false
	for _, n := range names {
		if _, ok := p.gone[n]; ok {
			delete(p.gone, n)
			back = true
		}
	}
	if len(names)+len(p.gone) >= len(p.first) && !back {
		return nil
	}

	here := make(map[string]bool, len(names))
	for _, n := range names {
		here[n] = true
	}
	for n := range p.first {
		if _, known := p.gone[n]; !known && !here[n] {
			p.gone[n] = seq
		}
	}
	return p.saveGone()
}

// isNeededBy reports whether the snapshot with number seq needs a file of the pool.
func (p *Pool) isNeededBy(name string, seq int) bool {
	gone, isGone := p.gone[name]
	return seq >= p.first[name] && (!isGone || seq < gone)
}

// rank returns the highest rank of the snapshots that need a file, -1 if none does. users maps
// snapshot numbers to ranks, see Store.EstimateFreed.
func (p *Pool) rank(name string, users map[int]int) int {
	best := -1
	for seq, rank := range users {
		if rank > best && p.isNeededBy(name, seq) {
			best = rank
		}
	}
	return best
}

// AddSizes adds the size of each file to the element of sizes for the highest rank of the snapshots that need it, or for
// rank 0 if none does.
func (p *Pool) AddSizes(users map[int]int, sizes []int64) {
	for name := range p.first {
		if fi, err := os.Lstat(p.file(name)); err == nil {
			sizes[max(0, p.rank(name, users))] += disk.Usage(fi)
		}
	}
}

// Prune removes files that no snapshot needs. users maps the folder of each pool to the numbers and ranks of the snapshots
// that use it.
func (s *Pools) Prune(users map[string]map[int]int) error {
	s.Forget()
	list, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list object pools: %w", err)
	}
	for _, d := range list {
		dir := filepath.Join(s.dir, d.Name())
		if len(users[d.Name()]) == 0 {
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove object pool: %w", err)
			}
			continue
		}
		p, err := Open(dir)
		if err == nil {
			err = p.prune(users[d.Name()])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// prune removes the files that no snapshot in users needs.
func (p *Pool) prune(users map[int]int) error {
	changed := false
	for name := range p.first {
		if p.rank(name, users) >= 0 {
			continue
		}
		file := p.file(name)
		if err := disk.IgnoreMissing(os.Remove(file)); err != nil {
			return fmt.Errorf("remove git object: %w", err)
		}
		_ = os.Remove(filepath.Dir(file)) // succeeds only if it is empty
		if _, ok := p.gone[name]; ok {
			delete(p.gone, name)
			changed = true
		}
		delete(p.first, name)
	}

	if !changed {
		return nil
	}
	return p.saveGone()
}
