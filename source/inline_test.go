package source_test

import (
	"fmt"
	"strings"
	"testing"

	"supervise/source"
)

const (
	rustCode  = "pub fn half(n: u32) -> u32 {\n    n / 2 // } mod tests {\n}\n"
	rustTests = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn halves() {\n        assert_eq!(half(8), 4, \"}}\");\n    }\n}\n"
)

func TestInlineTestsOf(t *testing.T) {
	for _, tt := range []struct{ name, path, src, want string }{
		{"at the end", "src/lib.rs", rustCode + "\n" + rustTests, "tests 5-12"},
		{"nested, beside others", "src/lib.rs", "mod calc {\n    #[cfg(test)]\n    #[allow(unused)] // why\n    mod tests { fn a() {} }\n    pub mod more {}\n}\n#[cfg(all(test, unix))] pub(crate) mod extra {\n    mod inner {}\n}\n", "calc::tests 2-4, extra 7-9"},
		{"in its own file", "src/lib.rs", rustCode + "#[cfg(test)]\nmod tests;\n", "tests in another file 4-5"},
		{"other modules", "src/lib.rs", "mod tests {}\n#[cfg(unix)]\nmod unix {}\n#[cfg(not(test))]\nmod live {}\n", ""},
		{"in a text", "src/lib.rs", "const A: &str = \"#[cfg(test)] mod tests {}\";\n/* #[cfg(test)] mod tests {} */\n", ""},
		{"another language", "lib.py", rustTests, ""},
		{"never closed", "src/lib.rs", "#[cfg(test)]\nmod tests {\n", "tests 1-2"},
	} {
		var got []string
		for _, m := range source.FindInlineTests(tt.path, []byte(tt.src)) {
			name := m.Name
			if m.OtherFile {
				name += " in another file"
			}
			got = append(got, fmt.Sprintf("%s %d-%d", name, m.First, m.Last))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWithInlineTests(t *testing.T) {
	newCode := strings.Replace(rustCode, "n / 2", "n", 1)
	weak := strings.Replace(rustTests, ", 4", ", half(8)", 1)
	inner := func(s string) string { return "mod calc {\n" + s + "}\n" }
	for _, tt := range []struct{ name, is, was, want string }{
		{"put back", newCode + weak, rustCode + rustTests, newCode + rustTests},
		{"above other code", weak + newCode, rustCode + rustTests, rustTests + newCode},
		{"gone", newCode, rustCode + rustTests, newCode + "\n" + rustTests},
		{"moved to a file", newCode + "#[cfg(test)]\nmod tests;\n", rustCode + rustTests, newCode + rustTests},
		{"others stay", newCode + "#[cfg(test)]\nmod more {}\n" + weak, rustCode + rustTests, newCode + "#[cfg(test)]\nmod more {}\n" + rustTests},
		{"nested", inner(newCode + weak), inner(rustCode + rustTests), inner(newCode + rustTests)},
		{"nested, and gone", newCode, inner(rustCode + rustTests), ""},
		{"there was none", newCode + weak, rustCode, ""},
	} {
		out, ok := source.ReplaceInlineTests("src/lib.rs", []byte(tt.is), []byte(tt.was))
		if got := strings.TrimSuffix(string(out), "\n"); ok != (tt.want != "") || ok && got != strings.TrimSuffix(tt.want, "\n") {
			t.Errorf("%s: %t\n%s\nwant\n%s", tt.name, ok, out, tt.want)
		}
	}
}

func TestSameButInlineTests(t *testing.T) {
	weak := strings.Replace(rustTests, ", 4", ", half(8)", 1)
	for _, tt := range []struct {
		name, was, is string
		want          bool
	}{
		{"tests alone", rustCode + rustTests, rustCode + weak, true},
		{"gone", rustCode + "\n" + rustTests, rustCode, true},
		{"the code as well", rustCode + rustTests, rustCode + "fn a() {}\n" + weak, false},
		{"the same", rustCode + rustTests, rustCode + rustTests, false},
	} {
		if got := source.DifferOnlyInInlineTests("src/lib.rs", []byte(tt.was), []byte(tt.is)); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	if source.DifferOnlyInInlineTests("a.py", []byte("a"), []byte("b")) {
		t.Error("another language has no such modules")
	}
}
