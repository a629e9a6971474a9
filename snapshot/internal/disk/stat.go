package disk

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Kind is the type of a captured path.
type Kind byte

// The types of captured paths.
const (
	KindFile Kind = 'f'
	KindLink Kind = 'l'
	KindDir  Kind = 'd'
)

// Stat is what distinguishes an unchanged file from a changed one without reading it. It is comparable with ==.
type Stat struct {
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970; ctime is 0 where the platform has none
	Ino, Dev     uint64
	Mode         uint32 // permission bits, set-id and sticky bits as in chmod(2)
	Owner        Owner
}

// Owner is to whom a file belongs; all is 0 where the platform has no such numbers.
type Owner struct{ UID, GID uint32 }

// NoOwner is that of files of which it was not recorded.
var NoOwner = Owner{^uint32(0), ^uint32(0)}

// DiffersFrom reports whether two files are known to belong to others.
func (o Owner) DiffersFrom(other Owner) bool { return o != other && o != NoOwner && other != NoOwner }

func (o Owner) String() string { return fmt.Sprintf("%d:%d", o.UID, o.GID) }

// Rights are the permissions and the owner of a path.
type Rights struct {
	Mode  uint32
	Owner Owner
}

// RightsOf are those of a file.
func RightsOf(fi fs.FileInfo) Rights { return Rights{Perms(fi), StatOf(fi).Owner} }

// ApplyTo gives a file or folder the rights that it had, as far as that is possible: only root can give it to others. It
// reports whether anything has changed.
func (r Rights) ApplyTo(name string) (changed bool, err error) {
	fi, err := os.Lstat(name)
	if err != nil || fi.Mode()&fs.ModeSymlink != 0 {
		return false, err
	}
	if r.Owner.DiffersFrom(RightsOf(fi).Owner) {
		changed = os.Lchown(name, int(r.Owner.UID), int(r.Owner.GID)) == nil || os.Lchown(name, -1, int(r.Owner.GID)) == nil
	}
	if !changed && Perms(fi) == r.Mode {
		return false, nil
	}
	return true, os.Chmod(name, Mode(r.Mode))
}

// KindOf is the type of a file, 0 for sockets, pipes and devices.
func KindOf(fi fs.FileInfo) Kind {
	switch mode := fi.Mode(); {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindDir
	case mode&fs.ModeSymlink != 0:
		return KindLink
	default:
		return 0
	}
}

// Mode turns the bits of chmod(2) into those of Go.
func Mode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for _, b := range []struct {
		bit uint32
		set fs.FileMode
	}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}} {
		if mode&b.bit != 0 {
			m |= b.set
		}
	}
	return m
}

// RacyWindow is how much older than the start of a snapshot a file's change time must be before the file is taken for
// unchanged without reading it: clocks of file systems tick every few milliseconds.
const RacyWindow = 20 * time.Millisecond

// Birth distinguishes a folder from another one that comes to its place. Numbers of inodes are used again, so the time of
// its making counts too, in nanoseconds since 1970; it is 0 where the file system has none. Zero: there is no folder, or
// the platform cannot tell.
type Birth struct {
	Ino  uint64
	Born int64
}
