package disk

import (
	"io/fs"
	"syscall"
)

// StatOf reads the fields that tell a changed file; fi must come from Lstat or Stat of package os.
func StatOf(fi fs.FileInfo) Stat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Mode: Perms(fi)}
	}
	return Stat{
		Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
		Ino: st.Ino, Dev: uint64(st.Dev), Mode: Perms(fi), //nolint:unconvert // the type differs between architectures
	}
}
