package textstream

import (
	"fmt"
	"strings"

	"supervise/internal/regexp"
)

var (
	colorRE     = regexp.MustCompile(`^\x1b\[[0-9;]*m`)
	ciCommandRE = regexp.MustCompile(`(?m)^((?:[ \t]|\x1b\[[0-9;]*m)*)::|(##(?:vso)?)\[`)
)

// EscapeLog returns text for people in which nothing is hidden and no line is a command to a
// CI system. Control characters and marks that turn the direction of text, which names
// and messages may hold, stand as <U+202E>; line feeds and tabs stay. "::" at the
// start of a line, and "##[" anywhere, get a backslash.
func EscapeLog(s string) string { return escapeLog(s, false) }

// EscapeColored is [EscapeLog] for text with colours of our own, which stay.
func EscapeColored(s string) string { return escapeLog(s, true) }

// EscapeHidden returns text in which nothing is hidden, as by [EscapeLog], for what is not a log.
func EscapeHidden(s string) string { return escapeHidden(s, false) }

func escapeLog(s string, colours bool) string {
	if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
		return escapeHidden(s, colours)
	}
	return ciCommandRE.ReplaceAllStringFunc(escapeHidden(s, colours), func(found string) string {
		at := max(strings.LastIndex(found, "::"), strings.LastIndexByte(found, '['))
		return found[:at] + `\` + found[at:]
	})
}

func escapeHidden(s string, colours bool) string {
	if isPlain(s, true) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case colours && r == 0x1b && colorRE.MatchString(s[i:min(len(s), i+32)]), !isHidden(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// isHidden reports whether a rune is not seen, or changes how others are.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case isControl(r), r == 0x061c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
