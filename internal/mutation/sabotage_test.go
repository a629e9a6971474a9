package mutation

import "testing"

func TestSabotage(t *testing.T) {
	for _, tt := range []struct{ path, text, want string }{
		{"a.c", "int f(int *n) {\n\tfor (int i = 0; i < 3; i++)\n\t\tif (*n == 2)\n\t\t\treturn *n + 3;\n\treturn 4;\n}\n", "int f(int *n) {\n\tfor (int i = 0; i < 3; i++)\n\t\tif (*n != 2)\n\t\t\treturn *n - 3;\n\treturn 5;\n}\n"},
		{"a.py", "def f(n):\n    while n < 2:\n        n += 1\n    return n\n", "def f(n):\n    while n < 2:\n        n += 1\n    return None\n"},
		{"a.go", "package a\n\nfunc f(n int) int {\n\tif n > 2 {\n\t\treturn n - 1\n\t}\n\treturn 0\n}\n", "package a\n\nfunc f(n int) int {\n\tif n <= 2 {\n\t\treturn n - 1 + 1\n\t}\n\treturn 1\n}\n"},
		{"a.txt", "n + 1", "n + 1"},
	} {
		if got, _ := Sabotage(tt.path, []byte(tt.text)); string(got) != tt.want {
			t.Errorf("%s: %s", tt.path, got)
		}
	}
}
