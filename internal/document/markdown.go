package document

import (
	"strings"
	"unicode/utf8"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// Markdown returns the document as Markdown, in the dialect of GitHub and GitLab.
func (d Document) Markdown() string {
	return textstream.EscapeLog(strings.Join(d.markdown(), "\n") + "\n")
}

// markdown returns the lines of the document, with an empty one between two blocks.
func (d Document) markdown() []string {
	var out []string
	for i, b := range d {
		if i > 0 {
			out = append(out, "")
		}
		switch b := b.(type) {
		case Heading:
			out = append(out, strings.Repeat("#", b.Level)+" "+b.Text.oneLine().markdown(false))
		case Paragraph:
			out = append(out, strings.Split(b.Text.markdown(true), "\n")...)
		case Fields:
			for _, f := range b {
				out = append(out, "**"+name(f.Label.Text)+"**: "+f.Text.oneLine().markdown(false))
			}
		case List:
			for _, item := range b {
				out = append(out, item.markdown()...)
			}
		case Table:
			out = append(out, b.markdown()...)
		case Code:
			out = append(out, fenced("", b)...)
		case Diff:
			out = append(out, fenced("diff", strings.Split(strings.TrimRight(string(b), "\n"), "\n"))...)
		case Chart:
			out = append(out, fenced("", b.lines())...)
		case Details:
			out = append(out, "<details><summary>"+name(b.Summary)+"</summary>", "")
			out = append(append(out, b.Body.markdown()...), "", "</details>")
		}
	}
	return out
}

// labelMarks stand for the colours of labels, which Markdown does not have.
var labelMarks = map[Style]string{Good: "✅ ", Bad: "❌ ", Warn: "⚠️ "}

// name returns a text without styles, on one line.
func name(text string) string { return escape(textstream.EscapeHidden(oneLine(text))) }

func (i Item) markdown() []string {
	text := i.Text.oneLine().markdown(i.Label.Text == "")
	if i.Label.Text != "" {
		text = labelMarks[i.Label.Style] + "**" + name(i.Label.Text) + "**: " + text
	}
	out := []string{"- " + text}
	for _, b := range i.Below {
		if _, details := b.(Details); details {
			out = append(out, "") // a tag does not interrupt a paragraph everywhere
		}
		for _, line := range (Document{b}).markdown() {
			out = append(out, strings.TrimRight("  "+line, " "))
		}
	}
	return out
}

func (t Table) markdown() []string {
	head, rule := make([]string, t.columns()), make([]string, t.columns())
	copy(head, t.Head)
	for i, text := range head {
		head[i] = name(text)
		rule[i] = strings.Repeat("-", max(3, utf8.RuneCountInString(text)+2))
		if t.right(i) {
			rule[i] = rule[i][1:] + ":"
		}
	}
	out := []string{"| " + strings.Join(head, " | ") + " |", "|" + strings.Join(rule, "|") + "|"}
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = strings.NewReplacer(`\|`, `\|`, "|", `\|`).Replace(c.oneLine().markdown(false)) // also in code
		}
		out = append(out, "| "+strings.Join(cells, " | ")+" |")
	}
	return out
}

// fenced returns lines between fences that none of them closes.
func fenced(language string, lines []string) []string {
	text := strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return append(append([]string{fence + language}, strings.Split(text, "\n")...), fence)
}

// markdown returns the text; fresh says that it starts a line.
func (t Text) markdown(fresh bool) string {
	var b strings.Builder
	for _, s := range t {
		for i, text := range strings.Split(textstream.EscapeHidden(s.Text), "\n") {
			if i > 0 {
				b.WriteString("\n")
				fresh = true
			}
			switch {
			case text == "":
				continue
			case s.Style == Verbatim:
				text = verbatim(text)
			case s.Style == Strong:
				text = "**" + escape(text) + "**"
			case fresh:
				text = escapeStart(escape(text))
			default:
				text = escape(text)
			}
			b.WriteString(text)
			fresh = false
		}
	}
	return b.String()
}

// verbatim returns text as a code span.
func verbatim(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}

var (
	// start matches what makes a heading, list, quotation or rule of a line.
	start = regexp.MustCompile(`^(\d+[.)]|[-+#]+)(?:\s|$)|^([>=])`)
	// special matches what makes markup, a tag, a link, a reference or a mention of a text.
	special = regexp.MustCompile("[`\\\\*~|]|</?[A-Za-z!?]|&#?\\w+;|\\][(:\\[]|@\\w|#\\d|\\b_+|_+\\b")
)

func escapeStart(text string) string {
	m := start.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	at := max(m[3], m[5]) - 1
	return text[:at] + `\` + text[at:]
}

// escape returns text in which Markdown finds no markup, tag, link, reference or mention.
func escape(text string) string {
	return special.ReplaceAllStringFunc(text, func(found string) string {
		switch found[0] {
		case '<':
			return "&lt;" + found[1:]
		case '&':
			return "&amp;" + found[1:]
		case '@': // GitHub and GitLab notify whom they find
			return "@\u200b" + found[1:]
		case '_':
			return strings.Repeat(`\_`, len(found))
		}
		return `\` + found
	})
}
