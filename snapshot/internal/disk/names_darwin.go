package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// Names lists a folder; the slice is valid until the next call.
func (l *Lister) Names(d Dir) ([]string, error) {
	fd, err := unix.FcntlInt(uintptr(d), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "folder")
	defer f.Close()
	l.list, err = f.Readdirnames(-1)
	return l.list, err
}
