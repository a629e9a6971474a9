package document_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/internal/document"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample has every block.
func sample() document.Document {
	var d document.Document
	d.Heading(1, "Report of %s", "shop")
	d.Field("Class", "%s", document.Span{Style: document.Bad, Text: "regression"})
	d.Field("Score", "%.2f%%", 97.5)
	d.Paragraph("One test is gone: `%s`.\nIt was **%s**.", "m: TestSub", "right")
	d.Item("Tests: `%s`, %d of %d", "go test", 1, 2)
	d.Below().Item("`%s`", "m: TestAdd")
	d.Below().Add(document.Code{"before:", "    1 | 2"})
	d.Labelled(document.Span{Style: document.Warn, Text: "HIGH"}, "`%s` (%s)", "tests_removed", "measured")
	d.Below().Add(document.Details{Summary: "before and now", Body: document.Document{document.Code{"a", "", "b"}}})
	t := document.Table{Head: []string{"metric", "now"}, Right: []bool{false, true}}
	t.Row("a|b", 3)
	t.Row(document.Span{Style: document.Strong, Text: "Total"}, document.Textf("%s", "n/a"))
	d.Add(t)
	d.Add(document.Diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"), document.Chart{{"Baseline:", .5, "50.0%", " ← SELECTED"}, {"Iteration 1:", 1, "100.0%", ""}})
	d.Heading(2, "End")
	return d
}

func TestGoldens(t *testing.T) {
	for name, got := range map[string]string{
		"sample.txt": sample().Terminal(document.NoPaint), "colours.txt": sample().Terminal(document.ANSI), "sample.md": sample().Markdown(), "sample.html": sample().HTML(),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got); if it is right, run go test ./internal/document -update:\n%s", name, diff)
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	for text, want := range map[string]string{
		"test_count is 3, -1":    "test_count is 3, -1",
		"1.5 points":             "1.5 points",
		"1. first":               `1\. first`,
		"- item":                 `\- item`,
		"## title":               `#\# title`,
		"> quoted":               `\> quoted`,
		"__init__ and _x_":       `\_\_init\_\_ and \_x\_`,
		"*bold* ~~gone~~":        `\*bold\* \~\~gone\~\~`,
		"[l](u) ![i](u) [r]: u":  `[l\](u) ![i\](u) [r\]: u`,
		"[reg-001] Iteration 3":  "[reg-001] Iteration 3",
		"<img src=x> a < b":      "&lt;img src=x> a < b",
		"&lt;b":                  "&amp;lt;b",
		"@everyone fixes #12":    "@\u200beveryone fixes \\#12",
		"`x` \\":                 "\\`x\\` \\\\",
		"a\n- b":                 "a\n\\- b",
		"\u202egnp \x1b[2J":      "&lt;U+202E>gnp &lt;U+001B>[2J",
		"\n::error::x ##[error]": "\n\\::error::x ##\\[error]",
	} {
		if got := (document.Document{document.Paragraph{Text: document.Textf("%s", text)}}).Markdown(); got != want+"\n" {
			t.Errorf("%q: %q, want %q", text, got, want+"\n")
		}
	}
}

// Nothing in a text from outside steers a terminal, or becomes Markdown, HTML or a command.
func TestHostileTexts(t *testing.T) {
	hostile := "a|b <img src=x> </pre><script>x</script> @everyone `x` ``` [l](u)\n::error::x\n% ##[error]y ##vso[task.x]z \u202egnp \u2066 \x1b[2J\x1b]0;owned\a done"
	var d document.Document
	d.Heading(2, "%s", hostile)
	d.Field("name", "%s `%s`", hostile, hostile)
	d.Paragraph("%s **%s**", hostile, hostile)
	d.Labelled(document.Span{Style: document.Bad, Text: hostile}, "%s `%s`", hostile, hostile)
	d.Below().Add(document.Code(strings.Split(hostile, "\n")), document.Details{Summary: hostile, Body: document.Document{document.Diff("+" + hostile + "\n")}})
	table := document.Table{Head: []string{hostile}}
	table.Row(hostile)
	d.Add(table, document.Chart{{hostile, .5, hostile, hostile}})
	for name, text := range map[string]string{"terminal": d.Terminal(document.NoPaint), "markdown": d.Markdown(), "html": d.HTML()} {
		for _, bad := range []string{"\x1b", "\a", "\u202e", "\u2066"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", name, bad, text)
			}
		}
		for _, bad := range []string{"\n::error", "##[error]", "##vso["} {
			if name != "html" && strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", name, bad, text)
			}
		}
	}
	if text := d.HTML(); strings.Contains(text, "<img") || strings.Contains(text, "<script") {
		t.Errorf("HTML from outside:\n%s", text)
	}
	// The fences are longer than what the text holds; nothing between them is markup.
	fenced := regexp.MustCompile("(?ms)^ *````(diff)?\n.*?\n *````$|````.*?````")
	text := fenced.ReplaceAllString(d.Markdown(), "")
	for _, bad := range []string{"<img", "</pre", "<script", "[l](u)", "@everyone", " `"} {
		if strings.Contains(text, bad) {
			t.Errorf("Markdown from outside: %q in\n%s", bad, text)
		}
	}
}

func TestTextf(t *testing.T) {
	got := document.Textf("%s: `%-6s` is **%d**%% of %s, 2*3", document.Span{Style: document.Good, Text: "ok"}, "x", 5, document.Join(document.Verbatim, []string{"a", "b"}, ", "))
	want := document.Text{
		{document.Good, "ok"},
		{document.Plain, ": "},
		{document.Verbatim, "x     "},
		{document.Plain, " is "},
		{document.Strong, "5"},
		{document.Plain, "% of "},
		{document.Verbatim, "a"},
		{document.Plain, ", "},
		{document.Verbatim, "b"},
		{document.Plain, ", 2*3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
