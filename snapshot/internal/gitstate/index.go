package gitstate

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
)

// HaveSameEntries reports whether two git index files stage the same content. Times are ignored, because git status
// rewrites the index with other times. An index without a valid SHA-1 checksum (damaged, of a SHA-256 repository, or written
// with index.skipHash) must be identical.
func HaveSameEntries(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okA := stagedEntries(a)
	y, okB := stagedEntries(b)
	return okA && okB && bytes.Equal(x, y)
}

// These are offsets in an index file, and in an entry of it with SHA-1 names, in bytes; see
// gitformat-index(5).
const (
	indexHead    = 12 // size of the header of the file
	entryMode    = 24 // after the times, the device and the inode
	entryOwner   = 28 // user, group and size
	entryID      = 40
	entryFlags   = 60
	entryName    = 62
	flagExtended = 0x4000 // the entry has two more bytes of flags
)

// stagedEntries returns the staged content of an index: the mode, object, flags and path of
// each entry. It returns false if the index is not valid.
func stagedEntries(index []byte) ([]byte, bool) {
	end := len(index) - sha1.Size
	if end < indexHead || string(index[:4]) != "DIRC" {
		return nil, false
	}
	if sum := sha1.Sum(index[:end]); !bytes.Equal(sum[:], index[end:]) {
		return nil, false
	}

	version, n := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return nil, false
	}

	out := binary.BigEndian.AppendUint32(nil, version)
	remaining := index[indexHead:]
	for range n {
		name, end := entryEnd(remaining, version)
		if end < 0 || end > len(remaining) {
			return nil, false
		}
		out = append(append(out, remaining[entryMode:entryOwner]...), remaining[entryID:name]...)
		remaining = remaining[end:]
	}
	return out, true
}

// entryEnd returns where the name of the first entry ends, and where the entry ends, including
// padding. end is -1 if the entry is incomplete.
func entryEnd(remaining []byte, version uint32) (name, end int) {
	if len(remaining) < entryName {
		return 0, -1
	}
	name = entryName
	if binary.BigEndian.Uint16(remaining[entryFlags:])&flagExtended != 0 {
		name += 2
	}
	if version == 4 { // skip the length of the omitted common prefix
		for name < len(remaining) && remaining[name]&0x80 != 0 {
			name++
		}
		name++
	}
	if name >= len(remaining) {
		return 0, -1
	}
	nul := bytes.IndexByte(remaining[name:], 0)
	if nul < 0 {
		return 0, -1
	}
	name += nul + 1
	if version == 4 {
		return name, name
	}
	return name, (name + 7) &^ 7 // one to eight zero bytes
}
