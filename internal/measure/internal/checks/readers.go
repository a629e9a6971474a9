package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RunsInParallel reports whether the check may run in parallel with the tests: it writes no
// report into the tree, and it is known, or declared by the user (vouched), to only read.
func (c Check) RunsInParallel(vouched bool) bool {
	reads, _ := c.ReadsOnly()
	return c.Kind == Lint && c.reportsOnlyPrivately() && (vouched || reads) || c.Kind == Build && c.DiscardsOutput()
}

// DiscardsOutput reports whether the command discards the output of a build.
func (c Check) DiscardsOutput() bool { return slices.Contains(c.Command, os.DevNull) }

// reportsOnlyPrivately reports whether the check reports only in its output or in its private
// folder.
func (c Check) reportsOnlyPrivately() bool {
	return !slices.ContainsFunc(c.Reports, func(r string) bool { return !strings.HasPrefix(r, ReportDir+"/") })
}

// readOnlyTools are the first words of linters and type checkers that do not change the tree, and
// whether they compile what a build compiles. Several processes may share their caches.
var readOnlyTools = map[string]bool{
	"go vet": true, "golangci-lint": true, "staticcheck": true, "tsc": true, "vue-tsc": true, "cargo clippy": true, "cargo check": true,
	"eslint": false, "biome": false, "oxlint": false, "stylelint": false, "pyright": false, "basedpyright": false, "ruff": false,
	"flake8": false, "mypy": false, "pylint": false, "rubocop": false, "standardrb": false, "phpstan": false, "psalm": false,
	"shellcheck": false, "hadolint": false, "yamllint": false, "actionlint": false,
}

// readOnlyOptions are the options without which a tool writes.
var readOnlyOptions = map[string]string{"tsc": "--noEmit", "vue-tsc": "--noEmit"}

// writeOptions are prefixes of options with which the tools write.
var writeOptions = []string{"--fix", "--write", "--unsafe", "--auto", "--apply", "--alter", "-a", "-A"}

// maxWrapperWords limits how many words may precede the name of a tool, as in "npx
// --no-install eslint" and "uv run --frozen python -m mypy".
const maxWrapperWords = 5

// ReadsOnly reports whether the command is a known tool, with options that do not change the
// tree, and whether that tool compiles.
func (c Check) ReadsOnly() (known, compiles bool) {
	for _, option := range writeOptions {
		if slices.ContainsFunc(c.Command, func(word string) bool { return strings.HasPrefix(word, option) }) {
			return false, false
		}
	}
	before := ""
	for _, word := range c.Command[:min(len(c.Command), maxWrapperWords+1)] {
		word = filepath.Base(word)
		for _, tool := range []string{word, before + " " + word} {
			if compiles, known := readOnlyTools[tool]; known {
				option, needed := readOnlyOptions[tool]
				return !needed || slices.Contains(c.Command, option), compiles
			}
		}
		before = word
	}
	return false, false
}
