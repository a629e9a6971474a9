package prompt

import (
	"slices"
	"strings"

	"supervise/internal/textstream"
)

// maxHunk is how many lines of a hunk are told.
const maxHunk = 14

// hunks are the changes of a patch by file and hunk, those of the given files first; of
// other files none, where any is given.
func hunks(patch string, files []string) (out []string) {
	file := ""
	var lines []string
	flush := func() {
		if len(lines) > 0 && (len(files) == 0 || slices.Contains(files, file)) {
			out = append(out, file+"\n"+strings.Join(changedOnly(lines), "\n"))
		}
		lines = nil
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			flush()
			file = ""
		case lines == nil && strings.HasPrefix(line, "--- a/"), lines == nil && strings.HasPrefix(line, "+++ b/"):
			file = line[len("--- a/"):]
		case strings.HasPrefix(line, "@@ "):
			flush()
			lines = []string{line}
		case lines != nil:
			lines = append(lines, line)
		}
	}
	flush()
	return out
}

// changedOnly are the head of a hunk and its changed lines, without those around them.
func changedOnly(lines []string) []string {
	out := lines[:1:1]
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "+") || strings.TrimSpace(line[1:]) == "" {
			continue
		}
		if len(out) > maxHunk {
			return append(out, "…")
		}
		out = append(out, textstream.Truncate(line, maxLine))
	}
	return out
}
