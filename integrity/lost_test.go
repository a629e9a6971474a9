package integrity

import (
	"fmt"
	"strings"
	"testing"
)

// at is a change of files, each "path: text" before and after.
type texts map[string]string

// changed returns the change between two states of some files.
func changed(before, after texts) []File {
	var files []File
	for path, text := range before {
		f := File{Path: path, Before: []byte(text)}
		if now, there := after[path]; there {
			if now == text {
				continue
			}
			f.After = []byte(now)
		} else {
			f.Deleted = true
		}
		files = append(files, f)
	}
	for path, text := range after {
		if _, was := before[path]; !was {
			files = append(files, File{Path: path, After: []byte(text), Added: true})
		}
	}
	return files
}

// audited returns the findings of a change as "TP-01 HIGH Name", without those
// that are explained; a name in parentheses is an explained one.
func audited(before, after texts) []string {
	files := changed(before, after)
	var out []string
	for _, f := range Audit(files, Options{}) {
		text := fmt.Sprintf("%s %s %s", f.Rule, f.Severity, f.Test)
		if f.ExplainedBy != "" {
			text = "(" + f.Rule + ")"
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out
}

const goHead = "package p\n\nimport \"testing\"\n\n"

const goAdd = "func TestAdd(t *testing.T) {\n\tgot := Add(17, 4)\n\tif got != 21 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n\n"

const goSub = "func TestSub(t *testing.T) {\n\tif got := Sub(17, 4); got != 13 {\n\t\tt.Errorf(\"sub: %d\", got)\n\t}\n}\n"

const tsLoop = "for (const word of words) {\n  test(`rejects ${word}`, () => {\n    expect(parse(word).ok).toBe(false);\n  });\n}\n"

// tsTypes asserts nothing at run time.
const tsTypes = "test('adds numbers', () => {\n  const fn = adder(1);\n  expectTypeOf(fn).toEqualTypeOf<(a: number) => number>();\n});\n"

func TestLostTests(t *testing.T) {
	python := "def test_add():\n    assert add(17, 4) == 21\n\n\ndef test_sub():\n    x = sub(17, 4)\n    assert x == 13\n"
	rust := "#[test]\nfn adds() {\n    let x = add(17, 4);\n    assert_eq!(x, 21);\n}\n\n#[test]\nfn subs() {\n    assert_eq!(sub(17, 4), 13);\n}\n"
	for _, test := range []struct {
		name          string
		before, after texts
		want          []string
	}{
		{"deleted", texts{"a_test.go": goHead + goAdd + goSub}, texts{"a_test.go": goHead + goAdd}, []string{"TP-01 HIGH TestSub"}},
		{"moved to another file", texts{"a_test.go": goHead + goAdd + goSub}, texts{"a_test.go": goHead + goAdd, "b_test.go": goHead + goSub}, nil},
		{"renamed", texts{"a_test.go": goHead + goAdd + goSub}, texts{"a_test.go": goHead + goAdd + strings.ReplaceAll(goSub, "TestSub", "TestSubtract")}, nil},
		{"file deleted", texts{"a_test.go": goHead + goAdd + goSub}, texts{}, []string{"TP-02 HIGH TestAdd"}},
		{"feature removed", texts{"a_test.go": goHead + goAdd + goSub, "a.go": "package p\n\nfunc Add() {}\nfunc Sub() {}\n"}, texts{"a_test.go": goHead + goAdd, "a.go": "package p\n\nfunc Add() {}\n"}, []string{"(TP-01)"}},
		{"a test that a loop defines", texts{"a.test.ts": tsLoop}, texts{"a.test.ts": strings.Replace(tsLoop, "test(", "void (", 1)}, []string{"TP-01 HIGH rejects ${word}"}},
		{"types alone, commented out", texts{"a.test.ts": tsTypes}, texts{"a.test.ts": "// " + strings.ReplaceAll(tsTypes, "\n", "\n// ")}, []string{"TP-04 HIGH adds numbers"}},
		{"commented out", texts{"a_test.go": goHead + goAdd + goSub}, texts{"a_test.go": goHead + goAdd + "// " + strings.ReplaceAll(goSub, "\n", "\n// ")}, []string{"TP-04 CRITICAL TestSub"}},
		{"out of discovery", texts{"a_test.go": goHead + goAdd + goSub}, texts{"a_test.go": goHead + goAdd + strings.ReplaceAll(goSub, "TestSub", "disabledTestSub")}, []string{"TP-03 CRITICAL TestSub"}},
		{"python out of discovery", texts{"test_a.py": python}, texts{"test_a.py": strings.ReplaceAll(python, "def test_sub", "def _test_sub")}, []string{"TP-03 CRITICAL test_sub"}},
		{"rust attribute dropped", texts{"src/a.rs": rust}, texts{"src/a.rs": strings.Replace(rust, "#[test]\nfn subs", "fn subs", 1)}, []string{"TP-03 CRITICAL subs"}},
		{
			"a helper that is called",
			texts{"test_a.py": python},
			texts{"test_a.py": strings.ReplaceAll(python, "def test_sub", "def check_sub") + "\n\ndef test_all():\n    check_sub()\n    assert add(1, 1) == 2\n"},
			[]string{"(TP-01)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := audited(test.before, test.after); strings.Join(got, "; ") != strings.Join(test.want, "; ") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
