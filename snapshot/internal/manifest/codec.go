package manifest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"supervise/snapshot/internal/disk"
)

// Version is the first line of a manifest. The file starts with two lines of text: the version, and the header in JSON. The
// parts follow: working files, .git folders, the git folder outside the tree, and kept ignored files. Each part is the
// number of its entries, followed by the entries:
//
//   - the length of the prefix that the path shares with the previous path, the length of the rest, and the rest,
//   - the kind (1 byte), the mode, the id of the content (20 bytes), the size,
//   - the modification time minus that of the previous entry, the change time minus the modification time, and the inode
//     and device minus those of the previous entry.
//
// Next come the object databases and the ignored paths, each as a number of names encoded like paths. Then, for each part,
// come the owners: a number of runs, each with a user, a group and a number of entries. The last 32 bytes are the SHA-256
// of everything before. Numbers are varints as in encoding/binary, signed if they are differences or sizes.
const Version = "supervise-snapshot 4"

// These are earlier versions that are still read: without owners, and also without kept
// ignored files.
const (
	versionWithoutOwners = "supervise-snapshot 3"
	versionWithoutKept   = "supervise-snapshot 2"
)

// Encode encodes the manifest in the format that [Version] describes.
func (m *Manifest) Encode() ([]byte, error) {
	h := m.Header
	h.Skipped = nil
	head, err := json.Marshal(struct {
		Header
		Skips []skipText `json:",omitempty"`
	}{h, encodeSkips(m.Skipped)})
	if err != nil {
		return nil, fmt.Errorf("encode snapshot header: %w", err)
	}
	b := make([]byte, 0, 1024+len(head)+64*(len(m.Work)+len(m.Git)+len(m.Ext)+len(m.Kept)))
	b = fmt.Appendf(b, "%s\n%s\n", Version, head)
	for p := range Parts {
		b = AppendEntries(b, *m.List(p))
	}
	b = appendNames(appendNames(b, m.ObjectDirs), m.Ignored)
	for p := range Parts {
		b = appendOwners(b, *m.List(p))
	}
	return appendChecksum(b), nil
}

// appendChecksum appends the SHA-256 of b.
func appendChecksum(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// AppendEntries appends the entries of one part of a manifest to b, without their owners.
func AppendEntries(b []byte, list []Entry) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	var last Entry
	for i := range list {
		e := &list[i]
		b = appendName(b, last.Path, e.Path)
		b = append(b, byte(e.Kind))
		b = binary.AppendUvarint(b, uint64(e.Stat.Mode))
		b = append(b, e.OID[:]...)
		b = binary.AppendVarint(b, e.Stat.Size)
		b = binary.AppendVarint(b, e.Stat.Mtime-last.Stat.Mtime)
		b = binary.AppendVarint(b, e.Stat.Ctime-e.Stat.Mtime)
		b = binary.AppendVarint(b, int64(e.Stat.Ino-last.Stat.Ino))
		b = binary.AppendVarint(b, int64(e.Stat.Dev-last.Stat.Dev))
		last = *e
	}
	return b
}

// appendOwners appends the owners of one part. Consecutive entries with the same owner form a
// run.
func appendOwners(b []byte, list []Entry) []byte {
	var runs []int // index of the first entry of each run
	for i := range list {
		if i == 0 || list[i].Stat.Owner != list[i-1].Stat.Owner {
			runs = append(runs, i)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(runs)))
	for k, i := range runs {
		end := len(list)
		if k+1 < len(runs) {
			end = runs[k+1]
		}
		for _, n := range []uint64{uint64(list[i].Stat.Owner.UID), uint64(list[i].Stat.Owner.GID), uint64(end - i)} {
			b = binary.AppendUvarint(b, n)
		}
	}
	return b
}

// appendNames appends the number of names, and the names.
func appendNames(b []byte, names []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(names)))
	last := ""
	for _, n := range names {
		b = appendName(b, last, n)
		last = n
	}
	return b
}

// appendName appends a name without the prefix that it shares with the last one: the length of
// the prefix, the length of the rest, and the rest.
func appendName(b []byte, last, name string) []byte {
	n := 0
	for n < len(last) && n < len(name) && last[n] == name[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendUvarint(b, uint64(len(name)-n))
	return append(b, name[n:]...)
}

// parseManifest decodes a file. The error is [ErrDamaged] if it differs from what was written.
func parseManifest(data []byte) (*Manifest, error) {
	h, err := parseHeader(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return nil, err
	}
	end := len(data) - sha256.Size
	if end < 0 || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, ErrDamaged
	}
	_, body, _ := bytes.Cut(data[:end], []byte("\n"))
	_, body, _ = bytes.Cut(body, []byte("\n"))
	m := &Manifest{Header: h}
	d := decoder{remaining: body}
	parts := Parts
	if bytes.HasPrefix(data, []byte(versionWithoutKept)) {
		parts = PartKept
	}
	for p := range parts {
		*m.List(p) = d.readEntries()
	}
	m.ObjectDirs, m.Ignored = d.readNames(), d.readNames()
	if bytes.HasPrefix(data, []byte(Version)) {
		for p := range Parts {
			d.readOwners(*m.List(p))
		}
	}
	if d.damaged || len(d.remaining) > 0 {
		return nil, ErrDamaged
	}
	return m, nil
}

// decoder decodes the parts of a manifest. After an error damaged is set and all values are invalid.
type decoder struct {
	remaining []byte
	damaged   bool
	name      []byte // the last name
}

// readUint reads an unsigned number.
func (d *decoder) readUint() uint64 {
	v, n := binary.Uvarint(d.remaining)
	d.skip(n)
	return v
}

// readInt reads a signed number.
func (d *decoder) readInt() int64 {
	v, n := binary.Varint(d.remaining)
	d.skip(n)
	return v
}

// skip drops n bytes; n <= 0 is an error.
func (d *decoder) skip(n int) {
	if n <= 0 || n > len(d.remaining) {
		d.damaged, d.remaining, n = true, nil, 0
	}
	d.remaining = d.remaining[n:]
}

// readCount reads the number of items that take at least minSize bytes each. A number for
// which the rest of the file is too short is an error, so that no memory is allocated for it.
func (d *decoder) readCount(minSize int) int {
	n := d.readUint()
	if n > uint64(len(d.remaining)/minSize) {
		d.damaged = true
		return 0
	}
	return int(n)
}

// readName reads a name. The result is valid until the next call.
func (d *decoder) readName() []byte {
	same, more := d.readUint(), d.readUint()
	if same > uint64(len(d.name)) || more > uint64(len(d.remaining)) {
		d.damaged = true
		return nil
	}
	d.name = append(d.name[:same], d.remaining[:more]...)
	d.remaining = d.remaining[more:]
	return d.name
}

// readEntries reads one part, as AppendEntries writes it.
func (d *decoder) readEntries() []Entry {
	n := d.readCount(30)
	if n == 0 {
		return nil
	}
	list := make([]Entry, n)
	ends := make([]int, n)

	d.name = d.name[:0]
	var text strings.Builder // all paths in one string, to save allocations
	var last disk.Stat

	for i := range list {
		e := &list[i]
		text.Write(d.readName())
		ends[i] = text.Len()
		if len(d.remaining) > 0 {
			e.Kind = disk.Kind(d.remaining[0])
		}
		d.skip(1)
		e.Stat.Mode = uint32(d.readUint())
		copy(e.OID[:], d.remaining)
		d.skip(len(e.OID))
		e.Stat.Size = d.readInt()
		e.Stat.Mtime = last.Mtime + d.readInt()
		e.Stat.Ctime = e.Stat.Mtime + d.readInt()
		e.Stat.Ino = last.Ino + uint64(d.readInt())
		e.Stat.Dev = last.Dev + uint64(d.readInt())
		e.Stat.Owner = disk.NoOwner
		last = e.Stat
		if d.damaged {
			return nil
		}
	}

	all, begin := text.String(), 0
	for i := range list {
		list[i].Path, begin = all[begin:ends[i]], ends[i]
	}
	return list
}

// readOwners reads the owners of the entries of one part.
func (d *decoder) readOwners(list []Entry) {
	for range d.readCount(3) {
		o, n := disk.Owner{UID: uint32(d.readUint()), GID: uint32(d.readUint())}, d.readUint()
		if n > uint64(len(list)) {
			d.damaged = true
			return
		}
		for i := range n {
			list[i].Stat.Owner = o
		}
		list = list[n:]
	}
	d.damaged = d.damaged || len(list) > 0
}

// DecodeEntries decodes the result of AppendEntries.
func DecodeEntries(data []byte) ([]Entry, error) {
	d := decoder{remaining: data}
	list := d.readEntries()
	if d.damaged || len(d.remaining) > 0 {
		return nil, ErrDamaged
	}
	return list, nil
}

// readNames reads a list of names, as appendNames writes it.
func (d *decoder) readNames() []string {
	var out []string
	d.name = d.name[:0]
	for range d.readCount(2) {
		out = append(out, string(d.readName()))
	}
	return out
}

// ErrDamaged is returned for a manifest that differs from what was written.
var ErrDamaged = errors.New("the file is damaged; the snapshot cannot be used, the others are not affected")
