package snapshot

import (
	"io/fs"
	"time"
)

// kind is the type of a captured path.
type kind byte

const (
	kindFile kind = 'f'
	kindLink kind = 'l'
	kindDir  kind = 'd'
)

// stat is what tells an unchanged file from a changed one without reading it. It is comparable with ==.
type stat struct {
	size         int64
	mtime, ctime int64 // nanoseconds since 1970; ctime is 0 where the platform has none
	ino, dev     uint64
	mode         uint32 // permission bits, set-id and sticky bits as in chmod(2)
}

func kindOf(fi fs.FileInfo) kind {
	switch mode := fi.Mode(); {
	case mode.IsRegular():
		return kindFile
	case mode.IsDir():
		return kindDir
	case mode&fs.ModeSymlink != 0:
		return kindLink
	default:
		return 0
	}
}

// goMode turns the bits of chmod(2) into those of Go.
func goMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for _, b := range []struct {
		bit uint32
		set fs.FileMode
	}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}} {
		if mode&b.bit != 0 {
			m |= b.set
		}
	}
	return m
}

// racyWindow is how much older than the start of a snapshot a file's change time must be before the file is taken for
// unchanged without reading it: clocks of file systems tick every few milliseconds.
const racyWindow = 20 * time.Millisecond
