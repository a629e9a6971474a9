package linttext

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
)

func TestDocsListTheToolsOfLintText(t *testing.T) {
	known := map[string]bool{}
	for _, f := range lineForms() {
		known[f.tool] = true
	}
	for _, tools := range []map[string]string{languages, arrowTools} {
		for _, tool := range tools {
			known[tool] = true
		}
	}
	delete(known, "")
	docs.Block(t, "formats.md", "tools of lint-text", "./parsers/internal/linttext", strings.Join(slices.Sorted(maps.Keys(known)), ", ")+".")
}
