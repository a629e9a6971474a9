package textstream

import (
	"fmt"
	"strings"

	"supervise/internal/regexp"
)

var (
	// colorRE matches a color sequence at the start of a text: "\x1b[31m".
	colorRE = regexp.MustCompile(`^\x1b\[[0-9;]*m`)
	// ciCommandRE matches the start of a command to a CI system: "::" at the start of a line,
	// after spaces and colors, and "##[" or "##vso[" anywhere.
	ciCommandRE = regexp.MustCompile(`(?m)^((?:[ \t]|\x1b\[[0-9;]*m)*)::|(##(?:vso)?)\[`)
)

// EscapeLog returns text for a log, without hidden characters and commands to a CI system. It
// replaces control characters, and characters that change the direction of text, by their
// code, like <U+202E>; line feeds and tabs stay. It adds a backslash before "::" at the start
// of a line, and in "##[".
func EscapeLog(s string) string { return escapeLog(s, false) }

// EscapeColored is [EscapeLog] for text with color sequences, which it keeps.
func EscapeColored(s string) string { return escapeLog(s, true) }

// EscapeHidden replaces hidden characters like [EscapeLog], in text that is not for a log.
func EscapeHidden(s string) string { return escapeHidden(s, false) }

// escapeLog is [EscapeLog]. It keeps color sequences if colours is set.
func escapeLog(s string, colours bool) string {
	if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
		return escapeHidden(s, colours)
	}
	return ciCommandRE.ReplaceAllStringFunc(escapeHidden(s, colours), func(found string) string {
		at := max(strings.LastIndex(found, "::"), strings.LastIndexByte(found, '['))
		return found[:at] + `\` + found[at:]
	})
}

// escapeHidden replaces hidden characters by their code. It keeps color sequences if colours is
// set.
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

// isHidden reports whether a rune is invisible, or changes how others are displayed.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case isControl(r), r == 0x061c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
