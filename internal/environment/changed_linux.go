package environment

import (
	"io/fs"
	"syscall"
	"time"
)

// ChangeTime returns when a file was last changed, by the one time that no program can set. It
// is zero if unknown.
func ChangeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return time.Time{}
}

// inode returns the number of a file on its file system; zero if unknown.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
