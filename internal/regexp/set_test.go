package regexp

import (
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fullTexts are expressions for fullTexts texts; no set has boundaries of words or lines.
var fullTexts = []string{
	`(?:[A-Za-z]:)?[^\s:]+:(\d{1,9}):\d+: .*?`, `\s+\d+:\d+\s+(?i:error|warning)\s+.*`, `(?i:skip|Kind)`, `é\w`, `[×✖!i] .*`, `a*`, ``, `(?s:.)*`, `.*`,
	`skip.*\[[A-Z]+\d*\]`, `[^k]*`, `(?i:[k-s])+`, `x{2,3}y?`, `^pass$|^nil`, `\x{FFFD}+`,
}

func matchesWhole(exprs []string, text string) []int {
	var want []int
	for i, expr := range exprs {
		if regexp.MustCompile(`\A(?:` + expr + `)\z`).MatchString(text) {
			want = append(want, i)
		}
	}
	return want
}

// A set finds in every text the expressions that match it alone.
func TestSetFindsWhatEachExpressionFinds(t *testing.T) {
	random, set := rand.New(rand.NewSource(1)), NewSet(fullTexts)
	parts := append(slices.Clone(fragments), "a.c:1:2: ", "12", "error", "ſ", "K", "✖ ", "[SC", "]", "x", "x", "y")
	found := 0
	for range 3000 {
		var b strings.Builder
		for range random.Intn(8) {
			b.WriteString(parts[random.Intn(len(parts))])
		}
		got, ok := set.Match(b.String())
		if want := matchesWhole(fullTexts, b.String()); !ok || !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", b.String(), got, want)
		}
		found += len(got)
	}
	if found < 3000 {
		t.Errorf("only %d matches", found)
	}
}

func FuzzSet(f *testing.F) {
	set := NewSet(fullTexts)
	for _, text := range fragments {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := set.Match(text); ok && !slices.Equal(got, matchesWhole(fullTexts, text)) {
			t.Errorf("%q: got %v", text, got)
		}
	})
}

// A text that needs a new state with each character is given back, and the memory for
// states stays bounded.
func TestSetGivesUp(t *testing.T) {
	set, random := NewSet([]string{`[ab]*a[ab]{15}c?`}), rand.New(rand.NewSource(1))
	gave := false
	for range 2000 {
		text := make([]byte, 200)
		for i := range text {
			text[i] = "ab"[random.Intn(2)]
		}
		got, ok := set.Match(string(text))
		if gave = gave || !ok; ok && (len(got) == 1) != (text[len(text)-16] == 'a') {
			t.Fatalf("%s: got %v", text, got)
		}
	}
	if len(set.states) > maxStates+200 || !gave {
		t.Errorf("%d states after %d were made, gave up: %v", len(set.states), set.madeStates, gave)
	}
}

func TestSetRefusesBoundaries(t *testing.T) {
	for _, expr := range []string{`\ba`, `(?m)^a`, `(?m)a$`, `(`} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", expr)
				}
			}()
			NewSet([]string{expr})
		}()
	}
}
