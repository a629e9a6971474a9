// Package results prints the results of the commands of supervise, as text for people. It also
// defines the documents that --json prints. It decides nothing.
package results

import (
	"fmt"
	"io"

	"supervise/internal/document"
)

// Printer prints results for people.
type Printer struct {
	io.Writer // it makes hidden characters visible
	Paint     document.Paint
	Self      string // command line of supervise, for the commands that are printed
}

// printLine prints a line.
func (t Printer) printLine(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// printRow prints a text after a label. The caller pads the label.
func (t Printer) printRow(tone document.Style, label string, format string, args ...any) {
	t.printLine("%s %s", t.Paint(tone, label), fmt.Sprintf(format, args...))
}
