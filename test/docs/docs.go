// Package docs compares the generated parts of the pages in docs/ with the Go
// tables that they are written from. It is test equipment: only tests import it.
package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update-docs", false, "rewrite the generated parts of docs/")

// Block compares the block called name of a page, a file name below docs/, with
// want, and rewrites it with -update-docs. A block lies between the lines
//
//	<!-- generated: NAME (go test PACKAGE -update-docs) -->
//	<!-- end -->
//
// pkg is the package of the calling test, such as ./detector.
func Block(t *testing.T, page, name, pkg, want string) {
	t.Helper()
	path := filepath.Join(root(t), "docs", page)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := fmt.Sprintf("<!-- generated: %s (go test %s -update-docs) -->\n", name, pkg)
	const end = "<!-- end -->\n"
	before, rest, found := strings.Cut(string(text), open)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("docs/%s lacks the block %q: add the lines\n%s%s", page, name, open, end)
	}
	want = strings.TrimRight(want, "\n") + "\n"
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+open+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/%s, block %q, differs from the Go table; run go test %s -update-docs\n%s", page, name, pkg, difference(got, want))
}

// difference lists the lines that only one of two texts has.
func difference(got, want string) string {
	var b strings.Builder
	only := func(mark, of, than string) {
		has := map[string]bool{}
		for line := range strings.Lines(than) {
			has[line] = true
		}
		for line := range strings.Lines(of) {
			if !has[line] {
				b.WriteString(mark + line)
			}
		}
	}
	only("- ", got, want)
	only("+ ", want, got)
	return b.String()
}

// Page returns the text of a page, a file name below docs/.
func Page(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory")
		}
	}
}
