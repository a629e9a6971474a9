package facts

import (
	"fmt"
	"strings"
	"testing"
)

func TestHunksOf(t *testing.T) {
	text := func(s string) []Line { return SplitLines([]byte(strings.Join(strings.Split(s, ""), "\n"))) }
	long := func(word string) string { return strings.Repeat(word, maxEdits) }
	for _, tt := range []struct{ was, is, want string }{
		{"abc", "abc", "[]"},
		{"", "ab", "[{[0 0] [0 2]}]"},
		{"ab", "", "[{[0 2] [0 0]}]"},
		{"abc", "axc", "[{[1 2] [1 2]}]"},
		{"abcd", "acd", "[{[1 2] [1 1]}]"},
		{"abcabc", "xabcabcy", "[{[0 0] [0 1]} {[6 6] [7 8]}]"},
		{"aaba", "aacaba", "[{[2 2] [2 4]}]"},
		{"abcde", "axcye", "[{[1 2] [1 2]} {[3 4] [3 4]}]"},
		{"a" + long("b") + "c", "a" + long("d") + "c", "[{[1 1001] [1 1001]}]"}, // too much to be compared
	} {
		if got := fmt.Sprint(DiffLines(text(tt.was), text(tt.is))); got != tt.want {
			t.Errorf("%.20s → %.20s: %s, want %s", tt.was, tt.is, got, tt.want)
		}
	}
}

// FuzzHunksOf: the hunks, put one after another with what is the same, are both texts.
func FuzzHunksOf(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("a\na\nb\na", "a\nb\na\na\nb")
	f.Fuzz(func(t *testing.T, was, is string) {
		a, b := SplitLines([]byte(was)), SplitLines([]byte(is))
		i, j := 0, 0
		for _, h := range append(DiffLines(a, b), hunk{[2]int{len(a), len(a)}, [2]int{len(b), len(b)}}) {
			if h.Before[0]-i != h.After[0]-j {
				t.Fatalf("between the hunks %d and %d lines", h.Before[0]-i, h.After[0]-j)
			}
			for ; i < h.Before[0]; i, j = i+1, j+1 {
				if a[i].Text != b[j].Text {
					t.Fatalf("line %d is %q, line %d %q", i, a[i].Text, j, b[j].Text)
				}
			}
			i, j = h.Before[1], h.After[1]
		}
		if i != len(a) || j != len(b) {
			t.Fatalf("ended at %d of %d, %d of %d", i, len(a), j, len(b))
		}
	})
}
