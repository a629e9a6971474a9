package agent

import (
	"strings"

	"supervise/internal/regexp"
)

// questionRE matches questions of programs that wait for a person, like "Press enter to
// continue" or "Do you trust the files in this folder". The screens in testdata have more of
// them.
var questionRE = regexp.MustCompile(`(?i)press (enter|return|any key) to (continue|sign in|log ?in)|do you trust (the files in )?this (folder|directory)|\bsign in with \w+|` +
	`how would you like to (authenticate|sign in|log ?in)|(select|choose) (a |your )?(login|auth\w*) method|(enter|paste) (the |your )?(authori[sz]ation|verification|device|one-time) code|waiting for (you to )?(login|log in|sign in|authenticat\w+|authori[sz]ation)`)

// cursorMoveRE matches the escape sequences that programs print in place of spaces between
// words: they move the cursor to the right (ESC [5C), to a column (ESC [5G) or a line (ESC
// [3d), or to a position (ESC [3;5H).
var cursorMoveRE = regexp.MustCompile(`\x1b\[\d*[CGd]|\x1b\[\d*;?\d*H`)

// FindQuestion returns the first line among the last 40 of a screen that asks a person a
// question, "" if there is none. It ignores JSON events, which may quote such a question.
func FindQuestion(screen string) string {
	const lines = 40
	all := strings.FieldsFunc(StripEscapes(cursorMoveRE.ReplaceAllString(screen, " ")), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range all[max(0, len(all)-lines):] {
		line = strings.Join(strings.Fields(strings.Trim(line, " │|")), " ")
		if !strings.HasPrefix(line, "{") && questionRE.MatchString(line) {
			return line
		}
	}
	return ""
}
