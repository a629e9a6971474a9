//go:build linux || darwin

package proc

// descendants returns the processes that match, and everything below them.
func descendants(all []Info, match func(Info) bool) []Info {
	children := make(map[int][]int, len(all))
	for i, p := range all {
		children[p.PPID] = append(children[p.PPID], i)
	}
	taken := make([]bool, len(all))
	var out []Info
	var take func(i int)
	take = func(i int) {
		if taken[i] {
			return
		}
		taken[i] = true
		out = append(out, all[i])
		for _, c := range children[all[i].PID] {
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
