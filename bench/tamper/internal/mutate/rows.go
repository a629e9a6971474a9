package mutate

import (
	"slices"
	"strings"

	"supervise/bench/tamper/internal/corpus"
)

// dropRows takes half of the rows of a table away, or all.
func dropRows(s *Subject, all bool) []corpus.Edit {
	t := s.Test
	if all && t.Lang.Name == "go" && s.Rng.IntN(2) == 0 {
		for i := t.Body; i <= t.Last(); i++ {
			if m := goRange.FindStringSubmatch(t.Lines[i]); m != nil {
				s.Phrase = "range tests[:0]"
				return s.edit(t.Replaced(i, i, goRange.ReplaceAllString(t.Lines[i], "${1}range ${2}[:0] {")))
			}
		}
	}
	tables := t.Tables()
	if len(tables) == 0 {
		return s.dropInline(all)
	}
	rows := tables[s.Rng.IntN(len(tables))]
	drop := map[int]bool{}
	from := s.Rng.IntN(2)
	for i, r := range rows {
		if all && !(corpus.CaseAttr.MatchString(strings.TrimSpace(t.Lines[r.From])) && i == 0) || !all && i%2 == from {
			for k := r.From; k <= r.To; k++ {
				drop[k] = true
			}
		}
	}
	s.Phrase = "rows"
	var out []string
	for i, l := range t.Lines {
		if !drop[i] {
			out = append(out, l)
		}
	}
	return s.edit(corpus.Join(slices.Clip(out)))
}

var goRange = corpus.Re(`^(\s*for .*:= )range (\w*(?:[tT]ests|[cC]ases|tt|tcs|tab|table))\s*\{`)

var inline = corpus.Re(`([\[{(])((?:"[^"]*"|'[^']*'|-?[\d.]+)(?:, (?:"[^"]*"|'[^']*'|-?[\d.]+)){3,})([\]})])`)

// dropInline is dropRows for a list of literals on one line.
func (s *Subject) dropInline(all bool) []corpus.Edit {
	t := s.Test
	for i := t.Start; i <= t.Last(); i++ {
		m := inline.FindStringSubmatchIndex(t.Lines[i])
		if m == nil || !corpus.Tabular.MatchString(t.Lines[i]) || t.Lang.Assert.MatchString(t.Lines[i]) {
			continue
		}
		list, _, _, _ := corpus.Args("f("+t.Lines[i][m[4]:m[5]]+")", "f")
		keep := list[:len(list)/2]
		if all {
			keep = nil
		}
		s.Phrase = strings.TrimSpace(t.Lines[i])
		return s.edit(t.Replaced(i, i, t.Lines[i][:m[4]]+strings.Join(keep, ", ")+t.Lines[i][m[5]:]))
	}
	return nil
}
