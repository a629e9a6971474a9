package document

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"supervise/internal/textstream"
)

// Paint returns a text with the codes that show a style on a terminal.
type Paint func(Style, string) string

// NoPaint is a [Paint] that leaves texts unchanged.
func NoPaint(_ Style, s string) string { return s }

// ANSI is a [Paint] for terminals that understand the ANSI escape sequences for colors.
func ANSI(t Style, s string) string {
	codes := [...]string{Good: "32", Bad: "31;1", Warn: "33", Faint: "2", Strong: "1", Verbatim: ""}
	if codes[t] == "" || s == "" {
		return s
	}
	return "\x1b[" + codes[t] + "m" + s + "\x1b[0m"
}

// labelWidth is the width of the column of labels on a terminal, in characters.
const labelWidth = 10

// Terminal returns the document as text for a terminal, with styles as paint shows them.
func (d Document) Terminal(paint Paint) string {
	t := terminalWriter{paint: paint}
	t.writeBlocks(d, "")
	return textstream.EscapeColored(t.String())
}

// terminalWriter collects the text of a document. Its methods append lines.
type terminalWriter struct {
	strings.Builder
	paint Paint
}

// writeBlocks writes the blocks of a document, each line after the indentation.
func (t *terminalWriter) writeBlocks(d Document, indent string) {
	for i, b := range d {
		switch b := b.(type) {
		case Heading:
			t.writeGap(i)
			t.writeLine(indent, t.paint(Strong, b.Text.visible()))
		case Paragraph:
			t.writeText(indent, indent, b.Text)
		case Fields:
			t.writeItems(indent, b)
		case List:
			t.writeItems(indent, b)
		case Table:
			t.writeGap(i)
			t.writeTable(indent, b)
		case Code:
			for line := range strings.SplitSeq(strings.Join(b, "\n"), "\n") {
				t.writeLine(indent, t.paint(Faint, textstream.EscapeHidden(line)))
			}
		case Diff:
			t.writeDiff(indent, b)
		case Chart:
			for _, line := range b.lines() {
				t.writeLine(indent, textstream.EscapeHidden(line))
			}
		case Details:
			t.writeBlocks(b.Body, indent)
		}
	}
}

// writeGap writes an empty line in front of block i, unless it is the first.
func (t *terminalWriter) writeGap(i int) {
	if i > 0 {
		t.WriteString("\n")
	}
}

// writeDiff writes a diff with a style for each kind of line.
func (t *terminalWriter) writeDiff(indent string, d Diff) {
	for line := range strings.Lines(string(d)) {
		t.writeLine(indent, t.paint(diffStyle(line), textstream.EscapeHidden(strings.TrimRight(line, "\r\n"))))
	}
}

// writeLine writes one line without spaces at its end.
func (t *terminalWriter) writeLine(indent, text string) {
	t.WriteString(strings.TrimRight(indent+text, " ") + "\n")
}

// writeText writes a text. head comes before the first line and indent before all others.
func (t *terminalWriter) writeText(head, indent string, text Text) {
	var b strings.Builder
	b.WriteString(head)
	for _, s := range text {
		for i, line := range strings.Split(textstream.EscapeHidden(s.Text), "\n") {
			if i > 0 {
				b.WriteString("\n" + indent)
			}
			b.WriteString(t.paint(s.Style, line))
		}
	}
	t.writeLine("", b.String())
}

// writeItems writes list items. A label has a separate column; without one, the item has a dash.
func (t *terminalWriter) writeItems(indent string, list []Item) {
	for _, item := range list {
		head, below := "- ", indent+"  "
		if item.Label.Text != "" {
			label := textstream.EscapeHidden(oneLine(item.Label.Text))
			if item.Label.Style == Plain {
				item.Label.Style = Faint
			}
			head = t.paint(item.Label.Style, fmt.Sprintf("%-*s", labelWidth-1, label)) + " "
			below = indent + strings.Repeat(" ", labelWidth)
		}
		t.writeText(indent+head, below, item.Text)
		t.writeBlocks(item.Below, below)
	}
}

// writeTable writes a table whose columns are as wide as their longest cell.
func (t *terminalWriter) writeTable(indent string, b Table) {
	rows := b.Rows
	if b.Head != nil {
		rows = append([][]Text{b.headRow(Strong)}, rows...)
	}

	width := make([]int, b.columnCount())
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c.visible()))
		}
	}

	for _, row := range rows {
		line := indent
		for i, c := range row {
			fill := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c.visible()))
			if b.isRightAligned(i) {
				line += fill
			}
			for _, s := range c.oneLine() {
				line += t.paint(s.Style, textstream.EscapeHidden(s.Text))
			}
			if !b.isRightAligned(i) {
				line += fill
			}
			line += "  "
		}
		t.writeLine("", line)
	}
}

// visible returns the text on one line, with control characters made visible.
func (t Text) visible() string { return textstream.EscapeHidden(t.oneLine().String()) }

// diffStyle returns the style of a line of a unified diff.
func diffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return Strong
	case strings.HasPrefix(line, "@@"):
		return Faint
	case strings.HasPrefix(line, "+"):
		return Good
	case strings.HasPrefix(line, "-"):
		return Bad
	}
	return Plain
}
