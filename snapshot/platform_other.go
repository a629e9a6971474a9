//go:build !linux && !darwin

package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const hasInodes = false

func permsOf(fi fs.FileInfo) uint32 { return uint32(fi.Mode().Perm()) }

// statOf has no inode and no change time here.
func statOf(fi fs.FileInfo) stat {
	return stat{size: fi.Size(), mtime: fi.ModTime().UnixNano(), mode: permsOf(fi)}
}

// syncDir does nothing: folders cannot be opened for it here.
func syncDir(string) error { return nil }

// lockFile does nothing here.
func lockFile(*os.File, time.Duration) error { return nil }

func unlockFile(*os.File) {}

func fatal(error) bool { return false }

// diskBytes is what a file takes of the disk.
func diskBytes(fi fs.FileInfo) int64 { return fi.Size() }

// diskSpace cannot be told here.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
