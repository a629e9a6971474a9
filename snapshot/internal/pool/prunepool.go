package pool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/pack"
)

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

// missed notes which files of the pool are not in the database any more; names are those that are.
func (p *Pool) missed(names []string, seq int) error {
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

// neededBy reports whether the snapshot with a number needs a file of the pool.
func (p *Pool) neededBy(name string, seq int) bool {
	gone, isGone := p.gone[name]
	return seq >= p.first[name] && (!isGone || seq < gone)
}

// rank is the highest of those of the snapshots that need a file, -1 if none does. users are their numbers and ranks.
func (p *Pool) rank(name string, users map[int]int) int {
	best := -1
	for seq, rank := range users {
		if rank > best && p.neededBy(name, seq) {
			best = rank
		}
	}
	return best
}

// Weigh adds the size of each file to that of the highest rank of the snapshots that need it; rank 0 also has those that
// none needs.
func (p *Pool) Weigh(users map[int]int, sizes []int64) {
	for name := range p.first {
		if fi, err := os.Lstat(p.file(name)); err == nil {
			sizes[max(0, p.rank(name, users))] += disk.Bytes(fi)
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
