package report

// Sequences of xterm that most terminals know: the title is kept and restored.
const (
	KeepTitle = "\x1b[22;2t"
	PutTitle  = "\x1b[23;2t"
)

// Title is the sequence that gives a terminal a title.
func Title(text string) string { return "\x1b]2;" + text + "\x07" }
