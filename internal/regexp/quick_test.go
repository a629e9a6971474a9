package regexp

import (
	"math/rand"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// expressions cover all the ways to begin, and all kinds of content.
var expressions = []string{
	`\bcatch\s*(?:\([^)]*\))?\s*\{\s*(?:return;?)?\s*\}`,
	`(?m)^[ \t]*except(?:[ \t]+\w+)?[ \t]*:\s*(?:pass|return)[ \t]*(?:\n|$)`,
	`(?m)^[ \t]*(?:Kernel\.)?exit!|(?m)^[ \t]*(?:Kernel\.)?exit[ \t]*$`,
	`(?m)^[ \t]*rescue\b[^\n]*\n(?:[ \t]*nil[ \t]*\n)*[ \t]*end\b`,
	`(?m)^(?:RSpec\.)?(?:it|describe)\b[^\n]*,\s*:skip\b`,
	`\bdefer func\(\)|\bif r := recover\(\); r != nil`,
	`\blet\s+_\w*\s*=\s*catch_unwind\b`,
	`(?:^|[\s;{])pending\(`, `pending\($`, `^pending`, `(?m)^pending$`,
	`noqa\b|type:\s*ignore\b|no\s*cover`,
	`(?i)skip|kind_of|matches?`, `(?i)istrue\(`, `(?i:ab)cd`, `(?i)[sk]kip`,
	`[Tt]rue|x{2,3}y|(?:ab)+c`, `a*`, `\w+`, `x?`, `(?s)a.*b`, `\Bskip`, `skip\B`, `é\w`, `(?m)\s+skip$`,
	`\bskip\(|\bskipif\(`, `\.(?:skip|todo)\b`, `["'\x60]skip`,
}

var fragments = []string{
	"catch", " ", "(", ")", "{", "}", "return;", "\n", "\t", "except", ":", "pass", "Kernel.", "exit", "!", "rescue", "nil", "end", "RSpec.", "it",
	"describe", ",", ":skip", "defer func()", "if r := recover(); r != nil", "let _x = ", "catch_unwind", "pending(", "pending", ";", "noqa", "type: ignore",
	"no  cover", "Skip", "SKIP", "\u017fkip", "s\u212aip", "Kind_Of", "IsTrue(", "AbCD", "abcd", "true", "True", "xx", "xxy", "ababc", "é", "x", "\xff", "\xc3",
	"skip", "skipif(", ".todo", "`", "'", "a", "b", "\r\n",
}

// Every expression finds in every text what the standard package finds.
func TestSameAsRegexp(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine compares results")
	}
	random := rand.New(rand.NewSource(1))
	for _, expr := range append(expressions, `(?m)^[ \t]*(x|skip(\()?)[ab]*(\n)?`, `(a)?skip(\.todo)?`) {
		got, want := MustCompile(expr), regexp.MustCompile(expr)
		for range 60 {
			var b strings.Builder
			for range random.Intn(160) {
				b.WriteString(fragments[random.Intn(len(fragments))])
			}
			same(t, got, want, b.String())
		}
	}
}

func same(t *testing.T, got *Regexp, want *regexp.Regexp, text string) {
	t.Helper()
	b := []byte(text)
	for _, n := range []int{-1, 1, 2} {
		equal(t, want, text, got.FindAllIndex(b, n), want.FindAllIndex(b, n))
		equal(t, want, text, got.FindAllSubmatchIndex(b, n), want.FindAllSubmatchIndex(b, n))
	}
	equal(t, want, text, got.Match(b), want.Match(b))
	equal(t, want, text, got.MatchString(text), want.MatchString(text))
	equal(t, want, text, got.Find(b), want.Find(b))
	equal(t, want, text, got.FindString(text), want.FindString(text))
	equal(t, want, text, got.FindStringIndex(text), want.FindStringIndex(text))
	equal(t, want, text, got.FindKnown(text), want.FindStringSubmatchIndex(text))
	equal(t, want, text, got.FindSubmatch(b), want.FindSubmatch(b))
	equal(t, want, text, got.FindStringSubmatch(text), want.FindStringSubmatch(text))
	equal(t, want, text, got.FindAll(b, -1), want.FindAll(b, -1))
	equal(t, want, text, got.FindAllString(text, -1), want.FindAllString(text, -1))
	equal(t, want, text, got.FindAllSubmatch(b, -1), want.FindAllSubmatch(b, -1))
	equal(t, want, text, got.FindAllStringSubmatch(text, 2), want.FindAllStringSubmatch(text, 2))
	equal(t, want, text, got.ReplaceAllString(text, "<$0>"), want.ReplaceAllString(text, "<$0>"))
}

func equal(t *testing.T, re *regexp.Regexp, text string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s in %q: got %v, want %v", re, text, got, want)
	}
}

func FuzzFindAllIndex(f *testing.F) {
	for _, expr := range expressions {
		f.Add(expr, strings.Join(fragments, " ")+strings.Join(fragments, ""))
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		want, err := regexp.Compile(expr)
		if err != nil {
			return
		}
		same(t, MustCompile(expr), want, text)
	})
}

// The needs of an expression make it quick, so they must be found.
func TestNeedsAreFound(t *testing.T) {
	for expr, want := range map[string]string{
		`\bcatch\s*\(`:                   "catch",
		`(?:skip|todo)\s*:\s*x`:          "skip todo",
		`\bit\.(?:only|skip)\b`:          "it.only it.skip",
		`\w+\.Skipf?\(`:                  ".Skip( .Skipf(",
		`(?i)\bIsTrue\(`:                 "true(",
		`let\s+_\w*\s*=\s*catch_unwind`:  "catch_unwind",
		`a|b*`:                           "",
		`noqa\b|type:\s*ignore|no\s*co+`: "ignore no noqa",
	} {
		if got := strings.Join(MustCompile(expr).filter.required, " "); got != want {
			t.Errorf("%s needs %q, not %q", expr, got, want)
		}
	}
}

// Tries that each read to the end take no longer than one search of the text.
func TestManyTriesAreGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it looks for time and memory, not for races")
	}
	for expr, part := range map[string]string{
		`\bcatch\([^)]*\)`:               "catch(",
		`(?m)^[ \t]*except[^:]*:`:        "except\n",
		`(?m)^[ \t]*except[^:\n]*: pass`: "except ",
	} {
		r := MustCompile(expr)
		text := []byte(strings.Repeat(part, 1<<20/len(part)))
		if found := r.FindAllIndex(text, -1); found != nil {
			t.Errorf("%s found %v", expr, found[0])
		}
		if s := r.filter; s.prefixes == nil {
			t.Errorf("%s: no lead", expr)
		}
	}
}

// BenchmarkFindAllIndex looks for handlers that drop errors, in a text where some lines
// begin like one, with the standard package and with this one.
func BenchmarkFindAllIndex(b *testing.B) {
	text := []byte(strings.Repeat(strings.Repeat("    total = add(total, item.price) + 1\n", 60)+"    except ValueError as e:\n        raise\n", 100))
	const expr = `(?m)^[ \t]*except(?:[ \t]+\(?[\w., ]*\b(?:Exception|AssertionError)\b[\w., ]*\)?)?[ \t]*:\s*(?:pass|return)[ \t]*(?:\n|$)`
	for name, find := range map[string]func([]byte, int) [][]int{
		"standard": regexp.MustCompile(expr).FindAllIndex, "ours": MustCompile(expr).FindAllIndex,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if found := find(text, -1); found != nil {
					b.Fatal(found)
				}
			}
		})
	}
}
