package evidence

import (
	"bytes"
	"maps"
	"slices"

	"supervise/internal/regexp"
	"supervise/source"
)

// removedConstants collects the names of constants, and of fields of classes, whose definitions
// were removed from product code.
type removedConstants struct {
	removed      map[string]bool // names defined in lines that are gone
	currentTexts [][]byte        // the current texts of the changed files
}

// assignmentRE matches a line that defines a name with a value, and captures the name: LIMIT of
// "export const LIMIT: number = 10;".
var assignmentRE = regexp.MustCompile(`^\s*(?:(?:export|public|private|protected|internal|static|final|readonly|pub|const|let|var|val)\s+)*([A-Za-z_]\w*)\s*(?::[^=]+)?=(?:[^=>~]|$)`)

// add adds the names that a file defined outside of functions in lines that are gone. old and
// current are its texts before and after the change.
func (n *removedConstants) add(before source.File, old, current []byte) {
	n.currentTexts = append(n.currentTexts, current)
	keptLines := map[string]bool{}
	for line := range bytes.Lines(current) {
		keptLines[string(bytes.TrimSpace(line))] = true
	}
	var masked [][]byte
	for i, line := range bytes.Split(old, []byte("\n")) {
		if keptLines[string(bytes.TrimSpace(line))] || !assignmentRE.Match(line) || inFunction(before, i+1) {
			continue
		}
		if masked == nil {
			masked = bytes.Split(source.Mask(before.Language, old), []byte("\n"))
		}
		if m := assignmentRE.FindSubmatch(masked[i]); m != nil {
			n.removed[string(m[1])] = true
		}
	}
}

// inFunction reports whether a line, from 1, is in the body of a function.
func inFunction(f source.File, line int) bool {
	return slices.ContainsFunc(f.Functions, func(fn source.Function) bool {
		return fn.Name != source.FileScope && fn.Line < line && line <= fn.End
	})
}

// names returns the removed names that no changed file contains now, sorted.
func (n *removedConstants) names() []string {
	if len(n.removed) == 0 {
		return nil // the texts need not be searched
	}
	for _, text := range n.currentTexts {
		for _, word := range identifierRE.FindAll(text, -1) {
			delete(n.removed, string(word))
		}
	}
	return slices.Sorted(maps.Keys(n.removed))
}

// identifierRE matches an identifier.
var identifierRE = regexp.MustCompile(`[A-Za-z_]\w*`)
