package disk

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// direntName is where the name begins in a struct linux_dirent64, after its inode (8 bytes), offset (8), length (2) and
// type (1); see getdents64(2).
const direntName = 19

// Names lists a folder; the slice is valid until the next call.
func (l *Lister) Names(d Dir) ([]string, error) {
	if l.buf == nil {
		l.buf = make([]byte, 1<<15)
	}
	l.list = l.list[:0]
	for {
		n, err := unix.ReadDirent(int(d), l.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return l.list, nil
		}
		l.parse(string(l.buf[:n])) // one string for all names
	}
}

func (l *Lister) parse(entries string) {
	for at := 0; at+direntName < len(entries); {
		size := int(binary.NativeEndian.Uint16(l.buf[at+16:]))
		name, _, _ := strings.Cut(entries[at+direntName:at+size], "\x00")
		if name != "." && name != ".." {
			l.list = append(l.list, name)
		}
		at += size
	}
}
