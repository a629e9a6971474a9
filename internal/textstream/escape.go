package textstream

import (
	"fmt"
	"strings"

	"supervise/internal/regexp"
)

var (
	colour  = regexp.MustCompile(`^\x1b\[[0-9;]*m`)
	command = regexp.MustCompile(`(?m)^((?:[ \t]|\x1b\[[0-9;]*m)*)::|(##(?:vso)?)\[`)
)

// EscapeLog returns text for people in which nothing is hidden and no line is a command to a
// CI system. Control characters and marks that turn the direction of text, which names
// and messages may hold, stand as <U+202E>; line feeds and tabs stay. "::" at the
// start of a line, and "##[" anywhere, get a backslash.
func EscapeLog(s string) string { return shown(s, false) }

// EscapeColored is [EscapeLog] for text with colours of our own, which stay.
func EscapeColored(s string) string { return shown(s, true) }

// EscapeHidden returns text in which nothing is hidden, as by [EscapeLog], for what is not a log.
func EscapeHidden(s string) string { return visible(s, false) }

func shown(s string, colours bool) string {
	if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
		return visible(s, colours)
	}
	return command.ReplaceAllStringFunc(visible(s, colours), func(found string) string {
		at := max(strings.LastIndex(found, "::"), strings.LastIndexByte(found, '['))
		return found[:at] + `\` + found[at:]
	})
}

func visible(s string, colours bool) string {
	if plain(s, true) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case colours && r == 0x1b && colour.MatchString(s[i:min(len(s), i+32)]), !hidden(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// hidden reports whether a rune is not seen, or changes how others are.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case control(r), r == 0x061c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
