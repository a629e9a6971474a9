package integrity

import (
	"slices"

	"supervise/integrity/internal/configuration"
	"supervise/integrity/internal/facts"
	"supervise/integrity/internal/suppressions"
)

// Unsilenced returns the changed files, by path, with the comments undone that came
// and that silence tools: their words are crossed out, and every line stays where it
// is. A comment that moved from another file is none that came. Annotations, and
// what takes lines out of the coverage, stay.
func Unsilenced(files []File) map[string][]byte {
	texts, _ := suppressions.CrossedOut(facts.New(files, Tree{}, nil), false)
	return texts
}

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
	c := facts.New(files, Tree{}, nil)
	on := map[string]bool{}
	for _, r := range opt.table() {
		on[r.Name] = true
	}
	out := Unexclusion{Texts: map[string][]byte{}}
	if on["coverage_excluded_inline"] {
		out.Texts, out.Kept = suppressions.CrossedOut(c, true)
	}
	places := configuration.Exclusions(c, on)
	for _, f := range c.Files {
		own := slices.DeleteFunc(slices.Clone(places), func(p facts.Place) bool { return p.Path != f.Path })
		if len(own) == 0 {
			continue
		}
		text := out.Texts[f.Path]
		if text == nil {
			text = f.After().Text
		}
		var all bool
		if out.Texts[f.Path], all = suppressions.Reverted(f, text, own); !all {
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
