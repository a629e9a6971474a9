package integrity

import (
	"slices"

	"supervise/integrity/internal/configuration"
	"supervise/integrity/internal/facts"
	"supervise/integrity/internal/suppressions"
)

// RemoveSuppressions returns the changed files, by path, without the new comments that silence
// tools: their words are crossed out, and every line stays where it is. A comment that
// moved from another file is not new. Annotations and exclusions from coverage stay.
func RemoveSuppressions(files []File) map[string][]byte {
	texts, _ := suppressions.RemoveDirectives(facts.New(files, Tree{}, nil), false)
	return texts
}

// ExclusionRemoval is a change without its exclusions from coverage.
type ExclusionRemoval struct {
	// Texts are the files that differ, by path. A nil one must be removed: it held
	// nothing but exclusions.
	Texts map[string][]byte
	// Remaining are the paths of files with an exclusion that cannot be undone.
	Remaining []string
}

// RemoveCoverageExclusions undoes new exclusions from coverage: the words of comments are crossed
// out, and the lines of settings and commands, with the changes right next to them,
// are restored. What moved from another file is not new. Rules that are off in opt
// undo nothing.
func RemoveCoverageExclusions(files []File, opt Options) ExclusionRemoval {
	c := facts.New(files, Tree{}, nil)
	on := map[string]bool{}
	for _, r := range opt.enabledRules() {
		on[r.Name] = true
	}
	out := ExclusionRemoval{Texts: map[string][]byte{}}
	if on["coverage_excluded_inline"] {
		out.Texts, out.Remaining = suppressions.RemoveDirectives(c, true)
	}
	places := configuration.FindExclusions(c, on)
	for _, f := range c.Files {
		own := slices.DeleteFunc(slices.Clone(places), func(p facts.Location) bool { return p.Path != f.Path })
		if len(own) == 0 {
			continue
		}
		text := out.Texts[f.Path]
		if text == nil {
			text = f.After().Text
		}
		var all bool
		if out.Texts[f.Path], all = suppressions.RevertChanges(f, text, own); !all {
			out.Remaining = append(out.Remaining, f.Path)
		}
	}
	slices.Sort(out.Remaining)
	out.Remaining = slices.Compact(out.Remaining)
	return out
}

// IsExclusionRule reports whether a rule, by its name, finds exclusions from coverage.
func IsExclusionRule(name string) bool {
	return name == "coverage_excluded_inline" || name == "coverage_excluded" || name == "coverage_excluded_by_command"
}
