//go:build linux || darwin

package runner

import "golang.org/x/sys/unix"

// descendants returns the processes that match, and everything below them.
func descendants(all []process, match func(process) bool) []process {
	children := make(map[int][]int, len(all))
	for i, p := range all {
		children[p.ppid] = append(children[p.ppid], i)
	}
	taken := make([]bool, len(all))
	var out []process
	var take func(i int)
	take = func(i int) {
		if taken[i] {
			return
		}
		taken[i] = true
		out = append(out, all[i])
		for _, c := range children[all[i].pid] {
			take(c)
		}
	}
	for i, p := range all {
		if match(p) {
			take(i)
		}
	}
	return out
}

// killWithoutShim kills what can be found of a child's tree from outside, for
// the case that somebody killed the shim. What left the child's session and
// lost its parent is not found.
func killWithoutShim(leader int) {
	for range 3 {
		_ = unix.Kill(-leader, unix.SIGKILL)
		all, err := listProcesses()
		if err != nil {
			return
		}
		left := members(all, 0, leader, nil)
		for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGKILL} {
			for _, p := range left {
				p.signal(sig)
			}
		}
	}
}
