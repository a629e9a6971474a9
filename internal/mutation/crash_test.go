package mutation_test

import (
	"strings"
	"testing"

	"supervise/internal/mutation"
)

// A statement that starts on the marked line crashes; where none starts, there is no crash.
func TestCrash(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"a.go", "package a\n\nfunc f(n int) int {\n\tif n > 2 { // HERE\n\t\treturn 1\n\t}\n\treturn 2\n}\n", "\tpanic(0); if n > 2 {"},
		{"a.go", "package a\n\nfunc f(n int) int {\n\tswitch n {\n\tcase 1: // HERE\n\t\treturn 1\n\t}\n\treturn 2\n}\n", ""},
		{"a.go", "package a\n\nvar x = 1 // HERE\n", ""},
		{"a.py", "def f(n):\n    return n + 1 # HERE\n", "def f(n):\n    raise RuntimeError()\n    return n + 1"},
		{"a.py", "def f(n):\n    if n:\n        return 1\n    else: # HERE\n        return 2\n", ""},
		{"a.py", "def f(n):\n    return g(\n        n, # HERE\n    )\n", ""},
		{"a.py", "x = 1\ny = 2 # HERE\n", ""},
		{"a.js", "function f(n) {\n  return n + 1 // HERE\n}\n", "  throw new Error(); return n + 1"},
		{"a.js", "function f(n) {\n  return n\n    .map(x) // HERE\n}\n", ""},
		{"A.java", "class A {\n  int f(int n) {\n    return n + 1; // HERE\n  }\n}\n", "    if (true) throw new RuntimeException(); return n + 1;"},
		{"A.java", "class A {\n  int f(int n) {\n    return n\n      + 1; // HERE\n  }\n}\n", ""},
		{"a.rs", "fn f(n: i32) -> i32 {\n    let m = n;\n    m + 1 // HERE\n}\n", "    if true { panic!(); } m + 1"},
	} {
		before, _, _ := strings.Cut(tt.text, "HERE")
		m, ok := mutation.Crash(tt.file, []byte(tt.text), 1+strings.Count(before, "\n"))
		if ok != (tt.want != "") || ok && !strings.Contains(string(m.ApplyTo([]byte(tt.text))), tt.want) {
			t.Errorf("%s %q: %v, %q", tt.file, tt.text, ok, m.ApplyTo([]byte(tt.text)))
		}
	}
}
