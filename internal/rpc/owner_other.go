//go:build !unix

package rpc

import "io/fs"

// own reports false: without hooks there is nothing to sweep.
func own(fs.FileInfo) bool { return false }

func refused(error) bool { return false }
