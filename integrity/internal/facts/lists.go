package facts

import "slices"

// All reports whether every element matches.
func All[T any](list []T, matches func(T) bool) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !matches(x) })
}

// Count returns the number of elements that match.
func Count[T any](list []T, matches func(T) bool) int {
	n := 0
	for _, x := range list {
		if matches(x) {
			n++
		}
	}
	return n
}

// Filter returns the elements that match, nil for none.
func Filter[T any](list []T, matches func(T) bool) []T {
	var out []T
	for _, x := range list {
		if matches(x) {
			out = append(out, x)
		}
	}
	return out
}
