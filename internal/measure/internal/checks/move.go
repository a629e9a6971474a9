package checks

import (
	"slices"
	"strings"
)

// in returns the plan for a tree in another folder.
func (p Plan) MoveTo(root string) Plan {
	moved := func(list []string) []string {
		out := slices.Clone(list)
		for i, s := range out {
			out[i] = movedPath(s, p.Root, root)
		}
		return out
	}
	checks := slices.Clone(p.Checks)
	for i, c := range checks {
		checks[i].Command, checks[i].Env, checks[i].Reports = moved(c.Command), moved(c.Env), moved(c.Reports)
	}
	p.Root, p.Checks = root, checks
	return p
}

// movedPath replaces the name of a folder in a text, where it is a whole path or the
// beginning of one.
func movedPath(text, from, to string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, from)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after == "" || strings.ContainsRune(`/\ '":;,)`, rune(after[0])) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		text = after
	}
}
