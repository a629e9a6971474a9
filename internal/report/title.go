package report

// Escape sequences of xterm, which most terminals support. They save and restore the title of the
// window.
const (
	SaveTitle    = "\x1b[22;2t"
	RestoreTitle = "\x1b[23;2t"
)

// SetTitle returns the sequence that sets the title of a terminal.
func SetTitle(text string) string { return "\x1b]2;" + text + "\x07" }
