// Package mountns gives a thread a mount namespace of its own, in which some folders
// can only be read. Only Linux has such.
package mountns

import (
	"errors"
	"syscall"
)

var errNone = errors.New("only Linux has mount namespaces")

// Own does nothing.
func Own(*syscall.SysProcAttr) {}

// Seal returns an error.
func Seal([]string) error { return errNone }
