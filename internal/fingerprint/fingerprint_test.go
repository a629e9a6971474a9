package fingerprint_test

import (
	"testing"

	"supervise/internal/fingerprint"
)

func TestFingerprint(t *testing.T) {
	for _, same := range [][2]string{
		{"line 12: x", "line 9999: x"},
		{"job 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed", "job 9b2d7c11-0000-4abc-8def-1234567890ab failed"},
		{"at 0xc000012345", "at 0xdeadbeef"},
		{"commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is bad", "commit 1a410efbd13591db07496601ebc7a059dd55cfe9 is bad"},
		{"read /home/a/project/calc.go: denied", "read /srv/b/calc.go: denied"},
		{`read C:\Users\a\calc.go: denied`, `read D:\b\calc.go: denied`},
		{"took 1.5s", "took 230ms"},
		{"at 10:00:00 it broke", "at 23:59:59.123 it broke"},
		{"file tmp_aXbY.txt", "file tmp_q.txt"},
		{"\x1b[31mbad\x1b[0m thing", "bad  thing"},
	} {
		if a, b := fingerprint.Of(same[0]), fingerprint.Of(same[1]); a != b || a == "" {
			t.Errorf("%q and %q differ: %q, %q", same[0], same[1], a, b)
		}
	}
	for _, other := range [][2]string{
		{"undefined: Add", "undefined: Subtract"},
		{"open calc.go: denied", "open main.go: denied"},
		{"template missing", "temperature missing"},
		{"read /a/calc.go", "read /a/main.go"},
		{"added face", "dead decade"},
	} {
		if a, b := fingerprint.Of(other[0]), fingerprint.Of(other[1]); a == b {
			t.Errorf("%q and %q are the same: %q", other[0], other[1], a)
		}
	}
	if got := fingerprint.Of(" \n"); got != "" {
		t.Errorf("an empty error has the fingerprint %q", got)
	}
}
