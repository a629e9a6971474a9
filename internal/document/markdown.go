package document

import (
	"slices"
	"strings"
	"unicode/utf8"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// Markdown returns the document as Markdown, in the dialect of GitHub and GitLab.
func (d Document) Markdown() string {
	return textstream.EscapeLog(strings.Join(d.markdown(), "\n") + "\n")
}

// markdown returns the lines of the document, with an empty line between two blocks.
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
				out = append(out, "**"+plainName(f.Label.Text)+"**: "+f.Text.oneLine().markdown(false))
			}
		case List:
			for _, item := range b {
				out = append(out, item.markdown()...)
			}
		case Table:
			out = append(out, b.markdown()...)
		case Code:
			out = append(out, codeFence("", b)...)
		case Diff:
			out = append(out, codeFence("diff", strings.Split(strings.TrimRight(string(b), "\n"), "\n"))...)
		case Chart:
			out = append(out, codeFence("", b.lines())...)
		case Details:
			out = append(out, "<details><summary>"+plainName(b.Summary)+"</summary>", "")
			out = append(append(out, b.Body.markdown()...), "", "</details>")
		}
	}
	return out
}

// labelMarks replace the colors of labels, which Markdown does not have.
var labelMarks = map[Style]string{Good: "✅ ", Bad: "❌ ", Warn: "⚠️ "}

// plainName returns a text without styles on one line, escaped for Markdown.
func plainName(text string) string { return escapeMarkdown(textstream.EscapeHidden(oneLine(text))) }

// markdown returns the lines of a list item, with the blocks below it indented.
func (i Item) markdown() []string {
	text := i.Text.oneLine().markdown(i.Label.Text == "")
	if i.Label.Text != "" {
		text = labelMarks[i.Label.Style] + "**" + plainName(i.Label.Text) + "**: " + text
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

// markdown returns the lines of a table: the head, a rule such as |-----|----:|, and the rows.
func (t Table) markdown() []string {
	head, rule := make([]string, t.columnCount()), make([]string, t.columnCount())
	copy(head, t.Head)
	for i, text := range head {
		head[i] = plainName(text)
		rule[i] = strings.Repeat("-", max(3, utf8.RuneCountInString(text)+2))
		if t.isRightAligned(i) {
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

// codeFence returns the lines in a fenced block. The fence has more backticks than any run of
// them in the lines, so that no line can close it.
func codeFence(language string, lines []string) []string {
	text := strings.Join(lines, "\n")
	fence := fenceFor(text, "```")
	return slices.Concat([]string{fence + language}, strings.Split(text, "\n"), []string{fence})
}

// fenceFor returns the shortest fence, of at least the given backticks, that a text does not have.
func fenceFor(text, fence string) string {
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// markdown returns the text as Markdown. fresh says that the text starts a line, where characters
// such as # and > have a meaning.
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
				text = codeSpan(text)
			case s.Style == Strong:
				text = "**" + escapeMarkdown(text) + "**"
			case fresh:
				text = escapeLineStart(escapeMarkdown(text))
			default:
				text = escapeMarkdown(text)
			}
			b.WriteString(text)
			fresh = false
		}
	}
	return b.String()
}

// codeSpan returns a text as a code span, between more backticks than the text has in a row.
func codeSpan(text string) string {
	fence := fenceFor(text, "`")
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}

var (
	// lineStartRE matches the start of a line that would be a heading, list item, quotation or
	// rule, as in "# ", "2. ", "- " and ">".
	lineStartRE = regexp.MustCompile(`^(\d+[.)]|[-+#]+)(?:\s|$)|^([>=])`)
	// markupRE matches the start of emphasis, code, a tag, an entity, a link, a mention or a
	// reference, as in "*", "<b", "&lt;", "](", "@name" and "#12".
	markupRE = regexp.MustCompile("[`\\\\*~|]|</?[A-Za-z!?]|&#?\\w+;|\\][(:\\[]|@\\w|#\\d|\\b_+|_+\\b")
)

// escapeLineStart puts a backslash in front of the last character that [lineStartRE] matches, as
// in "2\. text".
func escapeLineStart(text string) string {
	m := lineStartRE.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	at := max(m[3], m[5]) - 1
	return text[:at] + `\` + text[at:]
}

// escapeMarkdown escapes a text so that Markdown finds no markup in it; see [markupRE].
func escapeMarkdown(text string) string {
	return markupRE.ReplaceAllStringFunc(text, func(found string) string {
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
