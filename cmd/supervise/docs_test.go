package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	anchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	paths   = regexp.MustCompile("`((?:cmd|internal|test)/[\\w./-]+)`")
)

// anchors are what a page's headings can be linked by.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		out[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = true
	}
	return out
}

// spans are times that differ from run to run, and what they are aligned by.
var spans = regexp.MustCompile(` +\d+(\.\d)?s\b`)

// recorded checks that what the README shows of the demo is what the last command
// printed, in its order, but for times and what it leaves out: recorded
func recorded(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile("../../README.md")
	ts.Check(err)
	_, shown, _ := strings.Cut(string(text), "The demo, shortened:\n\n```\n")
	shown, _, ended := strings.Cut(shown, "```\n")
	if neg || len(args) > 0 || !ended {
		ts.Fatalf("the README does not show the demo")
	}
	rest := spans.ReplaceAllString(ts.ReadFile("stdout"), " time")
	for line := range strings.Lines(shown) {
		want := spans.ReplaceAllString(line, " time")
		if strings.TrimSpace(line) == "…" {
			continue
		}
		_, behind, found := strings.Cut(rest, want)
		if !found {
			ts.Fatalf("the demo does not print what the README shows, here:\n%s", line)
		}
		rest = behind
	}
}

// Every link in the documentation leads somewhere.
func TestLinksOfTheDocumentation(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: (%s) leads to a file that is not there", page, m[1])
			} else if anchor != "" && !anchors(t, path)[anchor] {
				t.Errorf("%s: (%s) leads to a heading that is not there", page, m[1])
			}
		}
	}
}

// The layer table of CONTRIBUTING.md has every package, and the files and folders that it and
// docs/architecture.md name exist.
func TestLayerTableIsComplete(t *testing.T) {
	read := func(page string) string {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	layers := read("CONTRIBUTING.md")
	for _, pattern := range []string{"*/*.go", "internal/*/*.go", "test/*/*.go"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			folder := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(f, "../../")))
			if folder != "bench" && !strings.Contains(layers, "`"+folder+"`") {
				t.Errorf("CONTRIBUTING.md: %s is missing in the layer table", folder)
			}
		}
	}
	for _, page := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		for _, m := range paths.FindAllStringSubmatch(read(page), -1) {
			if _, err := os.Stat("../../" + m[1]); err != nil {
				t.Errorf("%s: `%s` does not exist", page, m[1])
			}
		}
	}
}
