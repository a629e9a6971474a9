package snapshot

import (
	"io/fs"
	"syscall"
)

// statOf reads the fields that tell a changed file; fi must come from Lstat or Stat of package os.
func statOf(fi fs.FileInfo) stat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return stat{size: fi.Size(), mtime: fi.ModTime().UnixNano(), mode: permsOf(fi)}
	}
	return stat{
		size: st.Size, mtime: st.Mtimespec.Nano(), ctime: st.Ctimespec.Nano(),
		ino: st.Ino, dev: uint64(st.Dev), mode: permsOf(fi),
	}
}
