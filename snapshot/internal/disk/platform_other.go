//go:build !linux && !darwin

package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const HasInodes = false

func Perms(fi fs.FileInfo) uint32 { return uint32(fi.Mode().Perm()) }

// StatOf has no inode and no change time here.
func StatOf(fi fs.FileInfo) Stat {
	return Stat{Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Mode: Perms(fi)}
}

// SyncDir does nothing: folders cannot be opened for it here.
func SyncDir(string) error { return nil }

// Lock does nothing here.
func Lock(*os.File, time.Duration) error { return nil }

func Unlock(*os.File) {}

func Fatal(error) bool { return false }

// Bytes is what a file takes of the disk.
func Bytes(fi fs.FileInfo) int64 { return fi.Size() }

// Free cannot be told here.
func Free(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
