//go:build !linux

package environment

import (
	"io/fs"
	"time"
)

// ChangeTime returns when a file was last written to, by a time that no program can set
// back; zero if unknown.
func ChangeTime(fs.FileInfo) time.Time { return time.Time{} }

// inode returns the number of a file on its file system; zero if unknown.
func inode(fs.FileInfo) uint64 { return 0 }
