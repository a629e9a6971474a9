package gitdir

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockHolder finds a live process that holds a lock file of git. That is a process that has
// the file open, or a git process whose working folder is in the tree, because git closes the
// lock while an editor is open.
func LockHolder(lock, work string) (pid int, found bool) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		n, err := strconv.Atoi(filepath.Base(p))
		if err != nil || n == os.Getpid() {
			continue
		}
		if isGitProcessIn(p, work) || hasOpen(p, lock) {
			return n, true
		}
	}
	return 0, false
}

// isGitProcessIn reports whether a process is git and works in the tree. proc is its folder in
// /proc.
func isGitProcessIn(proc, work string) bool {
	name, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil || !strings.HasPrefix(string(name), "git") {
		return false
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	return err == nil && (cwd == work || strings.HasPrefix(cwd, work+"/"))
}

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

// hasOpen reports whether a process has a file open. proc is its folder in /proc.
func hasOpen(proc, file string) bool {
	fds, _ := filepath.Glob(filepath.Join(proc, "fd", "*"))
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && target == file {
			return true
		}
	}
	return false
}
