package textstream_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"supervise/internal/textstream"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", textstream.MaxLine+7)
	var got []string
	err := textstream.EachLine(strings.NewReader("a\r\n\nb c\n"+long+"\nend"), func(l textstream.Line) {
		got = append(got, fmt.Sprintf("%d@%d %v %v %d", l.Number, l.Offset, l.Complete, l.Long, len(l.Text)))
	})
	want := fmt.Sprintf("1@0 true false 1,2@3 true false 0,3@4 true false 3,4@8 true true %d,5@%d false false 3", textstream.MaxLine, 8+len(long)+1)
	if s := strings.Join(got, ","); s != want || err != nil {
		t.Errorf("lines %s, error %v; want %s", s, err, want)
	}
	broken := errors.New("broken")
	if err := textstream.EachLine(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), func(textstream.Line) {}); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the source", err)
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct{ in, text, name string }{
		{"plain", "plain", "plain"},
		{"\x1b[31mred\x1b[0m \x1b(Bx", "red x", "red x"},
		{"a\x00b\tc\n", "ab\tc", "a\uFFFDb\uFFFDc\uFFFD"},
		{"\xff", "\uFFFD", "\uFFFD"},
		{"é\u0085", "é", "é\uFFFD"},
	} {
		if text, name := textstream.CleanText(tt.in), textstream.CleanName(tt.in); text != tt.text || name != tt.name {
			t.Errorf("%q: text %q, name %q; want %q and %q", tt.in, text, name, tt.text, tt.name)
		}
	}
}

// A clip keeps the beginning and the end of a text of any length.
func TestClip(t *testing.T) {
	var c textstream.Clip
	if !c.Empty() || c.String() != "" {
		t.Error("a new one is not empty")
	}
	c.Add("begin ")
	for range 1 << 20 {
		c.Add("middle ")
	}
	c.Add("end")
	if s := c.String(); len(s) > 9<<10 || !strings.HasPrefix(s, "begin middle") || !strings.HasSuffix(s, "middle end") || !strings.Contains(s, "[…]") {
		t.Errorf("%d bytes: %.20q … %q", len(s), s, s[len(s)-20:])
	}
	if s := textstream.ClipText(" short "); s != "short" {
		t.Errorf("clipped %q", s)
	}
}

func TestProblems(t *testing.T) {
	var p textstream.Problems
	if p.All() != nil {
		t.Error("there are problems at the beginning")
	}
	for i := range 25 {
		p.Add("problem %d", i)
	}
	if all := p.All(); len(all) != 21 || all[0] != "problem 0" || all[20] != "and 5 more problems of this report" {
		t.Errorf("problems %q", all)
	}
}
