//go:build !linux

package runner

import "errors"

var errNoLandlock = errors.New("only Linux has Landlock")

// CheckLandlock returns an error if the system cannot enforce [Command].Writable.
func CheckLandlock() error { return errNoLandlock }
