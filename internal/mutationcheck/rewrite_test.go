package mutationcheck

import (
	"slices"
	"strings"
	"testing"

	"supervise/test/tools"
)

// What a change removes and does not replace is known from its text.
func TestE2EWhatAChangeReplaces(t *testing.T) {
	tools.Long(t)
	check := pytest(t)
	rows := "CASES = [\n    (3, 6),\n    (4, 8),\n    (52, 104),\n]\n"
	test := "from shop import price\n\n" + rows + "\n\ndef test_price():\n    for n, want in CASES:\n        assert price(n) == want\n\n\ndef test_other():\n    assert price(70) == 140\n    assert price(80) == 160\n"
	for _, tt := range []struct {
		name    string
		old, is string // replaced in the test file
		more    files
		removed bool
		missing []string
	}{
		{"a test", "def test_other():\n    assert price(70) == 140\n    assert price(80) == 160\n", "", nil, true, []string{"140", "160", "70", "80"}},
		{"a row", "    (4, 8),\n", "", nil, true, []string{"4", "8"}},
		{"an assertion", "    assert price(70) == 140\n", "", nil, true, []string{"140", "70"}},
		{"an assertion, and its numbers in a comment", "    assert price(70) == 140\n", "    # 70 140\n", nil, true, []string{"140", "70"}},
		{"a row for a call", "    (52, 104),\n]", "]\nprint(price)", nil, false, []string{"104", "52"}},
		{"rows in a file", rows, "CASES = [eval(line) for line in open(\"cases.txt\")]\n", files{"cases.txt": "(3, 6)\n(4, 8)\n(52, 104)\n"}, false, nil},
		{"the same in a loop", "    assert price(70) == 140\n    assert price(80) == 160\n", "    for n in (70, 80):\n        assert price(n) == {70: 140, 80: 160}[n]\n", nil, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": test}, check)
			if tt.more == nil {
				tt.more = files{}
			}
			tt.more["test_shop.py"] = strings.Replace(test, tt.old, tt.is, 1)
			x := w.trial(tt.more)
			list := x.groups(t.Context())
			if len(list) != 1 {
				t.Fatalf("%d groups", len(list))
			}
			p := list[0].result
			if p.OnlyRemoved != tt.removed || !slices.Equal(p.MissingInputs, tt.missing) {
				t.Errorf("only removed %t, missing %q", p.OnlyRemoved, p.MissingInputs)
			}
			if (len(list[0].replacing) > 0) == tt.removed {
				t.Errorf("replaced by %+v", list[0].replacing)
			}
		})
	}
}
