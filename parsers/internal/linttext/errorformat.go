package linttext

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/reviewdog/errorformat"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// genericForms describes the lines that most compilers and linters print, in the notation of
// Vim's errorformat: %f is the file, %l the line, %c the column, %m the message, and %t one
// letter that is the type, so that %trror matches "error". The first match counts. For example,
// "a.x:3:2: error: unknown name" has the second form.
var genericForms = []string{
	`%f:%l:%c: fatal %trror: %m`, `%f:%l:%c: %trror: %m`, `%f:%l:%c: %tarning: %m`, `%f:%l:%c: %tote: %m`, `%f:%l:%c: %tnfo: %m`,
	`%f:%l:%c: %m`,
	`%f:%l: fatal %trror: %m`, `%f:%l: %trror: %m`, `%f:%l: %tarning: %m`, `%f:%l: %tote: %m`, `%f:%l: %tnfo: %m`,
	`%f:%l: %m`,
}

// genericLevels maps the letter of %t in lower case. Lines with any other letter, or none, are
// errors.
var genericLevels = map[string]metric.Level{"w": metric.Warning, "n": metric.Note, "i": metric.Note}

// indexAfterPlace returns the index of the message after a place, and 0 if there is none. In
// "a.x:3:2: unknown name" it is the index of "unknown". It does the same as the expression
//
//	^[^\s:].*?:\d{1,9}:(\d{1,9}:)? \S
//
// and is a cheap check before the forms are tried.
func indexAfterPlace(s string) int {
	if s == "" || s[0] == ':' || isSpace(s[0]) {
		return 0
	}
	for at := 1; ; at++ {
		next := strings.IndexByte(s[at:], ':')
		if next < 0 {
			return 0
		}
		at += next
		end := indexAfterNumber(s, at+1)
		if end == 0 {
			continue
		}
		if column := indexAfterNumber(s, end); column > 0 {
			end = column
		}
		if end+1 < len(s) && s[end] == ' ' && !isSpace(s[end+1]) {
			return end + 1
		}
	}
}

// indexAfterNumber returns the index after a number of up to nine digits and a colon, 0 for
// anything else.
func indexAfterNumber(s string, from int) int {
	at := from
	for at < len(s) && '0' <= s[at] && s[at] <= '9' {
		at++
	}
	if at == from || at-from > 9 || at == len(s) || s[at] != ':' {
		return 0
	}
	return at + 1
}

func isSpace(c byte) bool { return strings.IndexByte(" \t\n\f\r", c) >= 0 }

// detectErrorformat reports whether the head has a line with a place. A Go coverage profile,
// which starts with "mode: ", has such lines as well.
func detectErrorformat(h sniff.Head) bool {
	return !bytes.HasPrefix(h.Text, []byte("mode: ")) && h.MatchesLine(func(l string) bool {
		return indexAfterPlace(l) > 0 && isPlausibleFile(l[:strings.IndexByte(l[1:], ':')+1])
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
	forms, err := errorformat.NewErrorformat(genericForms)
	if err != nil {
		return parsed.Report{}, fmt.Errorf("compile error formats: %w", err)
	}
	var list parsed.PackedFindings
	text := false
	err = textstream.EachLine(r, func(line textstream.Line) {
		text = text || len(line.Text) > 0
		if len(line.Text) > parsed.MaxLine {
			return
		}
		text := textstream.StripANSI(string(line.Text))
		if at := indexAfterPlace(text); at > 0 {
			if f, ok := parseGenericLine(forms, text, at); ok {
				list.Add(f)
			}
		}
	})

	l := &metric.Lint{Findings: list.Findings()}
	return parsed.Report{Lint: l}, parsed.RequireFound(err, len(l.Findings) > 0 || !text, "finding")
}

// parseGenericLine parses a line whose message starts at an index or later. It reports false if
// no form matches, or if the name before the place cannot be a file. The forms are tried on the
// start of the line, since they are slow for long messages.
func parseGenericLine(forms *errorformat.Errorformat, text string, message int) (metric.Finding, bool) {
	begin := text[:min(len(text), message+len("fatal warning: x"))]
	place, _, _ := strings.Cut(text, " ")
	column := endsWithColumn(place) || strings.HasSuffix(place, `\`)
	for i, form := range forms.Efms {
		if !column && strings.HasPrefix(genericForms[i], "%f:%l:%c") || !strings.Contains(begin, formLevels[i]) {
			continue
		}

		m := form.Match(begin)
		if m == nil || !isPlausibleFile(m.F) {
			continue
		}
		f := metric.Finding{Level: metric.Error, File: parsed.ToSlash(m.F), Line: m.L, Column: m.C, Message: textstream.CleanText(m.M + text[len(begin):])}
		if l, ok := genericLevels[strings.ToLower(string(rune(m.T)))]; ok {
			f.Level = l
		}
		return f, true
	}
	return metric.Finding{}, false
}

// endsWithColumn reports whether a place ends in two numbers.
func endsWithColumn(place string) bool {
	for range 2 {
		rest := strings.TrimRight(strings.TrimSuffix(place, ":"), "0123456789")
		if len(place)-len(rest) < 2 {
			return false
		}
		place = rest
	}
	return strings.HasSuffix(place, ":")
}

// formLevels has the text that a line with the level of a form contains: "rror:" of
// "%f:%l: %trror: %m". It is checked first, since trying a form takes much longer.
var formLevels = func() []string {
	out := make([]string, len(genericForms))
	for i, form := range genericForms {
		_, word, _ := strings.Cut(form, "%t")
		out[i], _, _ = strings.Cut(word, " ")
	}
	return out
}()
