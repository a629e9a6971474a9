package parsers_test

import "testing"

func FuzzTAP(f *testing.F) {
	fuzz(f, "tap",
		"TAP version 14\n1..2\nok 1 - a # time=3ms {\n    not ok 1 - b\n      ---\n      duration_ms: 1.5\n      ...\n    1..1\n}\nnot ok 2 # TODO c\n",
		"# Subtest: x\n    # Subtest: y\n        ok\n    ok - y\n    1..1\nok - x\n1..1\n1..2\nok 1\n}\n{\n",
		"t/a.t ..\n1..2\nok 1\nDubious, test returned 255 (wstat 65280, 0xff00)\nt/b.t .. skipped: none\nFiles=2, Tests=1, 0 wallclock secs\n",
		"1..3 todo 2;\nok 1\nBail out! why\nok 2\n")
}
