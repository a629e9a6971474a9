package facts

import "slices"

// All reports whether every element matches.
func All[T any](list []T, matches func(T) bool) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !matches(x) })
}

// Count returns the number of elements that match.
func Count[T any](list []T, matches func(T) bool) int { return len(Filter(list, matches)) }

// Map returns what a function returns for each element.
func Map[T, R any](list []T, convert func(T) R) []R {
	out := make([]R, len(list))
	for i, x := range list {
		out[i] = convert(x)
	}
	return out
}

// SetOf returns the set of what a function returns for each element.
func SetOf[T any, K comparable](list []T, key func(T) K) map[K]bool {
	out := make(map[K]bool, len(list))
	for _, x := range list {
		out[key(x)] = true
	}
	return out
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

// Surplus returns the elements of a list whose key occurs more often in the list than in another
// one. Of several elements with one key, the last ones are surplus.
func Surplus[T any, K comparable](list, other []T, key func(T) K) []T {
	counts := make(map[K]int, len(other))
	for _, x := range other {
		counts[key(x)]++
	}
	return Filter(list, func(x T) bool {
		k := key(x)
		counts[k]--
		return counts[k] < 0
	})
}
