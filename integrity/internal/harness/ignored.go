package harness

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// testNameRE matches the names of files with tests, such as test_cart.py and cart_spec.rb.
var testNameRE = regexp.MustCompile(`(?i)tests?\b|_test|test_|spec`)

// findIgnoredTests finds patterns of git that newly ignore a test of the project: what git
// ignores is in no diff, and no reviewer reads it.
func findIgnoredTests(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	if path.Base(f.Path) != ".gitignore" || !f.After().Exists() {
		return
	}
	there, _ := c.BaseFiles()
	for _, l := range f.AddedLines() {
		ignored := slices.IndexFunc(there, func(name string) bool {
			lang := source.DetectLanguage(name, nil)
			isTest := lang != source.Unknown && testNameRE.MatchString(path.Base(name)) && source.IsTestFile(name, lang)
			return isTest && !source.IsVendored(name) && ignoresPath(path.Dir(f.Path), l.Text, name)
		})
		if ignored >= 0 {
			report(f.NewFinding(l.Number, l.Text+" ignores "+there[ignored]))
		}
	}
}

// ignoresPath reports whether a line of a .gitignore in a folder matches a path.
func ignoresPath(dir, line, name string) bool {
	pattern := strings.TrimSpace(line)
	if pattern == "" || pattern[0] == '#' || pattern[0] == '!' {
		return false
	}
	if dir != "." {
		remaining, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			return false
		}
		name = remaining
	}
	pattern = strings.TrimSuffix(pattern, "/")
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	pattern = strings.TrimPrefix(pattern, "/")
	return doublestar.MatchUnvalidated(pattern, name) || doublestar.MatchUnvalidated(pattern+"/**", name)
}
