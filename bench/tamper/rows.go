package main

import (
	"slices"
	"strings"
)

// dropRows takes half of the rows of a table away, or all.
func dropRows(s *subject, all bool) []edit {
	t := s.test
	if all && t.lang.name == "go" && s.rng.IntN(2) == 0 {
		for i := t.body; i <= t.last(); i++ {
			if m := goRange.FindStringSubmatch(t.lines[i]); m != nil {
				s.phrase = "range tests[:0]"
				return s.edit(t.replaced(i, i, goRange.ReplaceAllString(t.lines[i], "${1}range ${2}[:0] {")))
			}
		}
	}
	tables := t.tables()
	if len(tables) == 0 {
		return s.dropInline(all)
	}
	rows := tables[s.rng.IntN(len(tables))]
	drop := map[int]bool{}
	from := s.rng.IntN(2)
	for i, r := range rows {
		if all && !(caseAttr.MatchString(strings.TrimSpace(t.lines[r.from])) && i == 0) || !all && i%2 == from {
			for k := r.from; k <= r.to; k++ {
				drop[k] = true
			}
		}
	}
	s.phrase = "rows"
	var out []string
	for i, l := range t.lines {
		if !drop[i] {
			out = append(out, l)
		}
	}
	return s.edit(join(slices.Clip(out)))
}

var goRange = re(`^(\s*for .*:= )range (\w*(?:[tT]ests|[cC]ases|tt|tcs|tab|table))\s*\{`)

var inline = re(`([\[{(])((?:"[^"]*"|'[^']*'|-?[\d.]+)(?:, (?:"[^"]*"|'[^']*'|-?[\d.]+)){3,})([\]})])`)

// dropInline is dropRows for a list of literals on one line.
func (s *subject) dropInline(all bool) []edit {
	t := s.test
	for i := t.start; i <= t.last(); i++ {
		m := inline.FindStringSubmatchIndex(t.lines[i])
		if m == nil || !tabular.MatchString(t.lines[i]) || t.lang.assert.MatchString(t.lines[i]) {
			continue
		}
		list, _, _, _ := args("f("+t.lines[i][m[4]:m[5]]+")", "f")
		keep := list[:len(list)/2]
		if all {
			keep = nil
		}
		s.phrase = strings.TrimSpace(t.lines[i])
		return s.edit(t.replaced(i, i, t.lines[i][:m[4]]+strings.Join(keep, ", ")+t.lines[i][m[5]:]))
	}
	return nil
}
