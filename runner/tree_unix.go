//go:build linux || darwin

package runner

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
