package pack

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"supervise/snapshot/internal/disk"
)

// Objects is the object database in a git directory. It reads only packs written by Writer.
type Objects struct {
	dir string // the bare git directory

	mu           sync.RWMutex
	locations    map[OID]location // where each object is
	packs        []string         // file names of the packs
	knownIndexes map[string]bool  // file names of the indexes that were read
	epoch        *Epoch
}

// Epoch identifies a period in which no object was dropped. If a manifest was stored in the
// current epoch, its contents need not be looked up.
type Epoch struct{ _ byte }

// location is the index of a pack in Objects.packs, and a position in that pack.
type location struct {
	pack   int
	offset int64
}

// repoConfig is the configuration of the git directory. It disables the automatic garbage
// collection of git, which would write packs that this package cannot read.
const repoConfig = `[core]
	repositoryformatversion = 0
	bare = true
	logAllRefUpdates = false
[gc]
	auto = 0
`

// Open opens the git directory, and creates it if it does not exist. It does not run git.
func Open(dir string) (*Objects, error) {
	o := NewObjects(dir)
	for _, d := range []string{o.PackDir(), filepath.Join(dir, "objects", "info"), filepath.Join(dir, "refs", "heads")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make git directory: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		return o, o.Refresh()
	}
	if err := disk.WriteFile(filepath.Join(dir, "config"), []byte(repoConfig)); err != nil {
		return nil, err
	}
	return o, disk.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"))
}

// PackDir returns the folder of the packs.
func (o *Objects) PackDir() string { return filepath.Join(o.dir, "objects", "pack") }

// Indexes lists the index files of all packs.
func (o *Objects) Indexes() ([]string, error) {
	list, err := filepath.Glob(filepath.Join(o.PackDir(), "pack-*.idx"))
	if err != nil {
		return nil, fmt.Errorf("list packs: %w", err)
	}
	return list, nil
}

// contains reports whether a known pack has an object.
func (o *Objects) contains(id OID) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	_, ok := o.locations[id]
	return ok
}

// Epoch returns the current epoch.
func (o *Objects) Epoch() *Epoch { return o.epoch }

// Refresh reads the indexes of packs that are not known yet.
func (o *Objects) Refresh() error {
	list, err := o.Indexes()
	if err != nil {
		return err
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	o.forgetDropped(list)

	for _, idx := range list {
		if o.knownIndexes[idx] {
			continue
		}
		if _, err := os.Lstat(strings.TrimSuffix(idx, ".idx") + ".pack"); errors.Is(err, fs.ErrNotExist) {
			continue // a crash may leave an index without a pack
		}
		data, err := os.ReadFile(idx)
		if err != nil {
			return fmt.Errorf("read pack index: %w", err)
		}
		objs, err := parseIndex(data)
		if err != nil {
			return fmt.Errorf("read pack index %s: %w", idx, err)
		}
		o.recordPack(idx, objs)
	}
	return nil
}

// Reload forgets all packs and reads their indexes again.
func (o *Objects) Reload() error {
	o.mu.Lock()
	o.locations, o.packs, o.knownIndexes = map[OID]location{}, nil, map[string]bool{}
	o.mu.Unlock()
	return o.Refresh()
}

// forgetDropped forgets all packs and starts a new epoch if another process has dropped packs.
func (o *Objects) forgetDropped(list []string) {
	left := 0
	for _, idx := range list {
		if o.knownIndexes[idx] {
			left++
		}
	}
	if left < len(o.knownIndexes) {
		o.locations, o.knownIndexes, o.packs, o.epoch = map[OID]location{}, map[string]bool{}, nil, &Epoch{}
	}
}

// addPack adds the objects of a pack.
func (o *Objects) addPack(idx string, objs []indexEntry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recordPack(idx, objs)
}

// recordPack is addPack for a caller that holds the lock.
func (o *Objects) recordPack(idx string, objs []indexEntry) {
	for i := range objs {
		o.locations[objs[i].ID] = location{len(o.packs), objs[i].offset}
	}
	o.knownIndexes[idx] = true
	o.packs = append(o.packs, strings.TrimSuffix(idx, ".idx")+".pack")
}

// openPack opens the pack that has an object, and returns the position of the object in it.
func (o *Objects) openPack(id OID) (f *os.File, offset int64, err error) {
	o.mu.RLock()
	at, ok := o.locations[id]
	var name string
	if ok {
		name = o.packs[at.pack]
	}
	o.mu.RUnlock()
	if !ok {
		return nil, 0, fmt.Errorf("content %s is missing from %s", id, o.dir)
	}
	f, err = os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && o.Reload() == nil { // another process has rewritten the pack
		return o.openPack(id)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open pack: %w", err)
	}
	return f, at.offset, nil
}

// openEntry starts to read the object at the given position in a pack. size is the length of its content in bytes.
func openEntry(pack io.ReaderAt, offset int64) (t Type, size int64, content io.Reader, err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(pack, offset, 1<<62), 1<<14)
	if t, size, err = readEntryHead(r); err == nil {
		content, err = zlib.NewReader(r)
	}
	return t, size, content, err
}

// readEntryHead reads what entryHead writes.
func readEntryHead(r io.ByteReader) (t Type, size int64, err error) {
	c, err := r.ReadByte()
	t, size = Type(c>>4&7), int64(c&15)
	for shift := 4; err == nil && c&0x80 != 0; shift += 7 {
		c, err = r.ReadByte()
		size |= int64(c&0x7f) << shift
	}
	return t, size, err
}

// copyObject writes the content of an object to w, and verifies its id. kind names the object in errors.
func (o *Objects) copyObject(w io.Writer, id OID, t Type, kind string) error {
	f, offset, err := o.openPack(id)
	if err != nil {
		return err
	}
	defer f.Close()
	_, size, content, err := openEntry(f, offset)
	if err != nil {
		return fmt.Errorf("read %s from %s: %w", id, f.Name(), err)
	}
	h := NewHash(t, size)
	if _, err := io.Copy(io.MultiWriter(w, h), content); err != nil {
		return fmt.Errorf("copy %s %s: %w", kind, id, err)
	}
	if Sum(h) != id {
		return fmt.Errorf("%s %s in %s is damaged", kind, id, o.dir)
	}
	return nil
}

// CopyTo writes the content of a blob to w, and verifies its id.
func (o *Objects) CopyTo(w io.Writer, id OID) error { return o.copyObject(w, id, Blob, "content") }

// Content returns the content of a blob.
func (o *Objects) Content(id OID) ([]byte, error) {
	var b bytes.Buffer
	err := o.CopyTo(&b, id)
	return b.Bytes(), err
}

// Read returns an object of any type and verifies its id.
func (o *Objects) Read(id OID, t Type) ([]byte, error) {
	var b bytes.Buffer
	err := o.copyObject(&b, id, t, t.String())
	return b.Bytes(), err
}

// SetRefs writes refs without syncing them. refs maps full names to ids.
func (o *Objects) SetRefs(refs map[string]string) error {
	for name, id := range refs {
		file := filepath.Join(o.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("make ref: %w", err)
		}
		if err := os.WriteFile(file, []byte(id+"\n"), 0o600); err != nil {
			return fmt.Errorf("make ref: %w", err)
		}
	}
	return nil
}

// RepairRefs rewrites the refs if any of them was lost in a crash.
func (o *Objects) RepairRefs(refs map[string]string) error {
	for name, id := range refs {
		fi, err := os.Lstat(filepath.Join(o.dir, filepath.FromSlash(name)))
		if err != nil || fi.Size() != int64(len(id)+1) {
			return o.SetRefs(refs)
		}
	}
	return nil
}
