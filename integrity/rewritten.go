package integrity

import (
	"slices"
	"strings"

	"supervise/metric"
)

// findRewritten finds assertions whose literals changed and nothing else.
func findRewritten(c *change) []Finding {
	var out []Finding
	for _, d := range c.deltas() {
		for _, r := range d.revised {
			if squash(r.was.Skeleton) != squash(r.now.Skeleton) || slices.Equal(r.was.Literals, r.now.Literals) || r.now.Trivial {
				continue
			}
			f := d.finding(r.now, r.was.text+" → "+r.now.text)
			if c.touchesSource() {
				f.Severity = metric.Medium
			}
			out = append(out, f)
		}
	}
	return out
}

// findOtherValues finds tests in which nothing changed but literals, and not in
// their assertions: in what is expected, or in what is put in.
func findOtherValues(c *change) []Finding {
	var out []Finding
	for _, p := range c.tests().pairs {
		if p.how == byBody || p.was.parent != nil || len(p.was.Assertions) == 0 || !slices.Equal(p.was.Assertions, p.now.Assertions) {
			continue
		}
		gone, ok := otherLiterals(p.was.Tokens, p.now.Tokens)
		if !ok || len(gone) == 0 {
			continue
		}
		f := Finding{File: p.now.s.path, Line: p.now.Line, Test: p.now.Name, Evidence: evidence("only values changed: " + strings.Join(gone, ", "))}
		if c.touchesSource() {
			f.Severity = metric.Low
		}
		out = append(out, f)
	}
	return out
}

// otherLiterals returns the literals that two bodies do not have in common,
// sorted; false where anything else differs.
func otherLiterals(was, now map[string]int) ([]string, bool) {
	var gone []string
	n := 0
	for token, k := range was {
		if now[token] == k {
			continue
		}
		if isName(token) {
			return nil, false
		}
		if d := k - now[token]; d > 0 {
			gone, n = append(gone, token), n+d
		}
	}
	for token, k := range now {
		if was[token] != k && isName(token) {
			return nil, false
		}
		n -= max(k-was[token], 0)
	}
	slices.Sort(gone)
	return gone, n == 0
}
