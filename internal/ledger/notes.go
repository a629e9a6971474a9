package ledger

import (
	"slices"
	"strings"
)

// MaxNotes is how much of an agent's notes is kept, in bytes.
const MaxNotes = 8 << 10

// NotesAfter are the agent's notes after some iterations, of which the last one that was kept
// has the number kept: what stood in them then, and the lessons of the iterations that
// were undone since.
func NotesAfter(past []Iteration, kept int) string {
	var lines []string
	for _, it := range past[kept:] {
		if it.Agent == nil {
			continue
		}
		for line := range strings.Lines(it.Agent.Notes) {
			line = strings.TrimRight(line, " \t\r\n")
			if it.Number == kept || lesson(line) && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" {
		return text + "\n"
	}
	return ""
}

// lesson reports whether a line is to stay when its iteration is undone: it begins with
// "lesson:", also in a list or in bold.
func lesson(line string) bool {
	const word = "lesson:"
	line = strings.TrimLeft(line, " \t-*+>#_")
	return len(line) >= len(word) && strings.EqualFold(line[:len(word)], word)
}
