package mergegate

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/textstream"
)

// Marker is the hidden first line by which a comment is found again and replaced.
const Marker = "<!-- supervise gate -->"

// maxMarkdown bounds the text, in bytes: GitHub takes 65 535 characters of a comment,
// and drops a summary over 1 MiB as a whole.
const maxMarkdown = 60_000

// maxAccept is how many findings the command names that accepts them.
const maxAccept = 100

// Markdown writes the report for a comment or a step summary.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	verdict := "✅ passed"
	if !r.Passed {
		verdict = "❌ failed"
	}
	fmt.Fprintf(&b, "%s\n### supervise gate: %s\n\n%s. Compared with %s.\n\n", Marker, verdict, upper(r.Summary()), cell(r.Base.String()))
	b.WriteString("| | base | now | |\n|---|---:|---:|---:|\n")
	for _, n := range r.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", n.Name, n.Base, n.Head, n.Delta)
	}
	left := 0
	for _, f := range r.Findings {
		if b.Len() > maxMarkdown-8_000 {
			left++
			continue
		}
		b.WriteString(markdownOf(f))
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nand %s more; `supervise gate --format json` has them all.\n", report.Count(left, "finding", "findings"))
	}
	for _, s := range r.Ratchet {
		fmt.Fprintf(&b, "\n- **ratchet**: %s\n", cell(s.String()))
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s gone and explained</summary>\n\n", report.Count(len(r.Lost), "test is", "tests are"))
		for _, l := range r.Lost[:min(len(r.Lost), 50)] {
			fmt.Fprintf(&b, "- %s\n", cell(explained(l)))
		}
		b.WriteString("\n</details>\n")
	}
	if r.Goals != nil {
		fmt.Fprintf(&b, "\nGoal tests: %s.\n", cell(goals(*r.Goals)))
	}
	if r.Hidden != nil {
		fmt.Fprintf(&b, "\nHidden tests: %s.\n", cell(r.Hidden.String()))
	}
	if r.Review != nil {
		fmt.Fprintf(&b, "\nReviewer: %s.\n", cell(r.Review.String()))
	}
	noticed(&b, r.Power)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n> %s\n", cell(n))
	}
	if ids := r.blocking(); len(ids) > 0 {
		fmt.Fprintf(&b, "\nTo accept for one run: `supervise gate --accept %s`. For good, once it is in the base: `supervise ack ID --reason …`.\n", strings.Join(ids[:min(len(ids), maxAccept)], ","))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownOf(f Finding) string {
	var b strings.Builder
	mark := "⚠️"
	switch {
	case f.Acknowledged != "":
		mark = "☑️ accepted:"
	case f.Blocking:
		mark = "⛔"
	}
	fmt.Fprintf(&b, "\n- %s **%s** `%s` (%s): %s", mark, f.Severity, f.Rule, f.RestsOn, cell(f.Message))
	switch {
	case f.Declared:
		b.WriteString(declaredNote)
	case f.Acknowledged == "":
		fmt.Fprintf(&b, " (`supervise ack %s --reason …` accepts it)", f.ID)
	}
	b.WriteString("\n")
	for i, p := range f.Places {
		if i == maxPlaces {
			fmt.Fprintf(&b, "  - and %d more\n", len(f.Places)-i)
			break
		}
		fmt.Fprintf(&b, "  - %s\n", cell(placeLine(p)))
	}
	if len(f.Versions) > 0 {
		fmt.Fprintf(&b, "\n  <details><summary>before and now</summary>\n\n%s\n  </details>\n", indented(report.Sides(f.Versions)))
	}
	return b.String()
}

// indented are lines as code in a list: nothing in them is read as Markdown.
func indented(lines []string) string {
	return "      " + strings.Join(lines, "\n      ") + "\n"
}

// cell is a text of the project in Markdown: nothing in it makes a table, a tag, a
// link or a mention.
func cell(s string) string {
	s = textstream.Shown(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "@", "@\u200b", "#", "\\#").Replace(s)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// noticed lists what changed tests notice.
func noticed(b *strings.Builder, p *ledger.Power) {
	lines := power(p)
	if len(lines) == 0 {
		return
	}
	b.WriteString("\nPower of changed tests:\n\n")
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", cell(strings.TrimSpace(line)))
	}
}
