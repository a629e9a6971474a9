//go:build linux || darwin

package terminal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// mode is a private mode of a terminal (DECSET, xterm's ctlseqs) that a killed program may
// leave switched.
type mode struct {
	number    int
	defaultOn bool // whether a shell expects it to be on
}

// watchedModes are reset in this order: the main screen first, so that the others apply to
// it.
var watchedModes = []mode{
	{1049, false}, // alternate screen with saved cursor
	{1047, false}, // alternate screen
	{47, false},   // alternate screen, old
	{25, true},    // cursor visible
	{7, true},     // lines wrap
	{1, false},    // cursor keys send application codes
	{1000, false}, // mouse: buttons
	{1002, false}, // mouse: drags
	{1003, false}, // mouse: moves
	{1004, false}, // focus events
	{1006, false}, // mouse: SGR coordinates
	{1015, false}, // mouse: urxvt coordinates
	{2004, false}, // bracketed paste
	{2026, false}, // output held back
}

// sequence returns the sequence that switches the mode, like ESC [?25h for on and ESC [?25l
// for off.
func (m mode) sequence(on bool) string {
	final := "l"
	if on {
		final = "h"
	}
	return "\x1b[?" + strconv.Itoa(m.number) + final
}

const (
	escape        = 0x1b
	plainText     = "\x1b[0m"
	popKeyboard   = "\x1b[<%du" // kitty's keyboard protocol, a stack
	plainKeyboard = "\x1b[>4m"  // xterm's modifyOtherKeys
)

// ResetAll returns the sequences that reset all modes of a terminal.
func ResetAll() string {
	var b strings.Builder
	for _, m := range watchedModes {
		b.WriteString(m.sequence(m.defaultOn))
	}
	return b.String() + fmt.Sprintf(popKeyboard, 9) + plainKeyboard + plainText
}

// maxParameters limits the parameters of a sequence, in bytes.
const maxParameters = 64

// Modes tracks which modes the output of a program has switched. In the zero value all
// modes have their defaults.
type Modes struct {
	switched        map[int]bool // number of a mode → whether it is on
	keyboardDepth   int          // entries on kitty's stack
	modifyOtherKeys bool         // modifyOtherKeys is on
	sawEscape       bool         // the output had an escape sequence
	state           int          // 0 text, 1 after ESC, 2 in a control sequence
	params          []byte       // parameters of the sequence so far
}

// Write tracks the modes in p. It never fails.
func (m *Modes) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if m.state == 0 {
			at := bytes.IndexByte(p, escape)
			if at < 0 {
				break
			}
			p, m.state, m.sawEscape = p[at+1:], 1, true
			continue
		}
		m.parseByte(p[0])
		p = p[1:]
	}
	return n, nil
}

// parseByte processes one byte of an escape sequence, by m.state.
func (m *Modes) parseByte(b byte) {
	switch {
	case b == escape:
		m.state = 1
	case m.state == 1 && b == '[':
		m.state, m.params = 2, m.params[:0]
	case m.state == 1:
		m.state = 0
	case b >= 0x40 && b <= 0x7e:
		m.state = 0
		m.noteSequence(string(m.params), b)
	case len(m.params) < maxParameters:
		m.params = append(m.params, b)
	default:
		m.state = 0
	}
}

// noteSequence records one control sequence: ESC [, the parameters, and the final byte. For
// ESC [?25l they are "?25" and l.
func (m *Modes) noteSequence(params string, final byte) {
	if params == "" {
		return
	}
	rest := params[1:]
	switch {
	case params[0] == '?' && (final == 'h' || final == 'l'):
		for _, field := range strings.Split(rest, ";") {
			if number, err := strconv.Atoi(field); err == nil {
				m.set(number, final == 'h')
			}
		}
	case params[0] == '>' && final == 'u':
		m.keyboardDepth++
	case params[0] == '<' && final == 'u':
		n, err := strconv.Atoi(rest)
		if err != nil {
			n = 1
		}
		m.keyboardDepth = max(0, m.keyboardDepth-n)
	case params[0] == '>' && final == 'm':
		level, on := strings.CutPrefix(rest, "4;")
		m.modifyOtherKeys = on && level != "0"
	}
}

// set records that a mode was switched.
func (m *Modes) set(number int, on bool) {
	if m.switched == nil {
		m.switched = map[int]bool{}
	}
	m.switched[number] = on
}

// Reapply returns the sequences that switch the modes again after Reset.
func (m *Modes) Reapply() string {
	var b strings.Builder
	for _, w := range watchedModes {
		if on, ok := m.switched[w.number]; ok && on != w.defaultOn {
			b.WriteString(w.sequence(on))
		}
	}
	return b.String()
}

// Reset returns the sequences that reset the switched modes, "" if there were none.
func (m *Modes) Reset() string {
	if !m.sawEscape {
		return ""
	}
	var b strings.Builder
	for _, w := range watchedModes {
		if on, ok := m.switched[w.number]; ok && on != w.defaultOn {
			b.WriteString(w.sequence(w.defaultOn))
		}
	}
	if m.keyboardDepth > 0 {
		fmt.Fprintf(&b, popKeyboard, m.keyboardDepth)
	}
	if m.modifyOtherKeys {
		b.WriteString(plainKeyboard)
	}
	return b.String() + plainText
}
