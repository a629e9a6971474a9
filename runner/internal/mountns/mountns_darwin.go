// Package mountns gives a thread separate namespaces. Only Linux has them.
package mountns

import (
	"errors"
	"syscall"
)

var errNone = errors.New("only Linux has mount namespaces")

// PrepareProcess does nothing.
func PrepareProcess(*syscall.SysProcAttr) {}

// MakeReadOnly returns an error.
func MakeReadOnly([]string) error { return errNone }

// ShowOnly returns an error.
func ShowOnly([]Mount) error { return errNone }

// IsolateNetwork returns an error.
func IsolateNetwork() error { return errNone }
