package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// read returns an object of any type and checks that it is what its id says.
func (o *objects) read(id oid, t objType) ([]byte, error) {
	r, _, err := o.open(id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", t, id, err)
	}
	if hashObject(t, data) != id {
		return nil, fmt.Errorf("%s %s in %s is damaged", t, id, o.dir)
	}
	return data, nil
}

// packFile is a pack with its objects in the order in which they lie in it.
type packFile struct {
	base string // the path without .pack or .idx
	objs []packed
	size int64
}

// length is the number of bytes that an object takes in the pack. Objects follow each other without gaps.
func (p packFile) length(i int) int64 {
	if i+1 < len(p.objs) {
		return p.objs[i+1].off - p.objs[i].off
	}
	return p.size - packTailSize - p.objs[i].off
}

// packTailSize is the checksum at the end of a pack.
const packTailSize = int64(len(oid{}))

// readPackFile reads the index of a pack.
func readPackFile(base string) (packFile, error) {
	p := packFile{base: base}
	fi, err := os.Stat(base + ".pack")
	if err != nil {
		return p, fmt.Errorf("look at pack: %w", err)
	}
	p.size = fi.Size()
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return p, fmt.Errorf("read pack index: %w", err)
	}
	if p.objs, err = parseIndex(data); err != nil {
		return p, fmt.Errorf("read pack index %s.idx: %w", base, err)
	}
	sort.Slice(p.objs, func(i, j int) bool { return p.objs[i].off < p.objs[j].off })
	return p, nil
}

// parseIndex is the reverse of packIndex.
func parseIndex(data []byte) ([]packed, error) {
	const head = 8 + 4*256
	if len(data) < head || !bytes.HasPrefix(data, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, errors.New("not a pack index of version 2")
	}
	n := int(binary.BigEndian.Uint32(data[head-4:]))
	crcs := head + n*len(oid{})
	offs, far := crcs+4*n, crcs+8*n
	if len(data) < far {
		return nil, io.ErrUnexpectedEOF
	}
	objs := make([]packed, n)
	for i := range objs {
		o := &objs[i]
		copy(o.id[:], data[head+i*len(o.id):])
		o.crc = binary.BigEndian.Uint32(data[crcs+4*i:])
		o.off = int64(binary.BigEndian.Uint32(data[offs+4*i:]))
		if o.off >= 1<<31 {
			at := far + 8*int(o.off&(1<<31-1))
			if len(data) < at+8 {
				return nil, io.ErrUnexpectedEOF
			}
			o.off = int64(binary.BigEndian.Uint64(data[at:]))
		}
	}
	return objs, nil
}

func (o *objects) packFiles() ([]packFile, error) {
	list, err := filepath.Glob(filepath.Join(o.packDir(), "pack-*.idx"))
	if err != nil {
		return nil, fmt.Errorf("list packs: %w", err)
	}
	out := make([]packFile, 0, len(list))
	for _, idx := range list {
		p, err := readPackFile(strings.TrimSuffix(idx, ".idx"))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// maxRewrite is how many bytes of packs are written anew at a time, which is what is needed of free space.
const maxRewrite = 256 << 20

// prune deletes the packs of which nothing is needed, and replaces those of which not everything is. The database has to
// be opened again afterwards.
func (o *objects) prune(needed map[oid]int) error {
	all, err := o.packFiles()
	if err != nil {
		return err
	}
	there := map[oid]bool{} // in packs that stay, or have been written
	var spoilt []packFile
	for _, p := range all {
		if !wanted(p, needed, there) {
			spoilt = append(spoilt, p)
			continue
		}
		for _, obj := range p.objs {
			there[obj.id] = true
		}
	}
	for len(spoilt) > 0 {
		n, size := 0, int64(0)
		for ; n < len(spoilt) && (n == 0 || size < maxRewrite); n++ {
			size += spoilt[n].live(needed, there)
		}
		if err := o.rewrite(spoilt[:n], needed, there); err != nil {
			return err
		}
		spoilt = spoilt[n:]
	}
	return sweepPacks(o.packDir())
}

// wanted tells whether every object of a pack is needed and not there already.
func wanted(p packFile, needed map[oid]int, there map[oid]bool) bool {
	for _, o := range p.objs {
		if _, ok := needed[o.id]; !ok || there[o.id] {
			return false
		}
	}
	return true
}

// live is how many bytes of a pack have to be kept.
func (p packFile) live(needed map[oid]int, there map[oid]bool) (n int64) {
	for i, o := range p.objs {
		if _, ok := needed[o.id]; ok && !there[o.id] {
			n += p.length(i)
		}
	}
	return n
}

// rewrite puts what is needed of some packs into a new one, and then deletes them.
func (o *objects) rewrite(packs []packFile, needed map[oid]int, there map[oid]bool) error {
	w := newPackWriter(o)
	defer w.abort()
	for _, p := range packs {
		if err := w.copyFrom(p, needed, there); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	for _, p := range packs {
		// The index goes first: a pack without one is invisible, and swept.
		if err := errors.Join(ignoreMissing(os.Remove(p.base+".idx")), ignoreMissing(os.Remove(p.base+".pack"))); err != nil {
			return fmt.Errorf("delete pack: %w", err)
		}
	}
	return syncDir(o.packDir())
}

// copyFrom takes over the needed objects of a pack as they are, and notes them in there.
func (w *packWriter) copyFrom(p packFile, needed map[oid]int, there map[oid]bool) error {
	f, err := os.Open(p.base + ".pack")
	if err != nil {
		return fmt.Errorf("open pack: %w", err)
	}
	defer f.Close()
	for i, o := range p.objs {
		if _, ok := needed[o.id]; !ok || there[o.id] {
			continue
		}
		if err := w.copyRaw(io.NewSectionReader(f, o.off, p.length(i)), o); err != nil {
			return fmt.Errorf("copy %s from %s.pack: %w", o.id, p.base, err)
		}
		there[o.id] = true
	}
	return nil
}

// copyRaw stores an object in the form that it has in another pack.
func (w *packWriter) copyRaw(r io.Reader, o packed) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.create(), w.flush()); err != nil {
		return err
	}
	crc := crc32.NewIEEE()
	out := &offsetWriter{f: w.f, off: w.off}
	n, err := io.Copy(io.MultiWriter(out, crc), r)
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if crc.Sum32() != o.crc {
		return errors.New("the pack is damaged")
	}
	w.commit(o.id, o.crc, n)
	return nil
}

// sweepPacks removes packs that a crash left without an index; nobody can see them.
func sweepPacks(dir string) error {
	packs, err := filepath.Glob(filepath.Join(dir, "pack-*.pack"))
	if err != nil {
		return fmt.Errorf("list packs: %w", err)
	}
	for _, p := range packs {
		if _, err := os.Lstat(strings.TrimSuffix(p, ".pack") + ".idx"); errors.Is(err, os.ErrNotExist) {
			if err := ignoreMissing(os.Remove(p)); err != nil {
				return fmt.Errorf("remove left-over pack: %w", err)
			}
		}
	}
	return nil
}
