package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// insideTree reports whether one of the processes above is a shim, or was started
// by one.
func insideTree() bool {
	for pid, n := os.Getppid(), 0; pid > 1 && n < maxAncestors; n++ {
		if data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil && bytes.HasPrefix(data, []byte(ShimName+"\x00")) {
			return true
		}
		if data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ"); err == nil && hasVariable(data, markVariable) {
			return true
		}
		p, err := Read(pid)
		if err != nil {
			return false
		}
		pid = p.PPID
	}
	return inForeignGroup()
}

// maxAncestors bounds the way up: a process list that changes meanwhile could lead
// round and round.
const maxAncestors = 1000

func hasVariable(environ []byte, name string) bool {
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.HasPrefix(kv, []byte(name+"=")) {
			return true
		}
	}
	return false
}

// inForeignGroup reports whether this process is in a cgroup that a shim made.
func inForeignGroup() bool {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if _, ok := cgroupOwner(filepath.Base(string(bytes.TrimSpace(line)))); ok {
			return true
		}
	}
	return false
}
