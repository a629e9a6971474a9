package document

import (
	"fmt"
	"html"
	"strings"

	"supervise/internal/textstream"
)

// HTML returns the document as elements for the body of a page.
func (d Document) HTML() string {
	var b htmlWriter
	b.writeBlocks(d)
	return b.String()
}

// htmlWriter collects the HTML of a document. Its methods append elements.
type htmlWriter struct{ strings.Builder }

// writeElement writes an element. text is HTML that is already escaped; class may be "".
func (p *htmlWriter) writeElement(tag, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	p.WriteString("<" + tag + class + ">" + text + "</" + tag + ">")
}

// writeBlocks writes the blocks of a document.
func (p *htmlWriter) writeBlocks(d Document) {
	for _, b := range d {
		switch b := b.(type) {
		case Heading:
			p.writeElement(fmt.Sprintf("h%d", b.Level), "", b.Text.html())
		case Paragraph:
			p.writeElement("p", "", strings.ReplaceAll(b.Text.html(), "\n", "<br>"))
		case Fields:
			p.WriteString("<dl>")
			for _, f := range b {
				p.writeElement("dt", "", escapeHTML(f.Label.Text))
				p.writeElement("dd", "", f.Text.html())
			}
			p.WriteString("</dl>")
		case List:
			p.writeList(b)
		case Table:
			p.writeTable(b)
		case Code:
			p.writeElement("pre", "", escapeHTML(strings.Join(b, "\n")))
		case Diff:
			p.writeDiff(b)
		case Chart:
			p.writeChart(b)
		case Details:
			p.WriteString("<details>")
			p.writeElement("summary", "", escapeHTML(b.Summary))
			p.writeBlocks(b.Body)
			p.WriteString("</details>")
		}
		p.WriteString("\n")
	}
}

// writeList writes a list, with the blocks below each item in that item.
func (p *htmlWriter) writeList(items []Item) {
	p.WriteString("<ul>")
	for _, item := range items {
		p.WriteString("<li>")
		if item.Label.Text != "" {
			p.WriteString(Text{item.Label}.html() + ": ")
		}
		p.WriteString(item.Text.html())
		p.writeBlocks(item.Below)
		p.WriteString("</li>")
	}
	p.WriteString("</ul>")
}

// writeTable writes a table. Cells of right-aligned columns have the class right.
func (p *htmlWriter) writeTable(t Table) {
	p.WriteString("<table>")
	writeRow := func(tag string, cells []Text) {
		p.WriteString("<tr>")
		for i, c := range cells {
			class := ""
			if t.isRightAligned(i) {
				class = "right"
			}
			p.writeElement(tag, class, c.html())
		}
		p.WriteString("</tr>")
	}
	if t.Head != nil {
		writeRow("th", t.headRow(Plain))
	}
	for _, row := range t.Rows {
		writeRow("td", row)
	}
	p.WriteString("</table>")
}

// writeDiff writes a diff with a style for each kind of line.
func (p *htmlWriter) writeDiff(d Diff) {
	p.WriteString(`<pre class="diff">`)
	for line := range strings.Lines(string(d)) {
		p.WriteString(Text{{diffStyle(line), line}}.html())
	}
	p.WriteString("</pre>")
}

// writeChart writes a chart as a table with meter elements.
func (p *htmlWriter) writeChart(c Chart) {
	p.WriteString(`<table class="chart">`)
	for _, b := range c {
		fmt.Fprintf(p, `<tr><td>%s</td><td><meter value="%.4f"></meter></td><td>%s%s</td></tr>`, escapeHTML(b.Name), b.Share, escapeHTML(b.Value), escapeHTML(b.Note))
	}
	p.WriteString("</table>")
}

// styleElements are the elements, with their classes, that show the styles.
var styleElements = [...]struct{ tag, class string }{
	Good: {"span", "good"}, Bad: {"span", "bad"}, Warn: {"span", "warn"}, Faint: {"span", "faint"}, Strong: {"b", ""}, Verbatim: {"code", ""},
}

// html returns the text as HTML, with an element for each span that has a style.
func (t Text) html() string {
	var p htmlWriter
	for _, s := range t {
		if s.Style == Plain {
			p.WriteString(escapeHTML(s.Text))
			continue
		}
		p.writeElement(styleElements[s.Style].tag, styleElements[s.Style].class, escapeHTML(s.Text))
	}
	return p.String()
}

// escapeHTML escapes markup, and control characters that would be invisible.
func escapeHTML(s string) string { return html.EscapeString(textstream.EscapeHidden(s)) }
