package evidence_test

import (
	"slices"
	"testing"

	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/snapshot"
)

func TestConstantsThatAreGone(t *testing.T) {
	const class = "class Builder:\n    _MARK = re.compile('x')\n    note = \"\"\"\n    old = 1\n    \"\"\"\n\n    def build(self):\n        local = 1\n        return local\n"
	for _, test := range []struct {
		name, path, was, is string
		want                []string
	}{
		{"a field of a class", "a.py", class, "class Builder:\n    def build(self):\n        return 1\n", []string{"_MARK", "note"}},
		{"renamed, and still used", "a.py", class, "class Builder:\n    MARK = re.compile('y')\n    note = 1\n    x = _MARK\n\n    def build(self):\n        return 1\n", nil},
		{"another value", "a.py", class, "class Builder:\n    _MARK = re.compile('y')\n    note = 1\n\n    def build(self):\n        return 1\n", nil},
		{"in a module", "a.js", "export const LIMIT = 3;\nconst f = () => LIMIT;\n", "const f = () => 3;\n", []string{"LIMIT"}},
		{"of tests", "test_a.py", "LIMIT = 3\n", "\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := evidence.Collect([]snapshot.Change{{Path: test.path, Kind: snapshot.Modified}}, integrity.Options{}, func(_ string, after bool) ([]byte, error) {
				if after {
					return []byte(test.is), nil
				}
				return []byte(test.was), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(e.GoneSymbols, test.want) {
				t.Errorf("gone %v, want %v", e.GoneSymbols, test.want)
			}
		})
	}
}
