package assertions

import (
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
)

// renamedNames finds the names within a test that were given another: got that is
// gotValue now, as often as before. It maps the old ones to the new ones.
func renamedNames(was, now map[string]int) map[string]string {
	out := map[string]string{}
	for old, n := range was {
		if now[old] > 0 || !facts.IsName(old) || len(old) < 3 || 'A' <= old[0] && old[0] <= 'Z' { // not types: kinds of errors
			continue
		}
		name := ""
		for to, k := range now {
			if k == n && was[to] == 0 && len(to) > 2 && facts.IsName(to) && facts.SimilarNames(old, to) {
				if name != "" { // which one?
					name = ""
					break
				}
				name = to
			}
		}
		if name != "" {
			out[old] = name
		}
	}
	return out
}

// quotedOrName matches strings, in which nothing is renamed, and names.
var quotedOrName = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|[A-Za-z_]\w*`)

// inNames returns a text with other names.
func inNames(text string, names map[string]string) string {
	return quotedOrName.ReplaceAllStringFunc(text, func(s string) string {
		if to := names[s]; to != "" {
			return to
		}
		return s
	})
}
