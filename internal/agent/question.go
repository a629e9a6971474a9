package agent

import (
	"strings"

	"supervise/internal/regexp"
)

// questionRE matches questions of programs that wait for a person, see testdata.
var questionRE = regexp.MustCompile(`(?i)press (enter|return|any key) to (continue|sign in|log ?in)|do you trust (the files in )?this (folder|directory)|\bsign in with \w+|` +
	`how would you like to (authenticate|sign in|log ?in)|(select|choose) (a |your )?(login|auth\w*) method|(enter|paste) (the |your )?(authori[sz]ation|verification|device|one-time) code|waiting for (you to )?(login|log in|sign in|authenticat\w+|authori[sz]ation)`)

// cursorMoveRE matches the sequences that programs use for gaps between words.
var cursorMoveRE = regexp.MustCompile(`\x1b\[\d*[CGd]|\x1b\[\d*;?\d*H`)

// FindQuestion returns the line of a screen that asks a person, "" if there is none. It
// ignores JSON events.
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
