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

// Stat shows whether a file has changed, without reading it. Values can be compared with ==.
type Stat struct {
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970; ctime is 0 where the platform has none
	Ino, Dev     uint64
	Mode         uint32 // permission bits, set-id and sticky bits as in chmod(2)
	Owner        Owner
}

// Owner is the owner of a file; zero on platforms without owners.
type Owner struct{ UID, GID uint32 }

// NoOwner means that the owner was not recorded.
var NoOwner = Owner{^uint32(0), ^uint32(0)}

// DiffersFrom reports whether both owners are known and different.
func (o Owner) DiffersFrom(other Owner) bool { return o != other && o != NoOwner && other != NoOwner }

// String returns the user and the group, like "1000:100".
func (o Owner) String() string { return fmt.Sprintf("%d:%d", o.UID, o.GID) }

// Rights are the permissions and the owner of a path.
type Rights struct {
	Mode  uint32
	Owner Owner
}

// RightsOf returns the rights of a file.
func RightsOf(fi fs.FileInfo) Rights { return Rights{Perms(fi), StatOf(fi).Owner} }

// ApplyTo sets the rights of a file or folder, as far as possible: only root can change the owner. It reports whether
// anything has changed.
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

// KindOf returns the type of a file, 0 for sockets, pipes and devices.
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

// Mode converts the bits of chmod(2) to those of Go.
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

// RacyWindow is how much older than the start of a snapshot the change time of a file must be for the file to count as
// unchanged without reading it, because the clocks of file systems tick only every few milliseconds.
const RacyWindow = 20 * time.Millisecond

// Birth identifies a folder, to recognize whether it was replaced. Inode numbers are reused, so it includes the creation
// time in nanoseconds since 1970, 0 if the file system has none. The zero value means that there is no folder, or that the
// platform does not support this.
type Birth struct {
	Ino  uint64
	Born int64
}
