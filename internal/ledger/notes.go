package ledger

import (
	"slices"
	"strings"
)

// MaxNotes is the maximum length of the stored notes of an agent, in bytes.
const MaxNotes = 8 << 10

// NotesAfter returns the notes of the agent after the past iterations, of which the last
// accepted one has the number kept: its notes, and the lessons from the iterations that were
// rolled back since.
func NotesAfter(past []Iteration, kept int) string {
	var lines []string
	for _, it := range past[kept:] {
		if it.Agent == nil {
			continue
		}
		for line := range strings.Lines(it.Agent.Notes) {
			line = strings.TrimRight(line, " \t\r\n")
			if it.Number == kept || isLesson(line) && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" {
		return text + "\n"
	}
	return ""
}

// isLesson reports whether a line is kept when its iteration is rolled back: it starts with
// "lesson:", also in a list or in bold.
func isLesson(line string) bool {
	const word = "lesson:"
	line = strings.TrimLeft(line, " \t-*+>#_")
	return len(line) >= len(word) && strings.EqualFold(line[:len(word)], word)
}
