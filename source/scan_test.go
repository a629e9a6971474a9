package source

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestScan compares with lines and complexities counted manually.
func TestScan(t *testing.T) {
	for _, tt := range slices.Concat(scanCases, moreScanCases) {
		t.Run(tt.name, func(t *testing.T) {
			file, err := Scan(tt.path, []byte(tt.src))
			if broken := strings.Contains(tt.name, "not parse"); (err != nil) != broken {
				t.Errorf("Scan(%s): error %v", tt.path, err)
			}
			if file.LOC != tt.loc {
				t.Errorf("LOC = %d, want %d", file.LOC, tt.loc)
			}
			var got []fn
			for _, f := range file.Functions {
				got = append(got, fn(f))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("functions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScanIsLinear guards against input on which the scanner looks back or
// ahead again and again. The limit is far above the tens of milliseconds that
// each takes, and far below what it would take if the effort grew as the square.
func TestScanIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("it looks for time and memory, not for races")
	}
	const (
		size  = 512 << 10
		limit = 20 * time.Second
	)
	tests := []struct{ path, piece string }{
		{"a.js", "/ ["},
		{"a.js", "`${\n"},
		{"a.ts", "f = x => "},
		{"a.ts", "a: ("},
		{"a.cs", "$"},
		{"a.swift", "#"},
		{"a.py", "f\"{\n"},
		{"a.py", "def a():"},
		{"a.ex", "-> "},
		{"a.rb", "def="},
		{"a.rb", "def a "},
		{"a.rb", "<<~A "},
		{"a.php", "<?php <<<X\n"},
		{"a.kt", "fun f() = "},
		{"a.cpp", "a::"},
		{"a.go", "\nfunc ("},
		{"a.sh", "(("},
		{"test_a.py", "def test_a(): assert "},
		{"test_a.py", "class A: assert ("},
		{"a.test.js", "it('a', "},
		{"a.test.js", "describe('a', () => { expect(b)."},
		{"a.test.js", "it.each`"},
		{"ATest.java", "@Test "},
		{"ATest.java", "@Test void a() { assert(b); "},
		{"a_spec.rb", "it 'a' do "},
		{"a_spec.rb", "describe A do\n it 'a' do\n"},
		{"a.rs", "#[test] fn a() { mod b {"},
	}
	for _, tt := range tests {
		start := time.Now()
		file, _ := Scan(tt.path, bytes.Repeat([]byte(tt.piece), size/len(tt.piece)))
		if took := time.Since(start); took > limit || file.LOC == 0 {
			t.Errorf("%s of %q: %d lines in %v", tt.path, tt.piece, file.LOC, took)
		}
	}
}

// FuzzScan: whatever the bytes, line numbers lie within the file, no function
// has a complexity below one, and no line is counted twice.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"def a():\n  if b: pass\n", "int f() {\n if (x) {}\n}\n", "const f = (a) =>\n a ? b : c", "fun f() = 1\nfun g() {", "A::A() : x{1} {}",
		"package a\nfunc f() { if x {} }", "case a:\n}{)(", "f() {", "operator()() {", "def ", "fn <", "func (a b[c]) d() {",
		"package a\nimport \"testing\"\nfunc TestX(t *testing.T) { t.Run(\"a\", func(t *testing.T) { t.Skip() }); if x { t.Error() } }",
		"describe('a', () => { it.each([1])(\"b\", c => { expect(c).d }) })", "describe A do\n it 'b' do\n c.should d\n end\nend", "class A:\n def test_b(): assert(",
		"#[test]\nfn test_a() { assert!(b) }", "class A { @Test void b() { assert(", "it 'a' do end }", "test(\"a",
	} {
		for i := 1; i < len(extensions); i++ {
			f.Add(uint8(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		name := "a_test"
		if int(lang) > 0 && int(lang) < len(extensions) {
			name += extensions[lang]
		}
		file, _ := Scan(name, src)
		checkFile(t, file, bytes.Count(src, []byte("\n"))+1)
	})
}

func checkFile(t *testing.T, file File, lines int) {
	t.Helper()
	if file.LOC > lines {
		t.Errorf("%d lines of code in %d lines", file.LOC, lines)
	}
	for _, fn := range file.Functions {
		if fn.Line < 1 || fn.End < fn.Line || fn.End > lines || fn.Complexity < 1 || fn.Name == "" {
			t.Errorf("function %+v in %d lines", fn, lines)
		}
	}
	for _, def := range file.Tests {
		if def.Line < 1 || def.End < def.Line || def.End > lines || def.Name == "" {
			t.Errorf("test %s in lines %d to %d of %d", def.Name, def.Line, def.End, lines)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for lang, text := range benchmarkSource {
		b.Run(lang.String(), func(b *testing.B) {
			src := []byte(strings.Repeat(text, 1<<20/len(text)))
			if lang == Go {
				src = append([]byte("package a\n\n"), src...)
			}
			path := "a" + extensions[lang]
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Scan(path, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// extensions has one for each language.
var extensions = [...]string{
	Unknown: ".txt", Go: ".go", Python: ".py", JavaScript: ".js", TypeScript: ".ts", Java: ".java", Kotlin: ".kt", Rust: ".rs", Ruby: ".rb",
	PHP: ".php", CSharp: ".cs", C: ".c", CPP: ".cc", Swift: ".swift", Elixir: ".ex", Scala: ".scala", Shell: ".sh",
}
