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

// Pool keeps the object files of one object database. A file lies in the folder of the snapshot that saw it first.
type Pool struct {
	dir   string
	Large bool           // Of large files, which are linked and never copied
	first map[string]int // name such as "ab/cdef…" or "pack/pack-….idx" → number of that snapshot
	gone  map[string]int // name → number of the first snapshot that missed it in the database
	// linked are the files of the database that are hard links of ours, as they were then.
	linked map[string]disk.Stat
}

// Pools are the pools of a store.
type Pools struct {
	dir  string // each is a folder in it
	open map[string]*Pool
}

// New returns the pools in the folder dir.
func New(dir string) *Pools { return &Pools{dir: dir, open: map[string]*Pool{}} }

// Forget makes the pools be read again, after others may have changed them.
func (s *Pools) Forget() { clear(s.open) }

// Get opens the pool of the object database that key names.
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

// Open reads which files are in a pool.
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

func (p *Pool) file(name string) string {
	return filepath.Join(p.dir, strconv.Itoa(p.first[name]), filepath.FromSlash(name))
}

// listFiles names the files of a database that the pool is for.
func (p *Pool) listFiles(dir string) ([]string, error) {
	if p.Large {
		return listAll(dir)
	}
	return listObjects(dir)
}

// ErrOtherDisk is returned where large files would have to be copied to be kept.
var ErrOtherDisk = errors.New("on another disk")

// linkLarge makes a second name for a large file.
func linkLarge(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Link(from, to)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrOtherDisk, err) // or one without links, or with too many of them
	}
	return err
}

// Gather takes the objects in dir that the pool does not have yet.
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
			continue // packed or pruned since it was listed
		}
		if err != nil {
			return fmt.Errorf("keep git object: %w", err)
		}
		p.first[n] = seq
	}
	if len(p.linked) > links {
		if err := p.saveLinked(); err != nil {
			return err
		}
	}
	if err := p.recordFolderRights(dir, seq); err != nil {
		return err
	}
	return p.recordMissing(names, seq)
}

// Clear removes the objects that the pool holds from a database that the target snapshot did not have.
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
			_ = os.Remove(filepath.Dir(file)) // fails until it is empty
		}
	}
	return nil
}

// listObjects names the files of an object database that never change: loose objects and packs with their indexes.
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

// listAll names all regular files below a folder. A name that holds a line feed is none that git or its helpers give.
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

// listNames lists a folder; one that cannot be read has no names.
func listNames(root *os.Root, dir string) []string {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return nil // a pipe would be waited for
	}
	d, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// Name is the folder of an object pool below objects.
func Name(key string) string { return pack.Hash(pack.Blob, []byte(key)).String()[:16] }

// goneFile says, one on a line, in which snapshot an object file of the pool was missing from the database for the first
// time, and its name. Such a file is needed by earlier snapshots alone.
const goneFile = "gone"

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

func (p *Pool) saveGone() error {
	lines := make([]string, 0, len(p.gone))
	for name, seq := range p.gone {
		lines = append(lines, strconv.Itoa(seq)+" "+name+"\n")
	}
	sort.Strings(lines)
	return disk.WriteFile(filepath.Join(p.dir, goneFile), []byte(strings.Join(lines, "")))
}

// recordMissing notes which files of the pool are not in the database any more; names are those that are.
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

// isNeededBy reports whether the snapshot with a number needs a file of the pool.
func (p *Pool) isNeededBy(name string, seq int) bool {
	gone, isGone := p.gone[name]
	return seq >= p.first[name] && (!isGone || seq < gone)
}

// rank is the highest of those of the snapshots that need a file, -1 if none does. users are their numbers and ranks.
func (p *Pool) rank(name string, users map[int]int) int {
	best := -1
	for seq, rank := range users {
		if rank > best && p.isNeededBy(name, seq) {
			best = rank
		}
	}
	return best
}

// AddSizes adds the size of each file to that of the highest rank of the snapshots that need it; rank 0 also has those that
// none needs.
func (p *Pool) AddSizes(users map[int]int, sizes []int64) {
	for name := range p.first {
		if fi, err := os.Lstat(p.file(name)); err == nil {
			sizes[max(0, p.rank(name, users))] += disk.DiskUsage(fi)
		}
	}
}

// Prune removes the object files of git that no snapshot needs. users has the numbers of the snapshots that use
// a pool, by its folder.
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
		_ = os.Remove(filepath.Dir(file)) // fails until it is empty
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
