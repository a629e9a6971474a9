package gitdir

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ListOpenFiles lists the files below a folder, by their path from it, that other processes have open. Processes of other
// users are not seen by an ordinary one.
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
