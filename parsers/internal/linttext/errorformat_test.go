package linttext

import (
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/reviewdog/errorformat"
)

// Lines of unknown tools are read as if the forms were tried on all of the line.
func TestPlacesAreThoseOfTheForms(t *testing.T) {
	forms, err := errorformat.NewErrorformat(genericForms)
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`^[^\s:].*?:\d{1,9}:(?:\d{1,9}:)? \S`)
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
		at := place.FindStringIndex(line)
		end := indexAfterPlace(line)
		if at == nil != (end == 0) || at != nil && !strings.HasPrefix(line[end:], strings.TrimLeft(line[end-1:at[1]], " ")) {
			t.Fatalf("%q: a message at %d, by the expression %v", line, end, at)
		}
		if end == 0 {
			continue
		}
		got, ok := parseGenericLine(forms, line, end)
		want, matches := parseGenericLine(forms, line, len(line))
		if got != want || ok != matches {
			t.Fatalf("%q: %+v %v, of all of it %+v %v", line, got, ok, want, matches)
		}
		if ok {
			found++
		}
	}
	if found < 500 {
		t.Errorf("%d found in %d lines", found, len(lines))
	}
}
