// Package glob matches names and paths against patterns with wildcards.
package glob

import (
	"strings"

	"supervise/internal/regexp"
)

// Glob is a pattern with wildcards.
type Glob struct{ re *regexp.Regexp }

// Match reports whether the entire text matches.
func (g *Glob) Match(s string) bool { return g.re.MatchString(s) }

// CompileName compiles a pattern of names: * matches any text, ? one character.
func CompileName(pattern string) *Glob {
	return &Glob{regexp.MustCompile(`(?s)\A` + translate(pattern, map[string]string{"*": `.*`, "**": `.*`, "?": `.`}) + `\z`)}
}

// CompilePath compiles a pattern of slash separated paths: * and ? end at a slash, **
// matches any folders. A pattern also matches at any folder of the path, so that
// "calc/*.go" matches "module/calc/add.go". A folder that matches includes everything
// below it.
func CompilePath(pattern string) *Glob {
	pattern = strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
	middle := translate(pattern, map[string]string{"**/": `(?:.*/)?`, "/**": `(?:/.*)?`, "**": `.*`, "*": `[^/]*`, "?": `[^/]`})
	return &Glob{regexp.MustCompile(`(?s)\A(?:.*/)?` + middle + `(?:/.*)?\z`)}
}

// wildcards are tried in this order.
var wildcards = []string{"**/", "/**", "**", "*", "?"}

// translate returns the pattern as a regular expression: wildcards are replaced by their
// meaning, everything else is quoted.
func translate(pattern string, meaning map[string]string) string {
	var b strings.Builder
	pattern = strings.ToValidUTF8(pattern, "\uFFFD")
	for pattern != "" {
		if pattern[0] == '\\' && len(pattern) > 1 {
			b.WriteString(regexp.QuoteMeta(pattern[1:2]))
			pattern = pattern[2:]
			continue
		}
		text, n := regexp.QuoteMeta(pattern[:1]), 1
		for _, w := range wildcards {
			if means, ok := meaning[w]; ok && strings.HasPrefix(pattern, w) {
				text, n = means, len(w)
				break
			}
		}
		b.WriteString(text)
		pattern = pattern[n:]
	}
	return b.String()
}
