//go:build !linux

package runner

import "errors"

var errNoLandlock = errors.New("only Linux has Landlock")

// CheckLandlock returns nil where a child can be kept from writing outside of
// [Command].Writable, else what the system lacks.
func CheckLandlock() error { return errNoLandlock }
