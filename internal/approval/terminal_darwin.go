package approval

import "golang.org/x/sys/unix"

// flush discards unread input.
func flush(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread) }

// fread is FREAD of <sys/fcntl.h>.
const fread = 1
