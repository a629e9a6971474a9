package evidence

import (
	"bytes"
	"maps"
	"slices"

	"supervise/internal/regexp"
	"supervise/source"
)

// removedConstants are the names that changed product code gave to values outside of functions:
// constants, and fields of classes.
type removedConstants struct {
	removed map[string]bool // their lines are gone
	is      [][]byte        // the changed files, as they are now
}

// assignmentRE matches a line that gives a name to a value.
var assignmentRE = regexp.MustCompile(`^\s*(?:(?:export|public|private|protected|internal|static|final|readonly|pub|const|let|var|val)\s+)*([A-Za-z_]\w*)\s*(?::[^=]+)?=(?:[^=>~]|$)`)

// add notes the lines of a file that are gone.
func (n *removedConstants) add(before source.File, old, current []byte) {
	n.is = append(n.is, current)
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
			if n.removed == nil {
				n.removed = map[string]bool{}
			}
			n.removed[string(m[1])] = true
		}
	}
}

func inFunction(f source.File, line int) bool {
	return slices.ContainsFunc(f.Functions, func(fn source.Function) bool {
		return fn.Name != source.FileScope && fn.Line < line && line <= fn.End
	})
}

// names are the names that none of the changed files has any more, anywhere.
func (n *removedConstants) names() []string {
	if len(n.removed) == 0 {
		return nil
	}
	for _, text := range n.is {
		for _, word := range identifierRE.FindAll(text, -1) {
			delete(n.removed, string(word))
		}
	}
	return slices.Sorted(maps.Keys(n.removed))
}

var identifierRE = regexp.MustCompile(`[A-Za-z_]\w*`)
