package integrity

import (
	"bytes"
	"slices"
)

// Unexclusion is a change without what takes code out of the coverage in it.
type Unexclusion struct {
	// Texts are the files that are other then, by path. One that is nil is not to be
	// there: the whole of it was about that.
	Texts map[string][]byte
	// Kept are the files, by path, with something that cannot be undone.
	Kept []string
}

// Unexcluded undoes what came that takes code out of the coverage: the words of
// comments are crossed out, and the lines of settings and commands, with what was
// changed right beside them, are as they were. What moved from another file is none
// that came. Rules that are off in opt undo nothing.
func Unexcluded(files []File, opt Options) Unexclusion {
	c := newChange(files)
	on := map[string]bool{}
	for _, r := range opt.table() {
		on[r.name] = true
	}
	out := Unexclusion{Texts: map[string][]byte{}}
	if on["coverage_excluded_inline"] {
		out.Texts, out.Kept = c.crossedOut(true)
	}
	var places []place
	if on["coverage_excluded"] {
		places = c.excludingSettings()
	}
	if on["coverage_excluded_by_command"] {
		for _, f := range traitRule(hidesCode)(c) {
			places = append(places, place{f.File, f.Line, true})
		}
	}
	for _, f := range c.files {
		own := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return p.path != f.Path })
		if len(own) == 0 {
			continue
		}
		text := out.Texts[f.Path]
		if text == nil {
			text = f.after().text
		}
		var all bool
		if out.Texts[f.Path], all = f.reverted(text, own); !all {
			out.Kept = append(out.Kept, f.Path)
		}
	}
	slices.Sort(out.Kept)
	out.Kept = slices.Compact(out.Kept)
	return out
}

// ExcludesCode reports whether a rule, by its name, finds what takes code out of the
// coverage.
func ExcludesCode(name string) bool {
	return name == "coverage_excluded_inline" || name == "coverage_excluded" || name == "coverage_excluded_by_command"
}

// place is a line of a changed file, from 1, as it is now or as it was.
type place struct {
	path  string
	line  int
	after bool
}

// excludingSettings are the settings that came, or went, and take code out of the
// coverage by that.
func (c *change) excludingSettings() []place {
	var out []place
	for _, f := range c.configs() {
		tool := toolOf(f.Path)
		for i := range settingTable {
			r := &settingTable[i]
			if r.id != "TP-27" || !r.files.MatchString(tool) {
				continue
			}
			for _, found := range r.findings(c, f) {
				out = append(out, place{f.Path, found.Line, !r.gone})
			}
		}
	}
	return out
}

// reverted returns the text with the changes undone that have one of the places,
// nil where nothing is left of a new file, and whether every place was in one. The
// lines of text are those of the file as it is.
func (f *file) reverted(text []byte, places []place) (out []byte, all bool) {
	was, is := bytes.SplitAfter(f.before().text, []byte("\n")), bytes.SplitAfter(text, []byte("\n"))
	undone := make([]bool, len(places))
	at := 0
	for _, h := range hunksOf(f.before().lines(), f.after().lines()) {
		hit := false
		for i, p := range places {
			if h.holds(p.line, p.after) {
				undone[i], hit = true, true
			}
		}
		if !hit {
			continue
		}
		out = append(out, bytes.Join(is[at:h.is[0]], nil)...)
		out = append(out, bytes.Join(was[h.was[0]:h.was[1]], nil)...)
		at = h.is[1]
	}
	out = append(out, bytes.Join(is[at:], nil)...)
	if f.Added && len(out) == 0 {
		out = nil
	}
	return out, !slices.Contains(undone, false)
}
