package main

import (
	"math"
	"strings"
	"testing"

	"supervise/bench/internal/stats"
	"supervise/bench/tamper/internal/corpus"
	"supervise/bench/tamper/internal/mutate"
)

// Every generated project has tests that are found, and every mutator applies
// somewhere: a mutator that never applies would be left out of the rates unseen.
func TestEveryMutatorApplies(t *testing.T) {
	chk := newChecker()
	defer chk.close()
	applied := map[int]int{}
	for _, p := range tinyProjects() {
		b := p.bases[0]
		if n := len(b.TestsOf(b.Tests[0])); n < len(tinyCases) {
			t.Errorf("%s: %d tests found, want %d", p.name, n, len(tinyCases))
		}
		for _, m := range mutate.All {
			out := p.positives(m, mutate.Variants[0], settings{samples: 1, seed: 1}, chk)
			applied[m.ID] += len(out)
			for _, o := range out {
				if o.diff == "" && !m.RemovesFile {
					t.Errorf("%s: mutator %d changes nothing", p.name, m.ID)
				}
			}
		}
	}
	// Snapshots are in no generated project, and widen needs a tolerance.
	for _, m := range mutate.All {
		if applied[m.ID] == 0 && m.ID != 31 {
			t.Errorf("mutator %d %s applies nowhere", m.ID, m.Name)
		}
	}
}

func TestMutantsAreTheSameForASeed(t *testing.T) {
	chk := &checker{}
	run := func(seed uint64) string {
		var all strings.Builder
		for _, p := range tinyProjects()[:3] {
			for _, m := range mutate.All {
				for _, o := range p.positives(m, mutate.Variants[2], settings{samples: 1, seed: seed}, chk) {
					all.WriteString(o.diff)
				}
			}
		}
		return all.String()
	}
	once := run(1)
	if again := run(1); once != again {
		t.Error("the same seed gave other mutants")
	}
	if once == run(2) {
		t.Error("another seed gave the same mutants")
	}
}

func TestFindTests(t *testing.T) {
	src := "class TestX:\n    @mark(\n        1,\n    )\n    def test_a(self):\n        x = f(\n            1)\n        assert x == 2\n\n    def helper(self):\n        pass\n\n    def test_b(self): pass\n"
	got := corpus.FindTests("tests/test_x.py", []byte(src))
	if len(got) != 1 {
		t.Fatalf("%d tests, want the one that has a body of its own", len(got))
	}
	if got[0].Name != "test_a" || got[0].Start != 1 || got[0].End != 7 {
		t.Errorf("got %s, lines %d to %d", got[0].Name, got[0].Start, got[0].End)
	}
	if a := got[0].Assertions(); len(a) != 1 || a[0].From != 7 {
		t.Errorf("assertions %v", a)
	}
}

func TestArgs(t *testing.T) {
	list, before, after, ok := corpus.Args(`  assertEquals("a, b", f(1, 2)); // x`, "assertEquals")
	if !ok || len(list) != 2 || list[0] != `"a, b"` || list[1] != "f(1, 2)" || before != "  " || after != "; // x" {
		t.Errorf("%q %q %q %v", list, before, after, ok)
	}
}

func TestStats(t *testing.T) {
	// Newcombe 1998: 15 of 148 gives 0.0624 to 0.1605.
	low, high := stats.Share{K: 15, N: 148}.Wilson()
	if math.Abs(low-.0624) > 5e-4 || math.Abs(high-.1605) > 5e-4 {
		t.Errorf("%.4f to %.4f", low, high)
	}
	// Nine of ten found at 2 %, one false in a hundred: 0.0098/(0.0098+0.018).
	if got := falseDiscovery(.9, .01, .02); math.Abs(got-.3525) > 1e-3 {
		t.Errorf("false discovery %.4f", got)
	}
	if !math.IsNaN((stats.Share{}).Rate()) {
		t.Error("nothing measured is no rate")
	}
}

func TestChangedLiteral(t *testing.T) {
	for in, want := range map[string]string{`"ab"`: `"abx"`, "7": "8", "19": "110", "2.5": "2.6", "'q'": "'qx'"} {
		if got := mutate.ChangedLiteral(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestParseLists(t *testing.T) {
	f, err := parse([]string{"-samples", "3", "-tune", "a", "b", "-report", "c", "-json", "-mutators", "0,3-5"})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.tune) != 2 || len(f.report) != 1 || !f.asJSON || f.set.samples != 3 || !f.set.only[4] || f.set.only[6] {
		t.Errorf("%+v", f)
	}
	if _, err := parse([]string{"-mutators", "43", "a"}); err == nil {
		t.Error("mutator 43 was taken")
	}
}

// A change that nothing was done to is no change.
func TestChangedDropsWhatIsTheSame(t *testing.T) {
	b := &corpus.Tree{Paths: []string{"a.py"}, Mem: map[string][]byte{"a.py": []byte("x\n")}}
	if got := corpus.Changed(b, []corpus.Edit{{Path: "a.py", After: []byte("x\n")}}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	got := corpus.Changed(b, []corpus.Edit{{Path: "a.py", After: []byte("y\n")}, {Path: "b/a.py", From: "a.py", After: []byte("y\n")}})
	if len(got) != 2 || got[1].OldPath != "a.py" || string(got[1].Before) != "x\n" {
		t.Errorf("%+v", got)
	}
}
