package framework_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"supervise/internal/framework"
)

// maxPackages is how many packages may have the name of a framework in a string: package
// project, whose detection needs more than a row, and two that read source code or settings.
const maxPackages = 3

// ordinaryWords are names of frameworks that have another meaning too.
var ordinaryWords = strings.Fields("go node tsx lab tap tape ava mix nose trial green ward karate detox swift cargo maven gradle dotnet meson sbt prove bats bazel zig")

// otherNames are further names of frameworks: prefixes of their options and commands.
var otherNames = strings.Fields("gtest catch2 nose2")

// excludedFolders have strings that do not count: this package, what reads formats, other
// modules and tests.
var excludedFolders = regexp.MustCompile(`^(internal/framework|parsers|coverage|bench|fleet|test|testdata)(/|$)|(^|/)testdata(/|$)|^\.`)

// documentation are files with examples for people: in the help of a command, and in the rows
// of rules, from which docs/ is written.
var documentation = regexp.MustCompile(`^(cmd/supervise/(measure|run)|detector/rules|integrity/internal/\w+/rules)\.go$`)

// Names of frameworks are in the strings of few packages besides this one: the others read its
// rows.
func TestSpelled(t *testing.T) {
	names := spelledNames()
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
		case d.IsDir() && rel != "." && excludedFolders.MatchString(rel):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || documentation.MatchString(rel):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, _, _ := strings.Cut(rel, "/"+filepath.Base(path))
		for _, s := range stringsOf(text) {
			for name, word := range names {
				if !slices.Contains(found[name], dir) && word.MatchString(s) {
					found[name] = append(found[name], dir)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		packages := strings.Join(found[name], " ")
		t.Logf("%-11s %2d %s", name, len(found[name]), packages)
		if len(found[name]) > maxPackages {
			t.Errorf("%s is in strings of %d packages, at most %d may: let one of them read the row of internal/framework: %s", name, len(found[name]), maxPackages, packages)
		}
	}
}

// spelledNames are expressions for the names as words.
func spelledNames() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	add := func(name string) {
		out[name] = regexp.MustCompile(`(?i)(^|[^a-z])` + regexp.QuoteMeta(name) + `($|[^a-z])`)
	}
	for _, f := range framework.All() {
		if !slices.Contains(ordinaryWords, f.Name) {
			add(f.Name)
		}
	}
	for _, name := range otherNames {
		add(name)
	}
	return out
}

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
