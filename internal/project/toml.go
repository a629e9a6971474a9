package project

import (
	"strings"

	"supervise/internal/regexp"
)

// tomlTable returns the lines of a table of a TOML text, and whether it or a table
// inside it exists. It understands only enough TOML to recognise tools.
func tomlTable(text, name string) (string, bool) {
	var b strings.Builder
	found, in := false, false
	for line := range strings.Lines(text) {
		if m := tomlHeader.FindStringSubmatch(line); m != nil {
			in = m[1] == name
			found = found || in || strings.HasPrefix(m[1], name+".")
			continue
		}
		if in {
			b.WriteString(line)
		}
	}
	return b.String(), found
}

var (
	tomlHeader  = regexp.MustCompile(`^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$`)
	tomlString  = regexp.MustCompile(`"([^"]*)"|'([^']*)'`)
	tomlComment = regexp.MustCompile(`(?m)^\s*#.*$`)
)

// tomlStrings returns the strings of a key of a table: of a list or a single one.
func tomlStrings(table, key string) []string {
	re := regexp.MustCompile(`(?ms)^\s*` + regexp.QuoteMeta(key) + `\s*=\s*(\[.*?\]|"[^"\n]*"|'[^'\n]*')`)
	m := re.FindStringSubmatch(tomlComment.ReplaceAllString(table, ""))
	if m == nil {
		return nil
	}
	var out []string
	for _, s := range tomlString.FindAllStringSubmatch(m[1], -1) {
		out = append(out, s[1]+s[2])
	}
	return out
}
