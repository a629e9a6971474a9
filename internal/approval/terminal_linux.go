package approval

import "golang.org/x/sys/unix"

// flush discards unread input.
func flush(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
