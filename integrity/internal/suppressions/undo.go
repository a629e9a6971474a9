package suppressions

import (
	"bytes"
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// RemoveDirectives returns the texts, by path, of the changed files without their new directives.
// kept are the paths of files with a directive that cannot be removed, sorted. coverage selects the
// directives as in directiveRule.
func RemoveDirectives(c *facts.Change, coverage bool) (texts map[string][]byte, kept []string) {
	changed := directiveChanges(c, coverage)
	moved := map[string]int{}
	for i := range changed {
		changed[i].compareByHunk(coverage)
		for _, d := range changed[i].removed {
			moved[d.Text]++
		}
	}

	texts = map[string][]byte{}
	for _, f := range changed {
		text := bytes.Clone(f.After().Text)
		for _, d := range f.added {
			if moved[d.Text]--; moved[d.Text] >= 0 {
				continue
			}
			if overwriteDirective(text, d) {
				texts[f.Path] = text
			} else {
				kept = append(kept, f.Path)
			}
		}
	}

	slices.Sort(kept)
	return texts, slices.Compact(kept)
}

// compareByHunk sets added and removed to the directives of the changed lines. Of several equal
// directives, those in changed lines are new, rather than the last ones of the file.
func (s *directiveChange) compareByHunk(coverage bool) {
	was, is := findDirectives(s.Before(), coverage), findDirectives(s.After(), coverage)
	s.added, s.removed = nil, nil
	for _, h := range facts.DiffLines(s.Before().Lines(), s.After().Lines()) {
		before := slices.DeleteFunc(slices.Clone(was), func(d source.Directive) bool { return !h.Contains(d.Line, false) })
		after := slices.DeleteFunc(slices.Clone(is), func(d source.Directive) bool { return !h.Contains(d.Line, true) })
		s.added = append(s.added, surplusDirectives(after, before)...)
		s.removed = append(s.removed, surplusDirectives(before, after)...)
	}
}

// coverageAttributeRE matches an attribute of C# with no other in its brackets:
// [ExcludeFromCodeCoverage].
var coverageAttributeRE = regexp.MustCompile(`\[\s*[\w.]*ExcludeFromCodeCoverage(?:Attribute)?\s*(?:\((?:[^()"\n]|"[^"\n]*")*\)\s*)?\]`)

// overwriteDirective overwrites a directive in a text, which keeps its length. It is false if the
// directive cannot be overwritten.
func overwriteDirective(text []byte, d source.Directive) bool {
	switch {
	case d.To <= d.From || d.To > len(text):
		return false
	case d.Comment:
		fill(text[d.From:d.To], 'x')
		return true
	case string(text[d.From:d.To]) == "coverage(off)":
		copy(text[d.From:d.To], "coverage(on) ")
		return true
	}

	for _, at := range coverageAttributeRE.FindAllIndex(text, -1) {
		if at[0] <= d.From && d.To <= at[1] {
			fill(text[at[0]:at[1]], ' ')
			return true
		}
	}
	return false
}

// fill overwrites each byte of a text.
func fill(text []byte, with byte) {
	for i := range text {
		text[i] = with
	}
}

// RevertChanges undoes the changes that contain one of the places. text has the lines of the file
// after the change. out is nil if nothing is left of a new file. all says whether every place was
// in a change.
func RevertChanges(f *facts.ChangedFile, text []byte, places []facts.Location) (out []byte, all bool) {
	before, after := bytes.SplitAfter(f.Before().Text, []byte("\n")), bytes.SplitAfter(text, []byte("\n"))
	hits := make([]bool, len(places))
	at := 0

	for _, h := range facts.DiffLines(f.Before().Lines(), f.After().Lines()) {
		hit := false
		for i, p := range places {
			if h.Contains(p.Line, p.After) {
				hits[i], hit = true, true
			}
		}
		if !hit {
			continue
		}

		out = append(out, bytes.Join(after[at:h.After[0]], nil)...)
		out = append(out, bytes.Join(before[h.Before[0]:h.Before[1]], nil)...)
		at = h.After[1]
	}

	out = append(out, bytes.Join(after[at:], nil)...)
	if f.Added && len(out) == 0 {
		out = nil
	}
	return out, !slices.Contains(hits, false)
}
