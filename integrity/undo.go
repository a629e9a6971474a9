package integrity

import (
	"slices"

	"supervise/integrity/internal/configuration"
	"supervise/integrity/internal/facts"
	"supervise/integrity/internal/suppressions"
)

// RemoveSuppressions returns the changed files, by path, without the new comments that silence
// tools. The characters of such a comment are overwritten, so that every line keeps its number. A
// comment that moved from another file is not new. Annotations and exclusions from coverage remain.
func RemoveSuppressions(files []File) map[string][]byte {
	texts, _ := suppressions.RemoveDirectives(facts.New(files, Tree{}, nil), false)
	return texts
}

// RestoreTypes returns the changed files, by path, with the types that became Any, or are gone from the
// head of a function, as before. Lines keep their numbers. Files without such types are missing.
func RestoreTypes(files []File) map[string][]byte {
	return suppressions.RestoreTypes(facts.New(files, Tree{}, nil))
}

// ExclusionRemoval is the result of [RemoveCoverageExclusions].
type ExclusionRemoval struct {
	// Texts are the files that differ, by path. A file whose text is nil must be removed,
	// because it held nothing but exclusions.
	Texts map[string][]byte
	// Remaining are the paths of files with an exclusion that cannot be undone.
	Remaining []string
}

// RemoveCoverageExclusions undoes new exclusions from coverage. It overwrites comments, and
// restores the lines of settings and commands, with adjacent changes. An exclusion that moved
// from another file is not new. Rules that opt disables undo nothing.
func RemoveCoverageExclusions(files []File, opt Options) ExclusionRemoval {
	c := facts.New(files, Tree{}, nil)
	isEnabled := facts.SetOf(opt.enabledRules(), func(r facts.Rule) string { return r.Name })

	out := ExclusionRemoval{Texts: map[string][]byte{}}
	if isEnabled["coverage_excluded_inline"] {
		out.Texts, out.Remaining = suppressions.RemoveDirectives(c, true)
	}

	exclusions := configuration.FindExclusions(c, isEnabled)
	for _, f := range c.Files {
		inFile := facts.Filter(exclusions, func(l facts.Location) bool { return l.Path == f.Path })
		if len(inFile) == 0 {
			continue
		}

		text := out.Texts[f.Path]
		if text == nil {
			text = f.After().Text
		}
		reverted, complete := suppressions.RevertChanges(f, text, inFile)
		out.Texts[f.Path] = reverted
		if !complete {
			out.Remaining = append(out.Remaining, f.Path)
		}
	}

	slices.Sort(out.Remaining)
	out.Remaining = slices.Compact(out.Remaining)
	return out
}

// IsExclusionRule reports whether a rule, by its name, finds exclusions from coverage.
func IsExclusionRule(name string) bool {
	return slices.Contains([]string{"coverage_excluded_inline", "coverage_excluded", "coverage_excluded_by_command"}, name)
}
