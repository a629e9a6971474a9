package document

import (
	"fmt"
	"html"
	"strings"

	"supervise/internal/textstream"
)

// HTML returns the document as a part of a page.
func (d Document) HTML() string {
	var b page
	b.blocks(d)
	return b.String()
}

type page struct{ strings.Builder }

// element writes an element with text in it.
func (p *page) element(tag, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	p.WriteString("<" + tag + class + ">" + text + "</" + tag + ">")
}

func (p *page) blocks(d Document) {
	for _, b := range d {
		switch b := b.(type) {
		case Heading:
			p.element(fmt.Sprintf("h%d", b.Level), "", b.Text.html())
		case Paragraph:
			p.element("p", "", strings.ReplaceAll(b.Text.html(), "\n", "<br>"))
		case Fields:
			p.WriteString("<dl>")
			for _, f := range b {
				p.element("dt", "", escapeHTML(f.Label.Text))
				p.element("dd", "", f.Text.html())
			}
			p.WriteString("</dl>")
		case List:
			p.list(b)
		case Table:
			p.table(b)
		case Code:
			p.element("pre", "", escapeHTML(strings.Join(b, "\n")))
		case Diff:
			p.diff(b)
		case Chart:
			p.chart(b)
		case Details:
			p.WriteString("<details>")
			p.element("summary", "", escapeHTML(b.Summary))
			p.blocks(b.Body)
			p.WriteString("</details>")
		}
		p.WriteString("\n")
	}
}

func (p *page) list(items []Item) {
	p.WriteString("<ul>")
	for _, item := range items {
		p.WriteString("<li>")
		if item.Label.Text != "" {
			p.WriteString(Text{item.Label}.html() + ": ")
		}
		p.WriteString(item.Text.html())
		p.blocks(item.Below)
		p.WriteString("</li>")
	}
	p.WriteString("</ul>")
}

func (p *page) table(t Table) {
	p.WriteString("<table>")
	row := func(tag string, cells []string) {
		p.WriteString("<tr>")
		for i, c := range cells {
			class := ""
			if t.right(i) {
				class = "right"
			}
			p.element(tag, class, c)
		}
		p.WriteString("</tr>")
	}
	if t.Head != nil {
		head := make([]string, len(t.Head))
		for i, name := range t.Head {
			head[i] = escapeHTML(name)
		}
		row("th", head)
	}
	for _, r := range t.Rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = c.html()
		}
		row("td", cells)
	}
	p.WriteString("</table>")
}

func (p *page) diff(d Diff) {
	p.WriteString(`<pre class="diff">`)
	for line := range strings.Lines(string(d)) {
		p.WriteString(Text{{diffStyle(line), line}}.html())
	}
	p.WriteString("</pre>")
}

func (p *page) chart(c Chart) {
	p.WriteString(`<table class="chart">`)
	for _, b := range c {
		fmt.Fprintf(p, `<tr><td>%s</td><td><meter value="%.4f"></meter></td><td>%s%s</td></tr>`, escapeHTML(b.Name), b.Share, escapeHTML(b.Value), escapeHTML(b.Note))
	}
	p.WriteString("</table>")
}

// classes are the elements of the styles.
var classes = [...]struct{ tag, class string }{
	Good: {"span", "good"}, Bad: {"span", "bad"}, Warn: {"span", "warn"}, Faint: {"span", "faint"}, Strong: {"b", ""}, Verbatim: {"code", ""},
}

func (t Text) html() string {
	var p page
	for _, s := range t {
		if s.Style == Plain {
			p.WriteString(escapeHTML(s.Text))
			continue
		}
		p.element(classes[s.Style].tag, classes[s.Style].class, escapeHTML(s.Text))
	}
	return p.String()
}

func escapeHTML(s string) string { return html.EscapeString(textstream.EscapeHidden(s)) }
