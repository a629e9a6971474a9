package framework_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// spelled are the names that mean nothing but a framework, with the packages that have them
// in a string. Rows of this package should say it instead: take packages out, and add none.
// What is left are expressions for texts (integrity, source, live), commands that need more
// than a row (project, conceal, measure) and names of files (snapshot, protect).
var spelled = map[string]string{
	"pytest":     "cmd/supervise detector integrity/internal/configuration integrity/internal/harness integrity/internal/product integrity/internal/support integrity/internal/tests internal/measure internal/project snapshot/internal/ignore source/internal/inspect source/internal/language",
	"unittest":   "integrity/internal/harness integrity/internal/tests internal/project source/internal/inspect source/internal/language",
	"django":     "integrity/internal/harness internal/project",
	"jest":       "coverage integrity/internal/configuration integrity/internal/support internal/project",
	"vitest":     "coverage internal/project",
	"mocha":      "integrity/internal/configuration internal/project",
	"jasmine":    "internal/project",
	"playwright": "integrity/internal/configtext integrity/internal/configuration internal/project internal/protect snapshot/internal/ignore",
	"cypress":    "integrity/internal/configtext integrity/internal/configuration integrity/internal/harness integrity/internal/support internal/project internal/protect source/internal/language",
	"karma":      "integrity/internal/configuration internal/project",
	"uvu":        "internal/project",
	"borp":       "internal/project",
	"bun":        "integrity/internal/configtext integrity/internal/facts internal/hook internal/measure internal/project internal/protect source/internal/language",
	"deno":       "integrity/internal/configtext integrity/internal/configuration integrity/internal/facts integrity/internal/support internal/hook internal/project internal/protect source/internal/inspect source/internal/language",
	"rspec":      "integrity/internal/harness internal/project source/internal/inspect",
	"minitest":   "integrity/internal/harness integrity/internal/tests internal/project source/internal/inspect",
	"phpunit":    "coverage integrity/internal/configuration internal/project snapshot/internal/ignore",
	"nextest":    "integrity/internal/configuration internal/project",
	"ctest":      "internal/ctestcases internal/measure internal/measure/internal/read internal/project",
}

// apart are folders whose strings do not count: this package, what reads formats, other
// modules and tests.
var apart = regexp.MustCompile(`^(internal/framework|parsers|bench|fleet|test|testdata)(/|$)|(^|/)testdata(/|$)|^\.`)

// Names of frameworks are spelled in this package alone, with the exceptions above.
func TestSpelled(t *testing.T) {
	found := map[string][]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel != "." && apart.MatchString(rel):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, _, _ := strings.Cut(rel, "/"+filepath.Base(path))
		for _, s := range stringsOf(text) {
			for name := range spelled {
				if !slices.Contains(found[name], dir) && names[name].MatchString(s) {
					found[name] = append(found[name], dir)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range spelled {
		slices.Sort(found[name])
		want, got := strings.Fields(list), found[name]
		t.Logf("%-11s %2d %s", name, len(got), strings.Join(got, " "))
		for _, dir := range got {
			if !slices.Contains(want, dir) {
				t.Errorf("%s is spelled in package %s: let it read the row of internal/framework", name, dir)
			}
		}
		for _, dir := range want {
			if !slices.Contains(got, dir) {
				t.Logf("%s is no longer spelled in package %s: take it out of the list", name, dir)
			}
		}
	}
}

// names are expressions for the names as words.
var names = func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for name := range spelled {
		out[name] = regexp.MustCompile(`(?i)(^|[^a-z])` + name + `($|[^a-z])`)
	}
	return out
}()

// stringsOf are the string literals of a Go file but for the paths of imports.
func stringsOf(text []byte) []string {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	var out []string
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return out
		case tok == token.STRING && !strings.HasPrefix(literal, `"supervise/`):
			out = append(out, literal)
		}
	}
}
