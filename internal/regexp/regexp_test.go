package regexp

import (
	"regexp"
	"testing"
)

// A broken expression must fail in the tests of the package that has it, not at its
// first use.
func TestBrokenAtOnceInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a broken expression was accepted")
		}
	}()
	MustCompile(`(`)
}

func TestCompile(t *testing.T) {
	if _, err := Compile(`(`); err == nil {
		t.Error("a broken expression was accepted")
	}
	r, err := Compile(`a(b)`)
	if err != nil {
		t.Fatal(err)
	}
	if !r.MatchString("xab") || r.String() != `a(b)` {
		t.Errorf("got %v", r)
	}
}

// An expression works the same whether it was compiled before its first use or at it.
func TestLateCompilationGivesTheSame(t *testing.T) {
	r := &Regexp{text: `(\w)=(\d)`}
	want := regexp.MustCompile(r.text)
	if got := r.ReplaceAllString("a=1 b=2", "$2"); got != want.ReplaceAllString("a=1 b=2", "$2") {
		t.Errorf("got %q", got)
	}
	if got := r.FindStringSubmatch("a=1"); len(got) != 3 || got[1] != "a" {
		t.Errorf("got %q", got)
	}
}
