package project_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"supervise/internal/project"
)

var update = flag.Bool("update", false, "write the proposals that the cases in testdata now get")

// Each case in testdata is a tree of files and, as its last file, the proposal for it.
// Its first line names the programs on PATH.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { golden(t, path) })
	}
}

func golden(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := len(archive.Files) - 1
	if last < 0 || archive.Files[last].Name != "proposal" {
		archive.Files = append(archive.Files, txtar.File{Name: "proposal"})
		last++
	}
	files := map[string]string{}
	for _, f := range archive.Files[:last] {
		files[f.Name] = string(f.Data)
	}
	first, _, _ := strings.Cut(string(archive.Comment), "\n")
	tools, ok := strings.CutPrefix(first, "PATH:")
	if !ok {
		t.Fatal("the first line does not name the programs on PATH")
	}
	got := shown(project.Detect(write(t, files), having(strings.Fields(tools)...)))
	if *update {
		archive.Files[last].Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(archive.Files[last].Data); got != want {
		t.Errorf("proposed:\n%s\nwant:\n%s", got, want)
	}
}

// shown is a proposal as text.
func shown(p project.Project, err error) string {
	if err != nil {
		before, after, _ := strings.Cut(err.Error(), " in ")
		_, after, _ = strings.Cut(after, ": ")
		return before + ": " + after + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "language: %s\n", p.Language)
	for _, part := range p.Parts {
		fmt.Fprintf(&b, "part %q %s: %s\n", part.Dir, part.Language, strings.Join(part.Tools, ", "))
	}
	for _, note := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	for _, c := range p.Checks {
		b.WriteString(shownCheck(c))
	}
	return b.String()
}

func shownCheck(c project.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %q", c.Kind, c.Name)
	for _, word := range []struct {
		on   bool
		text string
	}{
		{c.Dir != "", "in " + c.Dir},
		{c.Runner != "", "runner " + c.Runner},
		{c.Coverage, "coverage"},
		{c.Stderr, "stderr"},
		{c.Implied != "", "implied by a build"},
	} {
		if word.on {
			b.WriteString(", " + word.text)
		}
	}
	fmt.Fprintf(&b, "\n\t%s\n", line(c.Command))
	for _, env := range c.Env {
		fmt.Fprintf(&b, "\tenv %s\n", env)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		text := c.Files[name]
		if at := strings.LastIndex(strings.TrimSpace(text), "\n"); len(text) > 500 {
			text = "… " + text[at+1:]
		}
		fmt.Fprintf(&b, "\tfile %s %q\n", name, text)
	}
	for _, report := range c.Reports {
		fmt.Fprintf(&b, "\treport %s\n", report)
	}
	if c.Inventory != nil {
		fmt.Fprintf(&b, "\tlist %s\n", line(c.Inventory))
	}
	return b.String()
}

// line joins words unambiguously.
func line(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsAny(w, " \"") {
			out[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(out, " ")
}
