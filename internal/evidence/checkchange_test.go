package evidence

import (
	"testing"

	"supervise/detector"
	"supervise/integrity"
)

// Reformatted files, data and outputs are not what the tests check.
func TestCheckChanges(t *testing.T) {
	const before, after = "def f(a):\n    return g(a, 'x')\n", "def f(a):\n    return g(a, 'y')\n"
	for _, c := range []struct {
		name          string
		before, after string // "" is no file
		existed       bool
		want          detector.TreePart
		omitted       bool
	}{
		{"tests/test_f.py", before, after, true, detector.TestPart, false},
		{"tests/test_f.py", "", after, false, detector.TestPart, false},
		{"tests/data.json", "", "{}", false, "", true},
		{"tests/data.json", "", "{}", true, detector.TestPart, false},
		{"tests/data.json", "{}", "[]", true, detector.TestPart, false},
		{"tests/test_f.py", before, "def f(a):\n    return g(\n        a, \"x\",\n    )  # wrapped\n", true, "", false},
		{"tests/test_f.py", "assert a == 1, 'm'\n", "assert (a == 1, 'm')\n", true, detector.TestPart, false},
		{"conftest.py", before, "", true, detector.TestPart, false},
		{"pytest.ini", "[pytest]\n", "[pytest]\naddopts = -x\n", true, detector.RunnerPart, false},
		{"f.py", before, after, true, detector.SourcePart, false},
		{"f.py", "", after, false, "", true},
		{"src/lib.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert!(false); }\n}\n", "fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert!(true); }\n}\n", true, detector.TestPart, false},
		{"go.sum", "a\n", "b\n", true, "", false},
		{"build.log", "a\n", "b\n", true, "", true},
	} {
		text := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		f := integrity.File{Path: c.name, Before: text(c.before), After: text(c.after), Added: c.before == "", Deleted: c.after == ""}
		got := CheckChanges([]integrity.File{f}, integrity.Tree{}, func(string) bool { return c.existed })
		if len(got) == 0 != c.omitted || !c.omitted && (got[0].Part != c.want || got[0].Restored != (f.Added && c.existed)) {
			t.Errorf("%s, %q to %q: got %+v, want %q", c.name, c.before, c.after, got, c.want)
		}
	}
}
