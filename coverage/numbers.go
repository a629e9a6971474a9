package coverage

import (
	"math"
	"strconv"
	"strings"
)

// parseHit reports whether a count is positive. Counts are integers of any size; some tools
// write 1.0 or 1e3, or negative numbers after an overflow, which do not count as a hit. ok is
// false if count is not a number.
func parseHit[T ~string | ~[]byte](count T) (hit, ok bool) {
	if len(count) == 0 {
		return false, false
	}
	for i := 0; i < len(count); i++ {
		c := count[i]
		if c < '0' || c > '9' {
			f, err := strconv.ParseFloat(string(count), 64)
			if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
				return false, false
			}
			return f > 0, true
		}
		hit = hit || c != '0'
	}
	return hit, true
}

// parseNatural parses a decimal number of at most 18 digits. It returns false for anything else.
func parseNatural[T ~string | ~[]byte](digits T) (n int, ok bool) {
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for i := 0; i < len(digits); i++ {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = n*10 + int(digits[i]-'0')
	}
	return n, true
}

// parseDeclared parses a declared total. It returns -1 if the text is not a number.
func parseDeclared[T ~string | ~[]byte](s T) number {
	if n, ok := parseNatural(s); ok {
		return number(n)
	}
	return -1
}

// parseFraction parses a fraction such as "50% (1/2)" or "1/2". It returns false for anything
// else.
func parseFraction(s string) (covered, total int64, ok bool) {
	if i := strings.LastIndexByte(s, '('); i >= 0 {
		s = strings.TrimSuffix(strings.TrimSpace(s[i+1:]), ")")
	}
	a, b, ok := strings.Cut(s, "/")
	if !ok {
		return 0, 0, false
	}
	c, okCovered := parseNatural(strings.TrimSpace(a))
	t, okTotal := parseNatural(strings.TrimSpace(b))
	return int64(c), int64(t), okCovered && okTotal
}
