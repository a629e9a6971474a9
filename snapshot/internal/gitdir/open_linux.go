package gitdir

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ListOpenFiles returns the relative paths of the files below a folder that other processes have open. Only root sees the
// files of other users.
func ListOpenFiles(work string) map[string]bool {
	out := map[string]bool{}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	self := "/proc/" + strconv.Itoa(os.Getpid()) + "/"
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if rel, below := strings.CutPrefix(target, work+"/"); err == nil && below && !strings.HasPrefix(fd, self) {
			out[rel] = true
		}
	}
	return out
}
