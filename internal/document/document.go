// Package document is the common form of reports: a [Document] is a list of blocks, such as
// headings, lists and tables, and a [Text] is a list of spans with a style.
//
// A report is built once, with [Document.Heading], [Document.Item] and similar methods, and then
// rendered as text for a terminal ([Document.Terminal]), as Markdown ([Document.Markdown]) or as
// HTML ([Document.HTML]). Each renderer escapes all texts: a text from outside cannot steer a
// terminal, give commands to a CI service, or become markup.
package document

import (
	"fmt"
	"strings"
)

// Document is a report. The zero value is empty.
type Document []Block

// Block is a part of a document: a [Heading], [Paragraph], [Fields], [List], [Table], [Code],
// [Diff], [Chart] or [Details].
type Block interface{ block() }

// The kinds of blocks.
type (
	// Heading starts a section. The title of a document has level 1.
	Heading struct {
		Level int
		Text  Text
	}
	// Paragraph is text that keeps its line breaks.
	Paragraph struct{ Text Text }
	// Fields are named values, one on each line.
	Fields []Item
	// List is a list of items.
	List []Item
	// Table has rows below a head, which may be nil.
	Table struct {
		Head  []string
		Right []bool // the columns that are aligned to the right; may be shorter than Head
		Rows  [][]Text
	}
	// Code is text that is shown unchanged, line by line.
	Code []string
	// Diff is a unified diff.
	Diff string
	// Chart is a bar chart.
	Chart []Bar
	// Details is a part that Markdown and HTML show on demand. A terminal shows only its body.
	Details struct {
		Summary string
		Body    Document
	}
)

// Item is an entry of a list, or a named value of fields.
type Item struct {
	Label Span // a terminal shows it in a separate column; may be empty
	Text  Text
	Below Document // blocks that are indented below the text
}

// Bar is one bar of a chart. Value and Note are printed after it.
type Bar struct {
	Name  string
	Share float64 // part of the full width, in [0,1]
	Value string
	Note  string
}

func (Heading) block()   {}
func (Paragraph) block() {}
func (Fields) block()    {}
func (List) block()      {}
func (Table) block()     {}
func (Code) block()      {}
func (Diff) block()      {}
func (Chart) block()     {}
func (Details) block()   {}

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { *d = append(*d, blocks...) }

// Heading appends a heading. The format is that of [Textf].
func (d *Document) Heading(level int, format string, args ...any) {
	d.Add(Heading{level, Textf(format, args...)})
}

// Paragraph appends a paragraph. The format is that of [Textf].
func (d *Document) Paragraph(format string, args ...any) { d.Add(Paragraph{Textf(format, args...)}) }

// Field appends a named value to the fields at the end of the document. If the last block is not
// [Fields], it starts new ones. The format is that of [Textf].
func (d *Document) Field(name, format string, args ...any) {
	appendItem[Fields](d, Item{Label: Span{Text: name}, Text: Textf(format, args...)})
}

// appendItem appends an item to the last block of a document, or in a new block if the last one is
// not of the kind L.
func appendItem[L interface {
	~[]Item
	Block
}](d *Document, item Item) {
	if n := len(*d); n > 0 {
		if last, ok := (*d)[n-1].(L); ok {
			(*d)[n-1] = append(last, item)
			return
		}
	}
	d.Add(L{item})
}

// Item appends an item to the list at the end of the document. If the last block is not a
// [List], it starts a new one. The format is that of [Textf].
func (d *Document) Item(format string, args ...any) {
	d.AddItem(Item{Text: Textf(format, args...)})
}

// Labelled appends an item with a label, like [Document.Item].
func (d *Document) Labelled(label Span, format string, args ...any) {
	d.AddItem(Item{Label: label, Text: Textf(format, args...)})
}

// AddItem appends an item to the list at the end of the document, like [Document.Item].
func (d *Document) AddItem(item Item) { appendItem[List](d, item) }

// Below returns the document below the last item of the list at the end, to which callers add
// blocks. The document must end with a list.
func (d *Document) Below() *Document {
	last, _ := (*d)[len(*d)-1].(List)
	return &last[len(last)-1].Below
}

// Row appends a row. A cell is a [Span], a [Text], or any value, which is formatted like
// [fmt.Sprint] does.
func (t *Table) Row(cells ...any) {
	row := make([]Text, len(cells))
	for i, c := range cells {
		row[i] = Textf("%v", c)
	}
	t.Rows = append(t.Rows, row)
}

// headRow returns the head as a row in a style.
func (t Table) headRow(s Style) []Text {
	row := make([]Text, len(t.Head))
	for i, name := range t.Head {
		row[i] = Text{{s, name}}
	}
	return row
}

// columnCount returns the number of columns of the longest row.
func (t Table) columnCount() int {
	n := len(t.Head)
	for _, row := range t.Rows {
		n = max(n, len(row))
	}
	return n
}

// isRightAligned reports whether a column is aligned to the right.
func (t Table) isRightAligned(column int) bool { return column < len(t.Right) && t.Right[column] }

// lines returns the chart as text, one line for each bar.
func (c Chart) lines() []string {
	const width = 36
	out := make([]string, len(c))
	for i, b := range c {
		line := fmt.Sprintf("%-14s %s %6s%s", b.Name, RenderMeter(b.Share, width), b.Value, b.Note)
		out[i] = oneLine(strings.TrimRight(line, " "))
	}
	return out
}

// RenderMeter draws a bar for a share in [0,1] that is width characters wide. A character can be
// filled in eighths, as in "██▌ " for 0.625 and a width of 4.
func RenderMeter(share float64, width int) string {
	cells := []rune(" ▏▎▍▌▋▊▉█")
	n := int(min(max(share, 0), 1)*float64(width)*8 + .5)
	out := strings.Repeat("█", n/8)
	if rest := n % 8; rest > 0 {
		out += string(cells[rest])
	}
	return fmt.Sprintf("%-*s", width, out)
}
