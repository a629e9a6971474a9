package corpus

import "testing"

// What a test writes to a file is no test of the project.
func TestTestsInStringsAreNone(t *testing.T) {
	src := "def test_outer(p):\n    s = '\\'' # \"\"\"\n    p.make(\n        \"\"\"\n        def test_inner():\n            assert 0\n        \"\"\"\n    )\n    assert p.run() == 1\n\ndef test_next():\n    assert f() == 2\n"
	got := FindTests("tests/test_x.py", []byte(src))
	if len(got) != 2 || got[0].Name != "test_outer" || got[1].Name != "test_next" {
		t.Errorf("%d tests", len(got))
	}
}

func TestHollowTestsAreLeftOut(t *testing.T) {
	for src, want := range map[string]bool{
		"def test_a():\n    assert True\n":                      false,
		"def test_a():\n    assert True\n    assert f() == 1\n": true,
		"def test_a():\n    assert 0\n":                         true,
	} {
		if got := FindTests("tests/test_x.py", []byte(src)); len(got) != 1 || got[0].Asserts() != want {
			t.Errorf("%q: want %v", src, want)
		}
	}
}

func TestFoldersThatPytestPassesBy(t *testing.T) {
	for _, c := range []struct {
		conf, path string
		want       bool
	}{
		{"testpaths = [\"testing\"]\nnorecursedirs = [\n  \"testing/scripts\",\n  \".*\",\n]\n", "testing/test_a.py", true},
		{"testpaths = [\"testing\"]\nnorecursedirs = [\n  \"testing/scripts\",\n  \".*\",\n]\n", "testing/scripts/test_a.py", false},
		{"testpaths = [\"testing\"]\n", "doc/test_a.py", false},
		{"testpaths = [\".\"]\n", "doc/test_a.py", true},
		{"", "doc/test_a.py", true},
	} {
		b := &Tree{Mem: map[string][]byte{"pyproject.toml": []byte(c.conf)}}
		if got := Collects(b)(c.path); got != c.want {
			t.Errorf("%q, %s: %v", c.conf, c.path, got)
		}
	}
}
