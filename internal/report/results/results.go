// Package results prints what the commands of supervise found: as text for people, and
// as the documents that --json prints. It decides nothing.
package results

import (
	"fmt"
	"io"

	"supervise/internal/document"
)

// Printer prints results for people.
type Printer struct {
	io.Writer // which shows what is hidden in a text
	Paint     document.Paint
	Self      string // how supervise is called, in the commands that are printed
}

func (t Printer) printLine(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// printRow prints a text after a label, which the caller pads.
func (t Printer) printRow(tone document.Style, label string, format string, args ...any) {
	t.printLine("%s %s", t.Paint(tone, label), fmt.Sprintf(format, args...))
}

// iterationName names an iteration in a sentence.
func iterationName(n int) string {
	if n == 0 {
		return "the baseline"
	}
	return fmt.Sprintf("iteration %d", n)
}
