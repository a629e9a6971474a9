package pack

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"

	"supervise/snapshot/internal/disk"
)

// OID is the id of a git object: the SHA-1 of its type, length and content.
type OID [sha1.Size]byte

// String returns the id in hex.
func (o OID) String() string { return hex.EncodeToString(o[:]) }

// ParseOID reads an id in hex.
func ParseOID(s string) (OID, error) {
	var o OID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(o) {
		return o, fmt.Errorf("%q is not an object id", s)
	}
	copy(o[:], b)
	return o, nil
}

// Type is the type of a git object, numbered as in a pack.
type Type byte

// The types of git objects that a store holds.
const (
	Commit Type = 1
	Tree   Type = 2
	Blob   Type = 3
)

// String returns git's name of the type.
func (t Type) String() string {
	return map[Type]string{Commit: "commit", Tree: "tree", Blob: "blob"}[t]
}

// NewHash returns a hash for the id of an object. The caller writes the content, of the given size, to it.
func NewHash(t Type, size int64) hash.Hash {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", t, size)
	return h
}

// Sum returns the id of the object whose content was written to a hash of NewHash.
func Sum(h hash.Hash) (o OID) {
	h.Sum(o[:0])
	return o
}

// Hash returns the id of an object.
func Hash(t Type, data []byte) OID {
	h := NewHash(t, int64(len(data)))
	h.Write(data)
	return Sum(h)
}

// Writer writes new objects to one pack, in format version 2 without deltas
// (https://git-scm.com/docs/gitformat-pack). Nothing is visible to git until Finish. Add and
// Stream may be called from several goroutines.
type Writer struct {
	dir     string // objects/pack
	objects *Objects
	zips    [2]sync.Pool // of *zlib.Writer, by level; a new one costs more than a small file
	bufs    sync.Pool    // of *bytes.Buffer
	Raw     atomic.Bool  // store contents uncompressed: 20 times as fast, 2 to 3 times as large
	Space   *disk.Space  // nil: not checked

	mu      sync.Mutex
	file    *os.File // a temporary file; nil until the first object
	offset  int64    // position of the next object
	buf     []byte   // data before offset that is not in the file yet
	entries []indexEntry
	written map[OID]bool // the objects in this pack
}

// indexEntry is one object in the index of a pack: its id, the checksum of its encoded bytes,
// and its position in the pack.
type indexEntry struct {
	ID     OID
	crc    uint32
	offset int64
}

// ErrChanged is returned if the content of a file changes while it is read.
var ErrChanged = errors.New("content changed while it was read")

// NewWriter returns a writer of a new pack.
func NewWriter(o *Objects) *Writer {
	return &Writer{dir: o.PackDir(), objects: o, written: map[OID]bool{}}
}

// Add stores an object unless it is already stored, and returns its id.
func (p *Writer) Add(t Type, data []byte) (OID, error) {
	id := Hash(t, data)
	if p.Has(id) {
		return id, nil
	}

	b, ok := p.bufs.Get().(*bytes.Buffer)
	if !ok {
		b = &bytes.Buffer{}
	}
	defer p.bufs.Put(b)

	b.Reset()
	b.Write(entryHead(t, int64(len(data))))
	level := zlib.BestSpeed
	if p.Raw.Load() {
		level = zlib.NoCompression
	}
	if err := p.deflate(b, bytes.NewReader(data), level); err != nil {
		return id, err
	}

	crc := crc32.ChecksumIEEE(b.Bytes())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written[id] {
		return id, nil
	}

	if err := p.createFile(); err != nil {
		return id, err
	}
	p.buf = append(p.buf, b.Bytes()...)
	p.recordObject(id, crc, int64(b.Len()))
	if p.offset > deflateUpTo {
		p.Raw.Store(true)
	}

	if len(p.buf) < packBuffer {
		return id, nil
	}
	return id, p.flush()
}

const (
	packBuffer  = 1 << 20 // bytes per write
	deflateUpTo = 8 << 20 // bytes of a pack after which contents are stored uncompressed, for speed
)

// flush writes the buffer to the file. The caller holds the lock.
func (p *Writer) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	if err := p.Space.Check(p.offset); err != nil {
		return err
	}
	if _, err := p.file.WriteAt(p.buf, p.offset-int64(len(p.buf))); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	p.buf = p.buf[:0]
	return nil
}

// Has reports whether an object is stored in this or an earlier pack.
func (p *Writer) Has(id OID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written[id] || p.objects.contains(id)
}

// recordObject records an object of n encoded bytes that was just written.
func (p *Writer) recordObject(id OID, crc uint32, n int64) {
	p.entries = append(p.entries, indexEntry{id, crc, p.offset})
	p.written[id] = true
	p.offset += n
}

// Stream stores a blob that is too large for memory. If the content of r does not have the expected size and id, it stores
// nothing and returns ErrChanged.
func (p *Writer) Stream(r io.Reader, size int64, want OID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written[want] || p.objects.contains(want) {
		return nil
	}
	if err := errors.Join(p.createFile(), p.flush()); err != nil {
		return err
	}

	crc := crc32.NewIEEE()
	out := &offsetWriter{f: p.file, off: p.offset, space: p.Space}
	w := bufio.NewWriterSize(io.MultiWriter(out, crc), 1<<16)
	w.Write(entryHead(Blob, size)) //nolint:errcheck // Flush reports it
	h := NewHash(Blob, size)
	if err := p.deflate(w, io.TeeReader(r, h), zlib.BestSpeed); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}

	if Sum(h) != want {
		return ErrChanged // the next object overwrites the written data
	}
	p.recordObject(want, crc.Sum32(), out.off-p.offset)
	return nil
}

// offsetWriter writes to a file from a position on, if there is enough space.
type offsetWriter struct {
	f     *os.File
	off   int64
	space *disk.Space
}

// Write writes b, and moves the position.
func (w *offsetWriter) Write(b []byte) (int, error) {
	if err := w.space.Check(w.off + int64(len(b))); err != nil {
		return 0, err
	}
	n, err := w.f.WriteAt(b, w.off)
	w.off += int64(n)
	return n, err
}

// packHeadSize is the size of the header of a pack, in bytes.
const packHeadSize = 12

// createFile creates the temporary file of the pack if it does not exist.
func (p *Writer) createFile() error {
	if p.file != nil {
		return nil
	}
	f, err := os.CreateTemp(p.dir, "tmp_pack_")
	if err != nil {
		return fmt.Errorf("create pack: %w", err)
	}
	p.file, p.offset = f, packHeadSize
	return nil
}

// entryHead encodes the type and length of an object. The first byte has 3 bits of type and 4
// bits of length, each further byte 7 bits of length. The highest bit says that another byte
// follows.
func entryHead(t Type, size int64) []byte {
	c := byte(t)<<4 | byte(size&15)
	size >>= 4
	var b []byte
	for size != 0 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
		size >>= 7
	}
	return append(b, c)
}

// deflate writes the content of r to w as a zlib stream of the given level.
func (p *Writer) deflate(w io.Writer, r io.Reader, level int) error {
	z, ok := p.zips[level].Get().(*zlib.Writer)
	var err error
	if ok {
		z.Reset(w)
	} else {
		z, err = zlib.NewWriterLevel(w, level)
	}
	if err == nil {
		defer p.zips[level].Put(z)
		_, err = io.Copy(z, r)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}

// Finish completes the pack, syncs it and gives it the name under which git finds it, and then publishes the files in
// after. Without new objects no pack is written.
func (p *Writer) Finish(after ...*disk.Staged) error {
	defer p.Abort()
	if p.file == nil {
		return disk.Publish(after...)
	}

	sum, err := p.finishFile()
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}

	sort.Slice(p.entries, func(i, j int) bool { return bytes.Compare(p.entries[i].ID[:], p.entries[j].ID[:]) < 0 })
	name := sha1.New()
	for i := range p.entries {
		name.Write(p.entries[i].ID[:])
	}
	base := filepath.Join(p.dir, fmt.Sprintf("pack-%x", name.Sum(nil)))

	idx, err := disk.Stage(base+".idx", encodeIndex(p.entries, sum), 0o444)
	if err != nil {
		return err
	}

	pack := &disk.Staged{File: p.file, Name: base + ".pack"}
	p.file = nil
	// The index comes last: a pack without one is invisible.
	if err := disk.Publish(append([]*disk.Staged{pack, idx}, after...)...); err != nil {
		return err
	}
	p.objects.addPack(idx.Name, p.entries)
	return nil
}

// finishFile writes the header, which has the final number of objects, and the checksum of the
// pack. It returns the checksum.
func (p *Writer) finishFile() ([]byte, error) {
	head := append([]byte("PACK"), 0, 0, 0, 2)
	head = binary.BigEndian.AppendUint32(head, uint32(len(p.entries)))
	if err := p.flush(); err != nil {
		return nil, err
	}
	_, errHead := p.file.WriteAt(head, 0)
	errCut := p.file.Truncate(p.offset) // a failed stream may have left bytes after the last object
	h := sha1.New()
	_, errHash := io.Copy(h, io.NewSectionReader(p.file, 0, p.offset))
	sum := h.Sum(nil)
	_, errTail := p.file.WriteAt(sum, p.offset)
	return sum, errors.Join(errHead, errCut, errHash, errTail, p.file.Chmod(0o444))
}

// Abort removes an unfinished pack. It does nothing after Finish.
func (p *Writer) Abort() {
	if p.file != nil {
		p.file.Close()
		_ = os.Remove(p.file.Name())
		p.file = nil
	}
}

// encodeIndex encodes the version 2 index of a pack: for each first byte the number of ids up
// to it, then the ids, checksums and offsets, and at the end two checksums. The entries must
// be sorted by id.
func encodeIndex(entries []indexEntry, packSum []byte) []byte {
	b := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	n := 0
	for first := range 256 {
		for n < len(entries) && int(entries[n].ID[0]) <= first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}

	for _, o := range entries {
		b = append(b, o.ID[:]...)
	}
	for _, o := range entries {
		b = binary.BigEndian.AppendUint32(b, o.crc)
	}

	var largeOffsets []byte // offsets that need more than 31 bits
	for _, o := range entries {
		off := uint32(o.offset)
		if o.offset >= 1<<31 {
			off = 1<<31 | uint32(len(largeOffsets)/8)
			largeOffsets = binary.BigEndian.AppendUint64(largeOffsets, uint64(o.offset))
		}
		b = binary.BigEndian.AppendUint32(b, off)
	}

	b = append(append(b, largeOffsets...), packSum...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}
