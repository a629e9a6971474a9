//go:build unix

package projectfile

import "syscall"

// nonblock opens a pipe or a terminal without waiting for the other end.
const nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY
