package facts

import (
	"slices"
)

// hunk is a run of lines that a change put in the place of others; either run may be empty. Each
// field has the first line, counted from 0, and the line after the last.
type hunk struct{ Before, After [2]int }

// Contains reports whether line n, counted from 1, is in the hunk. after says which side n counts.
func (h hunk) Contains(n int, after bool) bool {
	side := h.Before
	if after {
		side = h.After
	}
	return side[0] < n && n <= side[1]
}

// maxEdits bounds how many lines may differ for two texts to be compared line by line. If more
// differ, all of them are one hunk.
const maxEdits = 1000

// DiffLines returns the hunks by which two texts differ, in order.
func DiffLines(before, after []Line) []hunk {
	start, tail := 0, 0
	for start < min(len(before), len(after)) && before[start].Text == after[start].Text {
		start++
	}
	for tail < min(len(before), len(after))-start && before[len(before)-1-tail].Text == after[len(after)-1-tail].Text {
		tail++
	}

	var out []hunk
	at := [2]int{start, start}
	add := func(i, j int) {
		if i > at[0] || j > at[1] {
			out = append(out, hunk{[2]int{at[0], i}, [2]int{at[1], j}})
		}
		at = [2]int{i + 1, j + 1}
	}

	for _, p := range commonLines(before[start:len(before)-tail], after[start:len(after)-tail]) {
		add(start+p[0], start+p[1])
	}
	add(len(before)-tail, len(after)-tail)
	return out
}

// commonLines returns the pairs of indexes of the lines that two texts have in common, in order. It
// finds the shortest edit (E. Myers, An O(ND) Difference Algorithm, 1986). It returns nil if that
// has more than maxEdits steps.
func commonLines(a, b []Line) [][2]int {
	limit := min(len(a)+len(b), maxEdits)
	far := make([]int, 2*limit+3) // how far in a each diagonal has come
	var trace [][]int
	for d := range limit + 1 {
		trace = append(trace, slices.Clone(far))
		for k := -d; k <= d; k += 2 {
			x := far[limit+1+previousDiagonal(far, limit+1, d, k)]
			if previousDiagonal(far, limit+1, d, k) < k {
				x++
			}
			for x < len(a) && x-k < len(b) && a[x].Text == b[x-k].Text {
				x++
			}
			if far[limit+1+k] = x; x >= len(a) && x-k >= len(b) {
				return backtrack(trace, len(a), len(b))
			}
		}
	}
	return nil
}

// previousDiagonal returns the diagonal from which step d reaches diagonal k.
func previousDiagonal(far []int, zero, d, k int) int {
	if k == -d || k != d && far[zero+k-1] < far[zero+k+1] {
		return k + 1
	}
	return k - 1
}

// backtrack returns the pairs of common lines that the recorded steps passed, from the end to the
// start of both texts.
func backtrack(trace [][]int, x, y int) [][2]int {
	var out [][2]int
	for d := len(trace) - 1; d >= 0; d-- {
		far, zero := trace[d], len(trace[d])/2
		k := previousDiagonal(far, zero, d, x-y)
		beforeX := far[zero+k]
		beforeY := beforeX - k
		for x > max(beforeX, 0) && y > max(beforeY, 0) {
			x, y = x-1, y-1
			out = append(out, [2]int{x, y})
		}
		x, y = beforeX, beforeY
	}
	slices.Reverse(out)
	return out
}

// Location is a line of a changed file, counted from 1. After says that it is a line of the text
// after the change rather than before it.
type Location struct {
	Path  string
	Line  int
	After bool
}
