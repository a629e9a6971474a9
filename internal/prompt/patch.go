package prompt

import (
	"slices"
	"strings"

	"supervise/internal/textstream"
)

// maxHunk is how many changed lines of a hunk the prompt contains.
const maxHunk = 14

// patchHunks returns the hunks of a patch with the names of their files. If files are given,
// hunks of other files are left out.
func patchHunks(patch string, files []string) (out []string) {
	file := ""
	var lines []string
	flush := func() {
		if len(lines) > 0 && (len(files) == 0 || slices.Contains(files, file)) {
			out = append(out, file+"\n"+strings.Join(changedLines(lines), "\n"))
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

// changedLines returns the header of a hunk and its changed lines, without context.
func changedLines(lines []string) []string {
	out := lines[:1:1]
	for _, line := range lines[1:] {
		isChange := strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+")
		if !isChange || strings.TrimSpace(line[1:]) == "" {
			continue
		}
		if len(out) > maxHunk {
			return append(out, "…")
		}
		out = append(out, textstream.Truncate(line, maxLine))
	}
	return out
}
