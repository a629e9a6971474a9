package linttext

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/reviewdog/errorformat"

	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// genericForms describes the lines that genericPattern matches in the notation of Vim's
// errorformat. The first match counts.
var genericForms = []string{
	`%f:%l:%c: fatal %trror: %m`, `%f:%l:%c: %trror: %m`, `%f:%l:%c: %tarning: %m`, `%f:%l:%c: %tote: %m`, `%f:%l:%c: %tnfo: %m`,
	`%f:%l:%c: %m`,
	`%f:%l: fatal %trror: %m`, `%f:%l: %trror: %m`, `%f:%l: %tarning: %m`, `%f:%l: %tote: %m`, `%f:%l: %tnfo: %m`,
	`%f:%l: %m`,
}

// parseByForms parses a line with a place as errorformat does.
func parseByForms(forms *errorformat.Errorformat, text string) (metric.Finding, bool) {
	if !placePattern.MatchString(text) {
		return metric.Finding{}, false
	}
	for _, form := range forms.Efms {
		m := form.Match(text)
		if m == nil || !isPlausibleFile(m.F) {
			continue
		}
		f := metric.Finding{Level: metric.Error, File: parsed.ToSlash(m.F), Line: m.L, Column: m.C, Message: textstream.CleanText(m.M)}
		if l, ok := genericLevels[strings.ToLower(string(rune(m.T)))]; ok {
			f.Level = l
		}
		return f, true
	}
	return metric.Finding{}, false
}

// Lines of unknown tools are read as by Vim's errorformat.
func TestPlacesAreThoseOfTheForms(t *testing.T) {
	forms, err := errorformat.NewErrorformat(genericForms)
	if err != nil {
		t.Fatal(err)
	}
	lines, random := capturedLines(t), rand.New(rand.NewSource(1))
	fragments := []string{"a/b.c", ":", ":1", ":12:", ": ", " ", "1234567890", `\ `, "error: ", "fatal error: ", "Warning: ", "m", "é", "\t", "\xff", "C:", "x.y:3:4: note: ", "://"}
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.Intn(9) {
			b.WriteString(fragments[random.Intn(len(fragments))])
		}
		lines = append(lines, b.String())
	}
	found := 0
	for _, line := range lines {
		got, ok := parseGenericLine(line)
		want, matches := parseByForms(forms, line)
		if got != want || ok != matches {
			t.Fatalf("%q: %+v %v, by the forms %+v %v", line, got, ok, want, matches)
		}
		if ok {
			found++
		}
	}
	if found < 500 {
		t.Errorf("%d found in %d lines", found, len(lines))
	}
}
