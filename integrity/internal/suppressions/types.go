package suppressions

import (
	"bytes"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// anyTypes match the type with which checkers accept everything, by language.
var anyTypes = map[source.Language]*regexp.Regexp{
	source.Python:     regexp.MustCompile(`(?:\b(?:typing|t)\.)?\bAny\b`),
	source.TypeScript: regexp.MustCompile(`\bany\b`),
}

// These expressions match types in the head of a function of Python: of its result, and of a parameter.
var (
	resultTypeRE = regexp.MustCompile(`\s*->\s*[^:]+:\s*$`)
	paramTypeRE  = regexp.MustCompile(`(\w)\s*:\s*[\w.]+(?:\[[^\]]*\])*(?:\s*\|\s*[\w.]+)*`)
)

// RestoreTypes returns the texts, by path, of the changed files with the types that became Any, or are
// gone from the head of a function, restored. Lines keep their numbers.
func RestoreTypes(c *facts.Change) map[string][]byte {
	texts := map[string][]byte{}
	for _, f := range c.Files {
		anyRE := anyTypes[f.After().Language()]
		if anyRE == nil || !f.Before().Exists() {
			continue
		}
		restored := false
		before, lines := f.Before().Lines(), bytes.SplitAfter(f.After().Text, []byte("\n"))
		for _, h := range facts.DiffLines(before, f.After().Lines()) {
			for i := h.After[0]; i < h.After[1]; i++ {
				line := string(bytes.TrimRight(lines[i], "\r\n"))
				old := slices.IndexFunc(before[h.Before[0]:h.Before[1]], func(l facts.Line) bool { return l.Text != line && isWeakened(l.Text, line, anyRE) })
				if old >= 0 {
					lines[i], restored = []byte(before[h.Before[0]+old].Text+"\n"), true
				}
			}
		}
		if restored {
			texts[f.Path] = bytes.Join(lines, nil)
		}
	}
	return texts
}

// isWeakened reports whether a line is an old one with Any in the place of types, or the head of a
// function without them.
func isWeakened(old, line string, anyRE *regexp.Regexp) bool {
	if !anyRE.MatchString(line) {
		bare := paramTypeRE.ReplaceAllString(resultTypeRE.ReplaceAllString(old, ":"), "$1")
		return strings.HasPrefix(strings.TrimSpace(line), "def ") && strings.ReplaceAll(bare, " ", "") == strings.ReplaceAll(line, " ", "")
	}
	parts := strings.Split(anyRE.ReplaceAllString(line, "\x00"), "\x00")
	rest, starts := strings.CutPrefix(old, parts[0])
	rest, ends := strings.CutSuffix(rest, parts[len(parts)-1])
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest[min(1, len(rest)):], part)
		if i < 0 {
			return false
		}
		rest = rest[1+i+len(part):]
	}
	return starts && ends && rest != ""
}
