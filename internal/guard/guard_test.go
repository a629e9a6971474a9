package guard

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/mutantrun"
	"supervise/metric"
	"supervise/runner"
	"supervise/test/docs"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// docs/guarded.md lists the arid code.
func TestAridRulesAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| arid | for example | languages |\n|---|---|---|\n")
	for _, r := range aridRules {
		langs := "all"
		if len(r.langs) > 0 {
			langs = r.langs[0].String()
		}
		what := r.what
		if len(r.operators) > 0 {
			what += ": no other number"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", what, r.example, langs)
	}
	docs.Block(t, "guarded.md", "arid", "./internal/guard", b.String())
}

// The lines of a file that have mutants are marked.
func TestMutantsOf(t *testing.T) {
	for name, text := range map[string]string{
		"shop.go": `package shop

import "time"

const limit = 3 //*

type Price struct{ n int }

func (p Price) String() string { return text(p.n + 1) }

func (p Price) Of(n int) (int, error) {
	if n < 0 { //*
		return 0, fmt.Errorf("negative: %d", n)
	}
	timeout := 3 * time.Second
	buf := make([]byte, 512)
	time.Sleep(timeout)
	metrics.Inc("orders", n+1)
	defer p.unlock()
	total := n * p.n //*
	if err := p.save(buf); err != nil { //*
		return 0, err
	}
	if total > 1000 { //*
		panic("unreachable")
	}
	return total, nil //*
}
`,
		"shop.py": `import time

class Price:
    def __repr__(self):
        return "Price %d" % (self.n + 1)

    def __hash__(self):
        return self.n + 7

    def of(self, n):
        if n < 0: #*
            raise ValueError("negative") #*
        if n == 7: #*
            raise NotImplementedError
        statsd.incr("orders", n + 1)
        time.sleep(n + 1)
        timeout = 30
        parser.add_argument("--count", default=3)
        return n * self.n #*
`,
		"shop.js": `const TIMEOUT = 30
class Price {
  toString() { return this.n + 1 }
  of(n) {
    if (n < 0) { //*
      throw new Error('negative') //*
    }
    metrics.increment('orders', n + 1)
    setTimeout(() => this.save(n), 100)
    return n * this.n //*
  }
}
`,
	} {
		marked, all := map[int]bool{}, metric.NewLineSet([]metric.Span{{First: 1, Last: 99}})
		for i, line := range strings.Split(text, "\n") {
			marked[i+1] = strings.HasSuffix(line, "*")
		}
		var got []int
		for _, m := range MutantsOf(name, []byte(text), all) {
			got = append(got, m.Line)
			if !marked[m.Line] {
				t.Errorf("%s:%d has a mutant: %s → %s", name, m.Line, m.Original, m.Mutated)
			}
			delete(marked, m.Line)
		}
		for n, is := range marked {
			if is {
				t.Errorf("%s:%d has no mutant: %v", name, n, got)
			}
		}
	}
}

// A line has the same mutant wherever it is.
func TestMutantsMoveWithTheirLines(t *testing.T) {
	const code = "def f(a, b):\n    return a + b if a > 2 and b < 3 else a * b\n"
	all := metric.NewLineSet([]metric.Span{{First: 1, Last: 99}})
	first, moved := MutantsOf("a.py", []byte(code), all), MutantsOf("a.py", []byte("x = 1\n\n"+code), "4-5")
	if len(first) != 1 || len(moved) != 1 || first[0].Mutated != moved[0].Mutated {
		t.Errorf("%+v, %+v", first, moved)
	}
}

// Lines that tests do not run have no mutants; a line that is no statement belongs to the one before.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		in   detector.ChangedLines
		want metric.LineSet
	}{
		{detector.ChangedLines{Changed: "1-9", Lines: "2,4,7", Executed: "2,7"}, "1-3,7-9"},
		{detector.ChangedLines{Changed: "3,8-9", Lines: "3,8"}, ""},
		{detector.ChangedLines{Changed: "3,8-9", Unknown: "coverage is not measured"}, "3,8-9"},
	} {
		if got := Lines(tt.in); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.in, got, tt.want)
		}
	}
}

// A failure with a line of the code in its stack trace is a crash; one that a test reports is not.
func TestCrash(t *testing.T) {
	r := &trialRun{Trial: Trial{Lines: map[string]metric.LineSet{"src/price.py": "1", "pkg/price.go": "1", "src/lib.rs": "1"}}}
	inline := "fn f() -> i32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert_eq!(super::f(), 1);\n    }\n}\n"
	m := &mutant{Mutant: mutantrun.Mutant{Source: []byte(inline)}}
	m.File = "src/lib.rs"
	for message, want := range map[string]bool{
		"AttributeError: no attribute\ntest_price.py:6: \n\nprice.py:6: AttributeError":                 true,
		"  File \"/tmp/x/src/price.py\", line 6, in of\nZeroDivisionError":                              true,
		"   at Shop.Price.Of(Int32 n) in /tmp/x/src/price.py:line 6":                                    true,
		"panic: runtime error: index out of range\n\t/tmp/x/pkg/price.go:6 +0x1d":                       true,
		"thread 't' panicked at src/lib.rs:2:5:\nattempt to divide by zero":                             true,
		"thread 'tests::t' panicked at src/lib.rs:9:9:\nassertion `left == right` failed":               false,
		"assert 3 == 4\ntest_price.py:6: AssertionError":                                                false,
		"    price_test.go:12: got 3, want 4":                                                           false,
		"AssertionError [ERR_ASSERTION]: 3 !== 4\n    at Context.<anonymous> (test/price.test.js:6:10)": false,
	} {
		if got := r.isCrash(m, message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

// A finding names some of the survivors and all their files.
func TestUnguarded(t *testing.T) {
	m := &ledger.ChangeMutants{Mutants: 9}
	if x := unguarded(m); x != nil {
		t.Errorf("%+v", x)
	}
	for i, file := range []string{"a.go", "a.go", "b.go", "b.go", "c.go"} {
		m.Survivors = append(m.Survivors, ledger.ChangeSurvivor{Survivor: detector.Survivor{File: file, Line: i, Operator: "op", Original: "x", Mutated: "y"}})
	}
	x := unguarded(m)
	if want := "No test notices 5 of 9 mutants of changed lines: a.go:0 op: x → y; a.go:1 op: x → y; b.go:2 op: x → y; and 2 more"; x.Why != want || len(x.Files) != 3 {
		t.Errorf("%+v", x)
	}
}

// These functions compare values; others only look like it.
func TestIsEquality(t *testing.T) {
	for name, want := range map[string]bool{
		"Money.__eq__": true, "Money::eq": true, "Money.equals": true, "Money.Equal": true, "operator==": true, "Money#==": true, "Money.compareTo": true, "is_close": true,
		"sequence": false, "Money.equalize": false, "Money.of": false, "": false,
	} {
		if isEquality(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
