package proc

import "os"

// maxAncestors bounds the way up: a process list that changes meanwhile could lead
// round and round.
const maxAncestors = 1000

// insideTree reports whether one of the processes above runs this very program, as
// a shim does. macOS shows nobody the environment of another process.
func insideTree() bool {
	own, err := Read(os.Getpid())
	if err != nil {
		return false
	}
	for pid, n := own.PPID, 0; pid > 1 && n < maxAncestors; n++ {
		p, err := Read(pid)
		if err != nil {
			return false
		}
		if p.comm == own.comm {
			return true
		}
		pid = p.PPID
	}
	return false
}
