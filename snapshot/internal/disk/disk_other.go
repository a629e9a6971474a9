//go:build !linux && !darwin

package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Dir is an open folder. Names in it are looked up from there.
type Dir struct{ root *os.Root }

// OpenDir opens the folder of a root.
func OpenDir(root *os.Root) (Dir, Stat, error) { return Dir{root}.Sub(".") }

// Close closes the folder.
func (d Dir) Close() { d.root.Close() }

// Sub opens a folder in d.
func (d Dir) Sub(name string) (Dir, Stat, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return Dir{}, Stat{}, err
	}
	fi, err := root.Stat(".")
	if err != nil {
		root.Close()
		return Dir{}, Stat{}, err
	}
	return Dir{root}, StatOf(fi), nil
}

// Readlink returns the target of a symbolic link in d.
func (d Dir) Readlink(name string) (string, error) { return d.root.Readlink(name) }

var errNotPlain = errors.New("not a file")

// File opens a regular file in d for reading.
func (d Dir) File(name string) (File, error) {
	fi, err := d.root.Lstat(name)
	if err == nil && !fi.Mode().IsRegular() {
		err = errNotPlain
	}
	if err != nil {
		return File{}, err
	}
	f, err := d.root.Open(name)
	return File{f}, err
}

// File is an open file.
type File struct{ *os.File }

// Stat returns the type of the file and its Stat.
func (f File) Stat() (Kind, Stat, error) {
	fi, err := f.File.Stat()
	if err != nil {
		return 0, Stat{}, err
	}
	return KindOf(fi), StatOf(fi), nil
}

// Lister reads folders.
type Lister struct{}

// Names lists a folder.
func (*Lister) Names(d Dir) ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Lstat returns the type and Stat of an entry of d.
func (*Lister) Lstat(d Dir, name string) (Kind, Stat, error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return 0, Stat{}, err
	}
	return KindOf(fi), StatOf(fi), nil
}

// HasInodes reports whether inodes and change times are available.
const HasInodes = false

// Perms returns the permission bits.
func Perms(fi fs.FileInfo) uint32 { return uint32(fi.Mode().Perm()) }

// StatOf has no inode and no change time here.
func StatOf(fi fs.FileInfo) Stat {
	return Stat{Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Mode: Perms(fi)}
}

// SyncDir does nothing: folders cannot be opened for it here.
func SyncDir(string) error { return nil }

// Lock does nothing here.
func Lock(*os.File, time.Duration) error { return nil }

// Unlock does nothing here.
func Unlock(*os.File) {}

// IsFatal always returns false.
func IsFatal(error) bool { return false }

// Usage returns the size of a file.
func Usage(fi fs.FileInfo) int64 { return fi.Size() }

// FreeSpace is not supported here.
func FreeSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }

// BirthOf is always zero.
func BirthOf(string) Birth { return Birth{} }

// Clone is not possible.
func Clone(string, string) error { return errors.ErrUnsupported }
