package pack

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

	"supervise/snapshot/internal/disk"
)

// File is a pack with its objects, in the order of the file.
type File struct {
	base    string // the path without .pack or .idx
	Objects []indexEntry
	size    int64
}

// Length returns the number of bytes of an object in the pack. There are no gaps between objects.
func (p File) Length(i int) int64 {
	if i+1 < len(p.Objects) {
		return p.Objects[i+1].offset - p.Objects[i].offset
	}
	return p.size - packTailSize - p.Objects[i].offset
}

// packTailSize is the size of the checksum at the end of a pack.
const packTailSize = int64(len(OID{}))

// readPackFile reads the index of a pack. base is the path without .pack or .idx.
func readPackFile(base string) (File, error) {
	p := File{base: base}
	fi, err := os.Stat(base + ".pack")
	if err != nil {
		return p, fmt.Errorf("look at pack: %w", err)
	}
	p.size = fi.Size()
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return p, fmt.Errorf("read pack index: %w", err)
	}
	if p.Objects, err = parseIndex(data); err != nil {
		return p, fmt.Errorf("read pack index %s.idx: %w", base, err)
	}
	sort.Slice(p.Objects, func(i, j int) bool { return p.Objects[i].offset < p.Objects[j].offset })
	return p, nil
}

// parseIndex decodes the index of a pack, see encodeIndex.
func parseIndex(data []byte) ([]indexEntry, error) {
	const head = 8 + 4*256
	if len(data) < head || !bytes.HasPrefix(data, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, errors.New("not a pack index of version 2")
	}
	n := int(binary.BigEndian.Uint32(data[head-4:]))
	crcs := head + n*len(OID{})
	offs, largeOffsets := crcs+4*n, crcs+8*n
	if len(data) < largeOffsets {
		return nil, io.ErrUnexpectedEOF
	}
	entries := make([]indexEntry, n)
	for i := range entries {
		o := &entries[i]
		copy(o.ID[:], data[head+i*len(o.ID):])
		o.crc = binary.BigEndian.Uint32(data[crcs+4*i:])
		o.offset = int64(binary.BigEndian.Uint32(data[offs+4*i:]))
		if o.offset >= 1<<31 {
			at := largeOffsets + 8*int(o.offset&(1<<31-1))
			if len(data) < at+8 {
				return nil, io.ErrUnexpectedEOF
			}
			o.offset = int64(binary.BigEndian.Uint64(data[at:]))
		}
	}
	return entries, nil
}

// PackFiles reads the indexes of all packs.
func (o *Objects) PackFiles() ([]File, error) {
	list, err := o.Indexes()
	if err != nil {
		return nil, err
	}
	out := make([]File, 0, len(list))
	for _, idx := range list {
		p, err := readPackFile(strings.TrimSuffix(idx, ".idx"))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// maxRewrite is how many bytes of packs are rewritten at a time. It limits the free space that
// a rewrite needs.
const maxRewrite = 256 << 20

// Prune drops all objects that are not keys of needed. It deletes packs without needed
// objects, and rewrites packs that are needed in part. The database must be opened again
// afterward.
func (o *Objects) Prune(needed map[OID]int) error {
	packs, err := o.PackFiles()
	if err != nil {
		return err
	}

	stored := map[OID]bool{} // objects in packs that stay or were written
	var partlyNeeded []File
	for _, p := range packs {
		if !isFullyNeeded(p, needed, stored) {
			partlyNeeded = append(partlyNeeded, p)
			continue
		}
		for _, obj := range p.Objects {
			stored[obj.ID] = true
		}
	}

	for len(partlyNeeded) > 0 {
		n, size := 0, int64(0)
		for ; n < len(partlyNeeded) && (n == 0 || size < maxRewrite); n++ {
			size += partlyNeeded[n].neededBytes(needed, stored)
		}
		if err := o.rewrite(partlyNeeded[:n], needed, stored); err != nil {
			return err
		}
		partlyNeeded = partlyNeeded[n:]
	}
	return Sweep(o.PackDir())
}

// isFullyNeeded reports whether each object of a pack is needed, and not stored in another
// pack.
func isFullyNeeded(p File, needed map[OID]int, stored map[OID]bool) bool {
	for _, o := range p.Objects {
		if _, ok := needed[o.ID]; !ok || stored[o.ID] {
			return false
		}
	}
	return true
}

// neededBytes returns how many bytes of a pack have to be kept.
func (p File) neededBytes(needed map[OID]int, stored map[OID]bool) (n int64) {
	for i, o := range p.Objects {
		if _, ok := needed[o.ID]; ok && !stored[o.ID] {
			n += p.Length(i)
		}
	}
	return n
}

// rewrite copies the needed objects of some packs to a new pack, and then deletes the old packs.
func (o *Objects) rewrite(packs []File, needed map[OID]int, stored map[OID]bool) error {
	w := NewWriter(o)
	defer w.Abort()
	for _, p := range packs {
		if err := w.copyNeeded(p, needed, stored); err != nil {
			return err
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	for _, p := range packs {
		if err := Delete(p.base); err != nil {
			return fmt.Errorf("delete pack: %w", err)
		}
	}
	return disk.SyncDir(o.PackDir())
}

// Delete deletes a pack and its index. base is the path without .pack or .idx. The index comes first: a pack without index is
// invisible, and swept.
func Delete(base string) error {
	return errors.Join(disk.IgnoreMissing(os.Remove(base+".idx")), disk.IgnoreMissing(os.Remove(base+".pack")))
}

// copyNeeded copies the needed objects of a pack, and adds them to stored.
func (w *Writer) copyNeeded(p File, needed map[OID]int, stored map[OID]bool) error {
	f, err := os.Open(p.base + ".pack")
	if err != nil {
		return fmt.Errorf("open pack: %w", err)
	}
	defer f.Close()
	for i, o := range p.Objects {
		if _, ok := needed[o.ID]; !ok || stored[o.ID] {
			continue
		}
		if err := w.copyRaw(io.NewSectionReader(f, o.offset, p.Length(i)), o); err != nil {
			return fmt.Errorf("copy %s from %s.pack: %w", o.ID, p.base, err)
		}
		stored[o.ID] = true
	}
	return nil
}

// copyRaw copies an object from another pack in its encoded form. r has exactly its bytes.
func (w *Writer) copyRaw(r io.Reader, o indexEntry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.createFile(), w.flush()); err != nil {
		return err
	}
	crc := crc32.NewIEEE()
	out := &offsetWriter{f: w.file, off: w.offset}
	n, err := io.Copy(io.MultiWriter(out, crc), r)
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if crc.Sum32() != o.crc {
		return errors.New("the pack is damaged")
	}
	w.recordObject(o.ID, o.crc, n)
	return nil
}

// Sweep removes packs that a crash left without an index; they are invisible to git.
func Sweep(dir string) error {
	packs, err := filepath.Glob(filepath.Join(dir, "pack-*.pack"))
	if err != nil {
		return fmt.Errorf("list packs: %w", err)
	}
	for _, p := range packs {
		if _, err := os.Lstat(strings.TrimSuffix(p, ".pack") + ".idx"); errors.Is(err, os.ErrNotExist) {
			if err := disk.IgnoreMissing(os.Remove(p)); err != nil {
				return fmt.Errorf("remove left-over pack: %w", err)
			}
		}
	}
	return nil
}
