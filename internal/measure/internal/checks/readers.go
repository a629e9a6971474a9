package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RunsInParallel reports whether the check may run in parallel with the tests: it writes
// nothing into the tree that could be taken for the report of another check, and it is
// known, or declared by the user (vouched), to only read.
func (c Check) RunsInParallel(vouched bool) bool {
	reads, _ := c.ReadsOnly()
	return c.Kind == Lint && c.reportsPrivately() && (vouched || reads) || c.Kind == Build && c.DiscardsOutput()
}

// DiscardsOutput reports whether the output of a build is thrown away.
func (c Check) DiscardsOutput() bool { return slices.Contains(c.Command, os.DevNull) }

// reportsPrivately reports whether the check reports only in its output or in its private
// folder.
func (c Check) reportsPrivately() bool {
	return !slices.ContainsFunc(c.Reports, func(r string) bool { return !strings.HasPrefix(r, ReportDir+"/") })
}

// readers are linters and type checkers that do not change the tree, with the option
// that they need for that, and whose caches several processes may share. Some compile
// what a build does.
var readers = []struct {
	tool, option string
	compiles     bool
}{
	{"go vet", "", true},
	{"golangci-lint", "", true},
	{"staticcheck", "", true},
	{"eslint", "", false},
	{"biome", "", false},
	{"oxlint", "", false},
	{"stylelint", "", false},
	{"tsc", "--noEmit", true},
	{"vue-tsc", "--noEmit", true},
	{"pyright", "", false},
	{"basedpyright", "", false},
	{"ruff", "", false},
	{"flake8", "", false},
	{"mypy", "", false},
	{"pylint", "", false},
	{"cargo clippy", "", true},
	{"cargo check", "", true},
	{"rubocop", "", false},
	{"standardrb", "", false},
	{"phpstan", "", false},
	{"psalm", "", false},
	{"shellcheck", "", false},
	{"hadolint", "", false},
	{"yamllint", "", false},
	{"actionlint", "", false},
}

// writes are prefixes of options with which they do write.
var writes = []string{"--fix", "--write", "--unsafe", "--auto", "--apply", "--alter", "-a", "-A"}

// maxWrapper is how many words may precede the name of a tool, as in "npx --no-install
// eslint" and "uv run --frozen python -m mypy".
const maxWrapper = 5

// ReadsOnly reports whether the command is a known tool, with options that do not change
// the tree, and whether that compiles.
func (c Check) ReadsOnly() (known, compiles bool) {
	for _, option := range writes {
		if slices.ContainsFunc(c.Command, func(word string) bool { return strings.HasPrefix(word, option) }) {
			return false, false
		}
	}
	before := ""
	for i, word := range c.Command {
		word = filepath.Base(word)
		for _, r := range readers {
			if i <= maxWrapper && (r.tool == word || r.tool == before+" "+word) {
				return r.option == "" || slices.Contains(c.Command, r.option), r.compiles
			}
		}
		before = word
	}
	return false, false
}
