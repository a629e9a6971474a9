package linttext

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"
	"unicode"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// placePattern matches the start of a line with a place: "a.x:3:2: unknown name".
var placePattern = regexp.MustCompile(`^[^\s:].*?:\d{1,9}:(?:\d{1,9}:)? \S`)

// genericPattern matches the lines that most compilers and linters print: "a.x:3:2: error:
// unknown name". The groups are the file, the line, the column, the word for the level, and the
// message. A file has no spaces unless a backslash is before them. Of the word for the level, only
// the first letter counts, which is upper case in some tools.
var genericPattern = regexp.MustCompile(`^((?:[A-Za-z]:)?(?:\\ |[^ ])+?):(\d+):(?:(\d+):)? ` +
	`(?:(?:fatal )?(\Srror|\Sarning|\Sote|\Snfo): )?(.+)$`)

// genericLevels maps the first letter of a level in lower case. Lines with any other letter, or
// without a level, are errors.
var genericLevels = map[string]metric.Level{"w": metric.Warning, "n": metric.Note, "i": metric.Note}

// detectErrorformat reports whether the head has a line with a place. A Go coverage profile,
// which starts with "mode: ", has such lines as well.
func detectErrorformat(h sniff.Head) bool {
	return !bytes.HasPrefix(h.Text, []byte("mode: ")) && h.MatchesLine(func(l string) bool {
		return placePattern.MatchString(l) && isPlausibleFile(l[:strings.IndexByte(l[1:], ':')+1])
	})
}

// isPlausibleFile rejects times, addresses and log prefixes as names of files.
func isPlausibleFile(name string) bool {
	return strings.ContainsFunc(name, unicode.IsLetter) && strings.ContainsAny(name, `./\`) &&
		!strings.Contains(name, "://") && !strings.ContainsAny(name, "\"<>|*?{}=")
}

// parseErrorformat reads the lines of a text that name a file, a line and perhaps a column,
// and skips all others.
func parseErrorformat(r io.Reader) (parsed.Report, error) {
	var list parsed.PackedFindings
	hasText := false
	err := textstream.EachLine(r, func(line textstream.Line) {
		hasText = hasText || len(line.Text) > 0
		if len(line.Text) > parsed.MaxLine {
			return
		}
		if f, ok := parseGenericLine(textstream.StripANSI(string(line.Text))); ok {
			list.Add(f)
		}
	})

	l := &metric.Lint{Findings: list.Findings()}
	return parsed.Report{Lint: l}, parsed.RequireFound(err, len(l.Findings) > 0 || !hasText, "finding")
}

// parseGenericLine returns the finding of a line. It reports false for any other line.
func parseGenericLine(text string) (metric.Finding, bool) {
	if !placePattern.MatchString(text) {
		return metric.Finding{}, false
	}
	m := genericPattern.FindStringSubmatch(text)
	if m == nil || !isPlausibleFile(m[1]) {
		return metric.Finding{}, false
	}
	f := metric.Finding{Level: metric.Error, File: parsed.ToSlash(m[1]), Message: textstream.CleanText(m[5])}
	f.Line, _ = strconv.Atoi(m[2])   // digits
	f.Column, _ = strconv.Atoi(m[3]) // digits, or "" for none
	if m[4] != "" {
		f.Level = cmp.Or(genericLevels[strings.ToLower(m[4][:1])], metric.Error)
	}
	return f, true
}
