package runner

import (
	"regexp"
	"strings"
)

// bareWord is what every shell takes as it is.
var bareWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// ShellQuoted joins words so that a POSIX shell reads them as they are.
func ShellQuoted(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if !bareWord.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
