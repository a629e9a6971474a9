package linttext

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/reviewdog/errorformat"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// genericForms are the lines that most compilers and linters print, in the
// notation of Vim's errorformat; the first that fits counts.
var genericForms = []string{
	`%f:%l:%c: fatal %trror: %m`, `%f:%l:%c: %trror: %m`, `%f:%l:%c: %tarning: %m`, `%f:%l:%c: %tote: %m`, `%f:%l:%c: %tnfo: %m`,
	`%f:%l:%c: %m`,
	`%f:%l: fatal %trror: %m`, `%f:%l: %trror: %m`, `%f:%l: %tarning: %m`, `%f:%l: %tote: %m`, `%f:%l: %tnfo: %m`,
	`%f:%l: %m`,
}

var genericLevels = map[string]metric.Level{"w": metric.Warning, "n": metric.Note, "i": metric.Note}

// couldBePlace is a cheap look before the forms are tried.
var couldBePlace = regexp.MustCompile(`^[^\s:].*?:\d{1,9}:(\d{1,9}:)? \S`)

func detectErrorformat(h sniff.Head) bool {
	return !bytes.HasPrefix(h.Text, []byte("mode: ")) && h.Line(func(l string) bool {
		m := couldBePlace.FindString(l)
		return m != "" && plausibleFile(l[:strings.IndexByte(l[1:], ':')+1])
	})
}

// plausibleFile keeps times, addresses and log prefixes from being read as the
// names of files.
func plausibleFile(name string) bool {
	return strings.ContainsFunc(name, unicode.IsLetter) && strings.ContainsAny(name, `./\`) &&
		!strings.Contains(name, "://") && !strings.ContainsAny(name, "\"<>|*?{}=")
}

// parseErrorformat reads any text in which lines name a file, a line and
// perhaps a column. All other lines are passed over.
func parseErrorformat(r io.Reader) (parsed.Report, error) {
	forms, err := errorformat.NewErrorformat(genericForms)
	if err != nil {
		return parsed.Report{}, fmt.Errorf("compile error formats: %w", err)
	}
	var list parsed.Packed
	text := false
	err = textstream.EachLine(r, func(line textstream.Line) {
		text = text || len(line.Text) > 0
		if len(line.Text) > parsed.MaxLine {
			return
		}
		text := textstream.StripANSI(string(line.Text))
		if !couldBePlace.MatchString(text) {
			return
		}
		if f, ok := genericFinding(forms, text); ok {
			list.Add(f)
		}
	})
	l := &metric.Lint{Findings: list.Findings()}
	return parsed.Report{Lint: l}, parsed.NothingFound(err, len(l.Findings) > 0 || !text, "finding")
}

func genericFinding(forms *errorformat.Errorformat, text string) (metric.Finding, bool) {
	for i, form := range forms.Efms {
		if !strings.Contains(text, levelWord(genericForms[i])) {
			continue
		}
		m := form.Match(text)
		if m == nil || !plausibleFile(m.F) {
			continue
		}
		f := metric.Finding{Level: metric.Error, File: parsed.Slashed(m.F), Line: m.L, Column: m.C, Message: textstream.CleanText(m.M)}
		if l, ok := genericLevels[strings.ToLower(string(rune(m.T)))]; ok {
			f.Level = l
		}
		return f, true
	}
	return metric.Finding{}, false
}

// levelWord is what a line has that fits a form with a level: the letters of "rror" in
// "%f:%l: %trror: %m". Trying the form takes much longer.
func levelWord(form string) string {
	_, word, _ := strings.Cut(form, "%t")
	word, _, _ = strings.Cut(word, " ")
	return word
}
