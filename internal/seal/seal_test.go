package seal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/source"
)

const goTests = `package calc

import (
	"strings"
	"testing"
)

func TestPassing(t *testing.T) {}

// TestUpper has a comment.
func TestUpper(t *testing.T) {
	if Upper("a") != strings.ToUpper("a") {
		t.Error("no")
	}
}

func TestDouble(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want int
	}{
		{"one", 1, 2},
		{"two words", 2, 4}, // a comment
		{name: "three", in: 3, want: 6},
		{"zero", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if Double(c.in) != c.want {
				t.Error("no")
			}
		})
	}
}

func TestLast(t *testing.T) { t.Error() }
`

const pythonTests = `import pytest
from calc import double


@pytest.mark.parametrize("n, want", [
    (1, 2),
    (2, 4),
    pytest.param(3, 6, id="three"),
])
def test_table(n, want):
    assert double(n) == want


@pytest.mark.parametrize("n", [1, 2, 3])
def test_short(n):
    assert double(n) == 2 * n


# about plain
@pytest.mark.slow
def test_plain():
    assert double(21) == 42


class TestX:
    def test_m(self):
        assert double(5) == 10

    def test_n(self):
        assert double(6) == 12
`

const scriptTests = `const test = require('node:test');
test('doubles', () => {
  assert.equal(1, 2);
});

describe('group', () => {
  // works
  it('works', () => { expect(1).toBe(2); });

  it.each([[1, 2], [2, 4]])('adds %i to %i', (a, b) => { expect(a).toBe(b); });
});
`

// results returns results of tests; a name that starts with ! failed.
func results(suite string, names ...string) *metric.Tests {
	var out []metric.Test
	for _, n := range names {
		t := metric.Test{ID: metric.ID{Suite: suite, Name: strings.TrimPrefix(n, "!")}, Status: metric.Passed}
		if strings.HasPrefix(n, "!") {
			t.Status = metric.Failed
		}
		if class, name, found := strings.Cut(t.Name, "::"); found {
			t.Class, t.Name = class, name
		}
		out = append(out, t)
	}
	return metric.NewTests(out)
}

var suites = []struct {
	path, text string
	tests      *metric.Tests
}{
	{"calc/calc_test.go", goTests, results("example.com/calc", "TestPassing", "!TestUpper", "!TestDouble", "!TestDouble/one", "!TestDouble/two_words", "!TestDouble/three", "TestDouble/zero", "!TestLast")},
	{"tests/test_calc.py", pythonTests, results("", "!tests.test_calc::test_table[1-2]", "!tests.test_calc::test_table[2-4]", "!tests.test_calc::test_table[three]", "!tests.test_calc::test_short[1]", "!tests.test_calc::test_short[2]", "!tests.test_calc::test_short[3]", "!tests.test_calc::test_plain", "!tests.test_calc.TestX::test_m", "!tests.test_calc.TestX::test_n")},
	{"calc.test.js", scriptTests, results("calc.test.js", "!doubles", "!group works", "!group adds 1 to 2", "!group adds 2 to 4")},
}

// TestUnits names what can be taken out of each file, one part a line.
func TestUnits(t *testing.T) {
	want := map[string]string{
		"calc/calc_test.go": `TestUpper: // TestUpper has a comment. … }
TestDouble/one: {"one", 1, 2},
TestDouble/three: {name: "three", in: 3, want: 6},
TestDouble/two_words: {"two words", 2, 4}, // a comment
TestLast: func TestLast(t *testing.T) { t.Error() }
`,
		"tests/test_calc.py": `test_table[1-2]: (1, 2),
test_table[2-4]: (2, 4),
test_table[three]: pytest.param(3, 6, id="three"),
test_short[1]: 1,
test_short[2]: 2,
test_short[3]: , 3
test_plain: # about plain … assert double(21) == 42
test_m: def test_m(self): … assert double(5) == 10
test_n: def test_n(self): … assert double(6) == 12
`,
		"calc.test.js": `doubles: test('doubles', () => { … });
group works: // works … it('works', () => { expect(1).toBe(2); });
group adds 1 to 2: [1, 2],
group adds 2 to 4: , [2, 4]
`,
	}
	for _, s := range suites {
		var out strings.Builder
		for _, u := range newReported(s.tests).units(Source{File{Path: s.path}, []byte(s.text)}, Rows) {
			for _, id := range u.tests {
				out.WriteString(id.Name + " ")
			}
			lines := strings.Split(strings.TrimSpace(s.text[u.span.From:u.span.To]), "\n")
			text := strings.TrimSpace(lines[0])
			if len(lines) > 1 {
				text += " … " + strings.TrimSpace(lines[len(lines)-1])
			}
			out.WriteString("\b: " + text + "\n")
		}
		if got := strings.ReplaceAll(out.String(), " \b", ""); got != want[s.path] {
			t.Errorf("%s: got\n%s\nwant\n%s", s.path, got, want[s.path])
		}
	}
}

// stored stores a choice, and returns a tree with the original file.
func stored(t *testing.T, r Record, path, text string) (s *Sealed, root string) {
	t.Helper()
	root = t.TempDir()
	files := treecopy.Files{{Path: path, Text: []byte(text)}}
	if err := files.Write(root); err != nil {
		t.Fatal(err)
	}
	s, err := r.Store(t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	return s, root
}

// TestEveryChoiceComesBack seals at random, in each fineness, and restores the file: unchanged, with changes in
// other places, and twice.
func TestEveryChoiceComesBack(t *testing.T) {
	for _, s := range suites {
		for seed := range uint64(12) {
			how := Fineness(seed % 2)
			src := Source{File{Path: s.path, Mode: 0o640}, []byte(s.text)}
			r, err := Choose(s.tests, []Source{src}, Options{Share: float64(1+seed%8) / 10, Seed: seed, How: how})
			if err != nil {
				t.Fatal(s.path, err)
			}
			if n := len(r.Tests); n == 0 || n >= r.Failing {
				t.Fatalf("%s: %d of %d tests are sealed", s.path, n, r.Failing)
			}
			sealed, root := stored(t, r, s.path, s.text)
			name := filepath.Join(root, filepath.FromSlash(s.path))
			if err := sealed.Hide(root); err != nil {
				t.Fatal(err)
			}
			hidden, err := os.ReadFile(name)
			if err != nil || bytes.Equal(hidden, []byte(s.text)) {
				t.Fatalf("%s, seed %d: nothing is hidden, %v", s.path, seed, err)
			}
			if _, err := source.Scan(s.path, hidden); err != nil {
				t.Errorf("%s, seed %d: %v\n%s", s.path, seed, err, hidden)
			}
			for _, change := range []struct{ old, new string }{{}, {"package calc\n", "package calc\n\n// changed\n"}, {"\ntest('doubles'", "\n// changed\ntest('doubles'"}, {"import pytest\n", "import pytest\nimport os\n"}, {"", "\n// changed\n"}} {
				if !bytes.Contains(hidden, []byte(change.old)) {
					continue
				}
				replace := func(text string) string { return strings.Replace(text, change.old, change.new, 1) }
				if change.old == "" { // appended
					replace = func(text string) string { return text + change.new }
				}
				changed := replace(string(hidden))
				if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					out, err := sealed.Restore(root)
					got, _ := os.ReadFile(name)
					if want := replace(s.text); err != nil || string(got) != want || len(out.Kept) > 0 {
						t.Fatalf("%s, seed %d, %v: %v, %v\n%s", s.path, seed, r.Files, out, err, got)
					}
				}
			}
		}
	}
}

// TestRewrittenFilesKeepBoth restores next to files in which the places are gone.
func TestRewrittenFilesKeepBoth(t *testing.T) {
	s := suites[0]
	r, err := Choose(s.tests, []Source{{File{Path: s.path, Mode: 0o600}, []byte(s.text)}}, Options{Share: .9, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"package calc\n", "", goTests[:len(goTests)/2] + "func TestUpper(t *testing.T) {}\nfunc TestLast(t *testing.T) {}\n"} {
		sealed, root := stored(t, r, s.path, text)
		sealed.dir = filepath.Join(t.TempDir(), "sealed")
		again, err := sealed.Record.Store(filepath.Dir(sealed.dir), treecopy.Files{{Path: s.path, Text: []byte(s.text)}})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(root, filepath.FromSlash(s.path))
		if text == "" {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			out, err := again.Restore(root)
			now, _ := os.ReadFile(name)
			kept, _ := os.ReadFile(name + ".sealed")
			if err != nil || string(now) != text || string(kept) != s.text || !slices.Equal(out.Kept, []string{s.path + ".sealed"}) {
				t.Errorf("%q: %v, %v, now %q, kept %q", text, out, err, now, kept)
			}
		}
	}
}

// TestHunks compares the hunks of random cuts with the original.
func TestHunks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var text []byte
		for i := range random.IntN(12) {
			text = fmt.Appendf(text, "line %d%s\n", i, strings.Repeat(" ab", random.IntN(3)))
		}
		text = append(text, "end"...)
		f := File{Path: "x"}
		for range 1 + random.IntN(4) {
			from := random.IntN(len(text))
			f.Cuts = append(f.Cuts, source.Span{From: from, To: from + 1 + random.IntN(min(20, len(text)-from))})
		}
		f.Cuts = joined(f.Cuts)
		sealed, _ := f.apply(text)
		lines, at := splitLines(sealed), 0
		var got []string
		for _, h := range f.hunks(text) {
			got = append(append(got, lines[at:h.from]...), h.text...)
			at = h.to
		}
		if got = append(got, lines[at:]...); strings.Join(got, "") != string(text) {
			t.Fatalf("%v of %q: got %q", f.Cuts, text, strings.Join(got, ""))
		}
	}
}
