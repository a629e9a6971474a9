package live

import (
	"time"

	"supervise/internal/document"
)

// Lines returns the state for people, the most important lines first.
func (s State) Lines(now time.Time, width int, paint document.Paint) []string {
	var out []string
	for _, l := range s.styledLines(now) {
		text, _ := l.fitWidth(width, paint)
		out = append(out, text)
	}
	return out
}
