package integrity_test

import (
	"slices"
	"strings"
	"testing"

	"supervise/integrity"
)

func TestUnsilenced(t *testing.T) {
	for _, tt := range []struct{ name, path, was, is, want string }{
		{"one came", "a.go", "package a\n\nvar a = 1\n", "package a\n\nvar a = 1 //nolint:all\n", "package a\n\nvar a = 1 //xxxxxx:all\n"},
		{"beside one that was there", "a.go", "package a\n\nvar b = 1 //nolint:x\n", "package a\n\nvar a = 1 //nolint:y\nvar b = 1 //nolint:x\n", "package a\n\nvar a = 1 //xxxxxx:y\nvar b = 1 //nolint:x\n"},
		{"Python", "a.py", "import os\n", "import os  # noqa: F401\n", "import os  # xxxx: F401\n"},
		{"a block", "a.js", "f()\n", "/* eslint-disable */\nf()\n", "/* xxxxxxxxxxxxxx */\nf()\n"},
		{"an annotation stays", "a.rs", "fn a() {}\n", "#[allow(dead_code)]\nfn a() {}\n", ""},
		{"coverage stays", "a.py", "a = 1\n", "a = 1  # pragma: no cover\n", ""},
		{"one went", "a.go", "package a\n\nvar a = 1 //nolint:all\n", "package a\n\nvar a = 1\n", ""},
		{"above one of the same words", "a.py", "a = 1\nb = 2  # noqa\n", "a = 1  # noqa\nb = 2  # noqa\n", "a = 1  # xxxx\nb = 2  # noqa\n"},
		{"in a text", "a.go", "package a\n", "package a\n\nvar a = \"//nolint:all\"\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(integrity.RemoveSuppressions([]integrity.File{{Path: tt.path, Before: []byte(tt.was), After: []byte(tt.is)}})[tt.path])
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestRestoreTypes(t *testing.T) {
	for _, tt := range []struct{ name, path, before, after, want string }{
		{"a result", "a.py", "def f(n: int) -> int:\n    return n\n", "from typing import Any\ndef f(n: int) -> Any:\n    return n\n", "from typing import Any\ndef f(n: int) -> int:\n    return n\n"},
		{"parameters", "a.py", "def f(a: list[int], b: int | None = None) -> int:\n", "def f(a: Any, b: Any = None) -> Any:\n", "def f(a: list[int], b: int | None = None) -> int:\n"},
		{"no types", "a.py", "def f(a: dict[str, int], b: int | None = None) -> int:\n", "def f(a, b=None):\n", "def f(a: dict[str, int], b: int | None = None) -> int:\n"},
		{"a cast", "a.ts", "const n: number = f();\n", "const n: any = f();\n", "const n: number = f();\n"},
		{"another type", "a.py", "def f(n: int) -> int:\n", "def f(n: int) -> str:\n", ""},
		{"Any that was there", "a.py", "x: Any = 1\n", "x: Any = 1\ny: Any = 2\n", ""},
		{"a new parameter", "a.py", "def f(a: int) -> int:\n", "def f(a: int, b: Any) -> int:\n", ""},
	} {
		if got := string(integrity.RestoreTypes([]integrity.File{{Path: tt.path, Before: []byte(tt.before), After: []byte(tt.after)}})[tt.path]); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// A comment that only moved to another file did not come.
func TestUnsilencedLeavesWhatMoved(t *testing.T) {
	with, without := []byte("package a\n\nvar a = 1 //nolint:all\n"), []byte("package a\n")
	moved := []integrity.File{{Path: "a.go", Before: with, After: without}, {Path: "b.go", Before: without, After: with}}
	if got := integrity.RemoveSuppressions(moved); len(got) > 0 {
		t.Errorf("crossed out: %q", got)
	}
}

const rcWas = "[run]\nbranch = true\nsource = app\n"

func TestUnexcluded(t *testing.T) {
	const none = "\x00" // the file is not there
	for _, tt := range []struct{ name, path, was, is, want string }{
		{"coverage.py", "a.py", "def f():\n    g()\n", "def f():  # pragma: no cover\n    g()\n", "def f():  # xxxxxxxxxxxxxxxx\n    g()\n"},
		{"above one that was there", "a.py", "a()\nif b:  # pragma: no cover\n    c()\n", "a()  # pragma: no cover\nif b:  # pragma: no cover\n    c()\n", "a()  # xxxxxxxxxxxxxxxx\nif b:  # pragma: no cover\n    c()\n"},
		{"istanbul", "a.js", "f()\n", "/* istanbul ignore next */\nf()\n", "/* xxxxxxxxxxxxxxx next */\nf()\n"},
		{"v8", "a.ts", "f()\n", "/* v8 ignore start */\nf()\n", "/* xxxxxxxxx start */\nf()\n"},
		{"simplecov, in pairs", "lib/a.rb", "f\n", "# :nocov:\nf\n# :nocov:\n", "# xxxxxxx\nf\n# xxxxxxx\n"},
		{"PHPUnit", "src/a.php", "<?php\nf();\n", "<?php\n// @codeCoverageIgnoreStart\nf();\n", "<?php\n// xxxxxxxxxxxxxxxxxxxxxxxx\nf();\n"},
		{"Go", "a.go", "package a\n\nvar a = 1\n", "package a\n\n//coverage:ignore\nvar a = 1\n", "package a\n\n//xxxxxxxxxxxxxxx\nvar a = 1\n"},
		{"Rust", "src/a.rs", "fn a() {}\n", "#[coverage(off)]\nfn a() {}\n", "#[coverage(on) ]\nfn a() {}\n"},
		{"C#", "A.cs", "class A {}\n", "[ExcludeFromCodeCoverage(Justification = \"(old)\")]\nclass A {}\n", strings.Repeat(" ", 50) + "\nclass A {}\n"},
		{"linters stay", "a.py", "import os\n", "import os  # noqa\n", ""},
		{"one that moved within", "a.py", "a()  # pragma: no cover\nb()\n", "b()\nc()\na()  # pragma: no cover\n", ""},
		{"omit", ".coveragerc", rcWas, rcWas + "omit =\n    app/calc.py\n", rcWas},
		{"omit beside others", ".coveragerc", rcWas, "[run]\nbranch = true\nomit = app/calc.py\nsource = app\n[report]\nprecision = 2\n", rcWas + "[report]\nprecision = 2\n"},
		{"a new file of settings", ".coveragerc", none, "[report]\nexclude_lines =\n    def slow\n", none},
		{"source is gone", ".coveragerc", "[run]\nsource =\n    app\n    lib\n", "[run]\nsource =\n    app\n", "[run]\nsource =\n    app\n    lib\n"},
		{"jest", "jest.config.js", "module.exports = {\n  bail: true,\n}\n", "module.exports = {\n  bail: true,\n  coveragePathIgnorePatterns: ['src/calc.js'],\n}\n", "module.exports = {\n  bail: true,\n}\n"},
		{"a command", "package.json", npm("jest --coverage"), npm("jest --coverage --coveragePathIgnorePatterns=src/calc"), npm("jest --coverage")},
		{"a threshold stays", ".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 40\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := integrity.File{Path: tt.path, Before: []byte(tt.was), After: []byte(tt.is)}
			if tt.was == none {
				file.Before, file.Added = nil, true
			}
			out := integrity.RemoveCoverageExclusions([]integrity.File{file}, integrity.Options{})
			text, other := out.Texts[tt.path]
			got := string(text)
			if other && text == nil {
				got = none
			}
			if got != tt.want || len(out.Remaining) > 0 {
				t.Errorf("%q, kept %q, want %q", got, out.Remaining, tt.want)
			}
			off := integrity.Options{Disabled: []string{"TP-27"}}
			if out := integrity.RemoveCoverageExclusions([]integrity.File{file}, off); len(out.Texts) > 0 {
				t.Errorf("undone although the rules are off: %q", out.Texts)
			}
		})
	}
}

func npm(test string) string { return "{\n  \"scripts\": {\n    \"test\": \"" + test + "\"\n  }\n}\n" }

// What cannot be undone is said.
func TestUnexcludedKeeps(t *testing.T) {
	file := integrity.File{Path: "A.cs", Before: []byte("class A {}\n"), After: []byte("[Serializable, ExcludeFromCodeCoverage]\nclass A {}\n")}
	if out := integrity.RemoveCoverageExclusions([]integrity.File{file}, integrity.Options{}); len(out.Texts) > 0 || !slices.Equal(out.Remaining, []string{"A.cs"}) {
		t.Errorf("%+v", out)
	}
}
