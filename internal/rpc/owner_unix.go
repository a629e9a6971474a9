//go:build unix

package rpc

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a file belongs to this user.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// refused reports whether no process listens at a socket. A busy socket has a listener.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
