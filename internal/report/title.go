package report

// Sequences of xterm that most terminals know: the title is kept and restored.
const (
	SaveTitle    = "\x1b[22;2t"
	RestoreTitle = "\x1b[23;2t"
)

// SetTitle is the sequence that gives a terminal a title.
func SetTitle(text string) string { return "\x1b]2;" + text + "\x07" }
