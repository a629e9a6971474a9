//go:build !linux

package runner

import "errors"

var errNoLandlock = errors.New("only Linux has Landlock")

// Confinable returns nil where a child can be kept from writing outside of
// [Command].Writable, else what the system lacks.
func Confinable() error { return errNoLandlock }
