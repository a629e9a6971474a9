package source

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkInspect reads a file of tests of each language, of one megabyte.
func BenchmarkInspect(b *testing.B) {
	for lang, text := range benchmarkSource {
		b.Run(lang.String(), func(b *testing.B) {
			src := []byte(strings.Repeat(text, 1<<20/len(text)))
			if lang == Go {
				src = append([]byte("package a\n\n"), src...)
			}
			ext := extensions[lang]
			path := map[Language]string{Go: "a_test", Python: "tests/test_a", Ruby: "spec/a_spec", Java: "src/test/ATest", Kotlin: "src/test/ATest"}[lang]
			if path == "" {
				path = "tests/a_test"
			}
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Inspect(path+ext, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestInspect(t *testing.T) {
	src := "import pytest\n\n\n@pytest.mark.parametrize(\"a, b\", [(1, 2), (3, 4)])\ndef test_a(a, b):\n    assert add(a, b) == 3  # noqa: E501\n    return\n    assert False\n"
	in, err := Inspect("test_a.py", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Lists) != 1 || strings.Join(in.Lists[0].Rows, ";") != "(1, 2);(3, 4)" {
		t.Errorf("lists: %+v", in.Lists)
	}
	if len(in.Directives) != 1 || in.Directives[0].Line != 6 || in.Directives[0].Blanket {
		t.Errorf("directives: %+v", in.Directives)
	}
	if len(in.Marks) != 1 || in.Marks[0].Kind != Unreachable || in.Marks[0].From != 8 {
		t.Errorf("marks: %+v", in.Marks)
	}
	if strings.Contains(string(in.Plain), "noqa") || len(in.Plain) != len(src) {
		t.Errorf("plain: %q", in.Plain)
	}
}

// Readings reuse memory: a result must not change when other texts are read, and must be the
// same after any other text.
func TestInspectionsDoNotShareMemory(t *testing.T) {
	type said struct {
		path, src string
		in        Inspection
		text      string
	}
	var all []said
	for lang, src := range benchmarkSource {
		path := "tests/a_test" + extensions[lang]
		in, _ := Inspect(path, []byte(src))
		all = append(all, said{path, src, in, fmt.Sprintf("%+v", in)})
	}
	for i := range all {
		for _, s := range all[i:] {
			again, _ := Inspect(s.path, []byte(s.src))
			if text := fmt.Sprintf("%+v", again); text != s.text {
				t.Errorf("%s is read another way after %s", s.path, all[i].path)
			}
		}
	}
	for _, s := range all {
		if fmt.Sprintf("%+v", s.in) != s.text {
			t.Errorf("what was said of %s changed", s.path)
		}
	}
}

// The scanner terminates, whatever the bytes, in all languages.
func FuzzInspect(f *testing.F) {
	for _, path := range []string{"a_test.go", "test_a.py", "a.test.js", "tests/a.rs", "a_spec.rb", "tests/ATest.php", "ATests.cs", "a_test.cc", "test/a_test.exs", "ATests.swift", "src/test/ATest.kt"} {
		f.Add(path, "it('a', () => { if (x) { return } expect(1).toBe(1) })\n@skip\ndef test_a():\n    try:\n        assert x\n    except Exception:\n        pass\n")
		f.Add(path, "TEST(A, B) {\n if (true) return;\n [[1, 2], [3, 4]] }\n")
	}
	f.Fuzz(func(t *testing.T, path, src string) {
		in, _ := Inspect(path, []byte(src))
		if len(in.Plain) != len(src) || len(in.Masked) != len(src) {
			t.Errorf("%d bytes became %d and %d", len(src), len(in.Plain), len(in.Masked))
		}
		for _, test := range in.Tests {
			for _, a := range test.Assertions {
				ParseAssertion(a)
			}
		}
	})
}
