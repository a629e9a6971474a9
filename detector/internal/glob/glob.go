// Package glob reads patterns with wildcards for names and paths.
package glob

import (
	"strings"

	"supervise/internal/regexp"
)

// Glob is a pattern with wildcards.
type Glob struct{ re *regexp.Regexp }

// Match reports whether the entire text matches.
func (g *Glob) Match(s string) bool { return g.re.MatchString(s) }

// Name reads a pattern of names: * matches any text, ? one character.
func Name(pattern string) *Glob {
	return &Glob{regexp.MustCompile(`(?s)\A` + expression(pattern, map[string]string{"*": `.*`, "**": `.*`, "?": `.`}) + `\z`)}
}

// Path reads a pattern of slash separated paths: * and ? end at a slash, **
// matches any folders. A path is also matched from any of its folders on, so that
// "calc/*.go" matches "module/calc/add.go"; a folder that matches includes all below
// it.
func Path(pattern string) *Glob {
	pattern = strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
	middle := expression(pattern, map[string]string{"**/": `(?:.*/)?`, "/**": `(?:/.*)?`, "**": `.*`, "*": `[^/]*`, "?": `[^/]`})
	return &Glob{regexp.MustCompile(`(?s)\A(?:.*/)?` + middle + `(?:/.*)?\z`)}
}

// wildcards are looked for in this order.
var wildcards = []string{"**/", "/**", "**", "*", "?"}

// expression translates the wildcards in meaning and quotes the rest.
func expression(pattern string, meaning map[string]string) string {
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
