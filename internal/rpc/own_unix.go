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

// refused reports whether nobody listens at a socket; one that is only busy has
// somebody.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
