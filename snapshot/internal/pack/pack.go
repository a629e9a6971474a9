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
	"hash/adler32"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"

	"supervise/snapshot/internal/disk"
)

// OID is the id that git gives an object: the SHA-1 of its type, length and content.
type OID [sha1.Size]byte

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

// String is the name of the type in the text that is hashed.
func (t Type) String() string {
	return map[Type]string{Commit: "commit", Tree: "tree", Blob: "blob"}[t]
}

// NewHash begins the id of an object whose content of that many bytes follows.
func NewHash(t Type, size int64) hash.Hash {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", t, size)
	return h
}

// Sum completes an id that NewHash began.
func Sum(h hash.Hash) (o OID) {
	h.Sum(o[:0])
	return o
}

// Hash is the id of an object.
func Hash(t Type, data []byte) OID {
	h := NewHash(t, int64(len(data)))
	h.Write(data)
	return Sum(h)
}

// Writer writes new objects into one pack of the git directory, format version 2 without deltas
// (https://git-scm.com/docs/gitformat-pack). Nothing is visible to git until finish. Its add methods may be called from
// several goroutines.
type Writer struct {
	dir   string // objects/pack
	into  *Objects
	zips  sync.Pool   // of *zlib.Writer; a new one costs more than a small file
	bufs  sync.Pool   // of *bytes.Buffer
	Raw   atomic.Bool // contents are stored as they are, not deflated: 20 times as fast, 2 to 3 times as large
	Space *disk.Space // nil: not watched

	mu   sync.Mutex
	f    *os.File
	off  int64  // of what comes next
	buf  []byte // what lies before off and is not in the file yet
	objs []packed
	seen map[OID]bool
}

type packed struct {
	ID  OID
	crc uint32
	off int64
}

// ErrChanged is returned for a file whose content is not what it was expected to be.
var ErrChanged = errors.New("content changed while it was read")

// NewWriter begins a pack.
func NewWriter(o *Objects) *Writer {
	return &Writer{dir: o.PackDir(), into: o, seen: map[OID]bool{}}
}

// Add stores one object unless it is there already.
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
	if p.Raw.Load() {
		storeRaw(b, data)
	} else if err := p.deflate(b, bytes.NewReader(data)); err != nil {
		return id, err
	}
	crc := crc32.ChecksumIEEE(b.Bytes())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[id] {
		return id, nil
	}
	if err := p.create(); err != nil {
		return id, err
	}
	p.buf = append(p.buf, b.Bytes()...)
	p.commit(id, crc, int64(b.Len()))
	if p.off > deflateUpTo {
		p.Raw.Store(true)
	}
	if len(p.buf) < packBuffer {
		return id, nil
	}
	return id, p.flush()
}

const (
	packBuffer  = 1 << 20 // bytes that are written at a time
	deflateUpTo = 8 << 20 // bytes of a pack; what follows is stored as it is, so that many files do not take long
)

// flush writes what is in the buffer.
func (p *Writer) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	if err := p.Space.Check(p.off); err != nil {
		return err
	}
	if _, err := p.f.WriteAt(p.buf, p.off-int64(len(p.buf))); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	p.buf = p.buf[:0]
	return nil
}

// storeRaw writes data in the form of zlib but as it is, see RFC 1950 and, for stored blocks, RFC 1951, 3.2.4.
func storeRaw(b *bytes.Buffer, data []byte) {
	const most = 1<<16 - 1
	b.Write([]byte{0x78, 0x01})
	for rest, last := data, false; !last; {
		n := min(len(rest), most)
		last = n == len(rest)
		head := []byte{0, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)}
		if last {
			head[0] = 1
		}
		b.Write(head)
		b.Write(rest[:n])
		rest = rest[n:]
	}
	b.Write(binary.BigEndian.AppendUint32(b.AvailableBuffer(), adler32.Checksum(data)))
}

// Has reports whether an object is stored, in this pack or before.
func (p *Writer) Has(id OID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[id] || p.into.has(id)
}

func (p *Writer) commit(id OID, crc uint32, n int64) {
	p.objs = append(p.objs, packed{id, crc, p.off})
	p.seen[id] = true
	p.off += n
}

// Stream stores a blob that is too big for memory. The error is ErrChanged if r does not hold exactly the content
// that want and size say; nothing is stored then.
func (p *Writer) Stream(r io.Reader, size int64, want OID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[want] || p.into.has(want) {
		return nil
	}
	if err := errors.Join(p.create(), p.flush()); err != nil {
		return err
	}
	crc := crc32.NewIEEE()
	out := &offsetWriter{f: p.f, off: p.off, space: p.Space}
	w := bufio.NewWriterSize(io.MultiWriter(out, crc), 1<<16)
	w.Write(entryHead(Blob, size)) //nolint:errcheck // Flush reports it
	h := NewHash(Blob, size)
	if err := p.deflate(w, io.TeeReader(r, h)); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if Sum(h) != want {
		return ErrChanged // what was written is overwritten by the next object
	}
	p.commit(want, crc.Sum32(), out.off-p.off)
	return nil
}

type offsetWriter struct {
	f     *os.File
	off   int64
	space *disk.Space
}

func (w *offsetWriter) Write(b []byte) (int, error) {
	if err := w.space.Check(w.off + int64(len(b))); err != nil {
		return 0, err
	}
	n, err := w.f.WriteAt(b, w.off)
	w.off += int64(n)
	return n, err
}

const packHeadSize = 12

func (p *Writer) create() error {
	if p.f != nil {
		return nil
	}
	f, err := os.CreateTemp(p.dir, "tmp_pack_")
	if err != nil {
		return fmt.Errorf("create pack: %w", err)
	}
	p.f, p.off = f, packHeadSize
	return nil
}

// entryHead is the type and the length of an object, seven bits a byte but four in the first.
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

func (p *Writer) deflate(w io.Writer, r io.Reader) error {
	z, ok := p.zips.Get().(*zlib.Writer)
	if ok {
		z.Reset(w)
	} else {
		var err error
		if z, err = zlib.NewWriterLevel(w, zlib.BestSpeed); err != nil {
			return fmt.Errorf("compress: %w", err)
		}
	}
	defer p.zips.Put(z)
	if _, err := io.Copy(z, r); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}

// Finish completes the pack, makes it durable and gives it the name under which git finds it, together with files that
// shall come after it. Without new objects there is no pack.
func (p *Writer) Finish(after ...*disk.Staged) error {
	defer p.Abort()
	if p.f == nil {
		return disk.Publish(after...)
	}
	sum, err := p.seal()
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	sort.Slice(p.objs, func(i, j int) bool { return bytes.Compare(p.objs[i].ID[:], p.objs[j].ID[:]) < 0 })
	name := sha1.New()
	for i := range p.objs {
		name.Write(p.objs[i].ID[:])
	}
	base := filepath.Join(p.dir, fmt.Sprintf("pack-%x", name.Sum(nil)))
	idx, err := disk.Stage(base+".idx", packIndex(p.objs, sum), 0o444)
	if err != nil {
		return err
	}
	pack := &disk.Staged{F: p.f, Name: base + ".pack"}
	p.f = nil
	// The index comes last: a pack without one is invisible.
	if err := disk.Publish(append([]*disk.Staged{pack, idx}, after...)...); err != nil {
		return err
	}
	p.into.adopt(idx.Name, p.objs)
	return nil
}

// seal writes the head with the number of objects, known only now, and the checksum over everything.
func (p *Writer) seal() ([]byte, error) {
	head := append([]byte("PACK"), 0, 0, 0, 2)
	head = binary.BigEndian.AppendUint32(head, uint32(len(p.objs)))
	if err := p.flush(); err != nil {
		return nil, err
	}
	_, errHead := p.f.WriteAt(head, 0)
	errCut := p.f.Truncate(p.off) // a failed stream may have left bytes behind the last object
	h := sha1.New()
	_, errHash := io.Copy(h, io.NewSectionReader(p.f, 0, p.off))
	sum := h.Sum(nil)
	_, errTail := p.f.WriteAt(sum, p.off)
	return sum, errors.Join(errHead, errCut, errHash, errTail, p.f.Chmod(0o444))
}

// Abort removes what was not finished. It may be called after finish.
func (p *Writer) Abort() {
	if p.f != nil {
		p.f.Close()
		_ = os.Remove(p.f.Name())
		p.f = nil
	}
}

// packIndex is the version 2 index of a pack; objs must be sorted by id.
func packIndex(objs []packed, packSum []byte) []byte {
	b := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	n := 0
	for first := range 256 {
		for n < len(objs) && int(objs[n].ID[0]) <= first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, o := range objs {
		b = append(b, o.ID[:]...)
	}
	for _, o := range objs {
		b = binary.BigEndian.AppendUint32(b, o.crc)
	}
	var far []byte // offsets that need more than 31 bits
	for _, o := range objs {
		off := uint32(o.off)
		if o.off >= 1<<31 {
			off = 1<<31 | uint32(len(far)/8)
			far = binary.BigEndian.AppendUint64(far, uint64(o.off))
		}
		b = binary.BigEndian.AppendUint32(b, off)
	}
	b = append(append(b, far...), packSum...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}
