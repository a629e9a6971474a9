package integrity

import (
	"bytes"
	"slices"

	"supervise/internal/regexp"
	"supervise/source"
)

// Unsilenced returns the changed files, by path, with the comments undone that came
// and that silence tools: their words are crossed out, and every line stays where it
// is. A comment that moved from another file is none that came. Annotations, and
// what takes lines out of the coverage, stay.
func Unsilenced(files []File) map[string][]byte {
	texts, _ := newChange(files).crossedOut(false)
	return texts
}

// crossedOut returns the changed files without the directives that came, and the
// paths of those where one cannot be undone.
func (c *change) crossedOut(coverage bool) (texts map[string][]byte, kept []string) {
	changed := c.silencedFiles(coverage)
	moved := map[string]int{}
	for i := range changed {
		changed[i].byPlace(coverage)
		for _, d := range changed[i].gone {
			moved[d.Text]++
		}
	}
	texts = map[string][]byte{}
	for _, f := range changed {
		text := bytes.Clone(f.after().text)
		for _, d := range f.came {
			if moved[d.Text]--; moved[d.Text] >= 0 {
				continue
			}
			if switchOff(text, d) {
				texts[f.Path] = text
			} else {
				kept = append(kept, f.Path)
			}
		}
	}
	slices.Sort(kept)
	return texts, slices.Compact(kept)
}

// byPlace has came and gone be the directives of the lines that changed: of several
// that read the same those that are new, not those that are the last in the file.
func (s *silenced) byPlace(coverage bool) {
	was, is := s.before().directives(coverage), s.after().directives(coverage)
	s.came, s.gone = nil, nil
	for _, h := range hunksOf(s.before().lines(), s.after().lines()) {
		before := slices.DeleteFunc(slices.Clone(was), func(d source.Directive) bool { return !h.holds(d.Line, false) })
		after := slices.DeleteFunc(slices.Clone(is), func(d source.Directive) bool { return !h.holds(d.Line, true) })
		s.came = append(s.came, surplusDirectives(after, before)...)
		s.gone = append(s.gone, surplusDirectives(before, after)...)
	}
}

// aloneInBrackets matches an attribute of C# that has its brackets for itself.
var aloneInBrackets = regexp.MustCompile(`\[\s*[\w.]*ExcludeFromCodeCoverage(?:Attribute)?\s*(?:\((?:[^()"\n]|"[^"\n]*")*\)\s*)?\]`)

// switchOff undoes a directive in place, and reports whether it could.
func switchOff(text []byte, d source.Directive) bool {
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
	for _, at := range aloneInBrackets.FindAllIndex(text, -1) {
		if at[0] <= d.From && d.To <= at[1] {
			fill(text[at[0]:at[1]], ' ')
			return true
		}
	}
	return false
}

func fill(text []byte, with byte) {
	for i := range text {
		text[i] = with
	}
}
