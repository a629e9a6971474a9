package tomlfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All ways to write one value give the same.
func TestSpellings(t *testing.T) {
	for _, text := range []string{
		"[tool.poe.tasks]\ntest = \"pytest -q\"\n",
		"[tool.poe.tasks]\ntest = 'pytest -q'\n",
		"[tool.poe]\ntasks.test = \"pytest -q\"\n",
		"tool.poe.tasks.test = \"pytest -q\"\n",
		"[tool.poe]\ntasks = { test = \"pytest -q\" }\n",
		"[tool]\npoe = { tasks = { test = \"pytest -q\" } }\n",
		"[tool.poe]\ntasks = {\n  test = \"pytest -q\", # TOML 1.1\n}\n",
		"[tool.poe.tasks]\n\"test\" = \"pytest -q\"\n",
		"['tool'.\"poe\".tasks]\n'test' = \"pytest -q\"\n",
		"[ tool . poe . tasks ]   # tasks\n  test=\"pytest -q\" # this one\n",
		"[tool.poe.tasks]\ntest = \"\"\"\npytest -q\"\"\"\n",
		"[tool.poe.tasks]\ntest = '''\npytest -q'''\n",
		"[tool.poe.tasks]\ntest = \"\"\"\\\n   pytest \\\n   -q\"\"\"\n",
		"[tool.poe.tasks]\ntest = \"py\\u0074est -q\"\n",
		"[tool.poe.tasks]\ntest = [\n  # the only one\n  \"pytest -q\",\n]\n",
		"[[tool.poe.tasks]]\ntest = \"pytest -q\"\n",
		"\ufeff[tool.poe.tasks]\r\ntest = \"pytest -q\"\r\n",
		"[tool.poe.tasks]\ntest = \"pytest -q\"",
	} {
		d, err := Parse("pyproject.toml", []byte(text))
		tasks, ok := d.Table("tool.poe.tasks")
		if got := tasks.Strings("test"); err != nil || !ok || !slices.Equal(got, []string{"pytest -q"}) {
			t.Errorf("%s\n%q, %v, %v", text, got, ok, err)
		}
		if _, ok := d.Table("tool.po"); ok || tasks.Has("tes") || !tasks.Has("x", "test") {
			t.Errorf("%s\nother names are found", text)
		}
	}
}

// Values are numbered by their lines, and other values than strings are as written.
func TestLines(t *testing.T) {
	d, err := Parse("x.toml", []byte(strings.Join([]string{
		"\ufeff# head", "a = 1_000", "[b]", "c = [ 0x1F,", " \"two\"]", `d = """`, "first", `second"""`, "[[b.e]]", "f = { g = 1979-05-27, h = {} }", "[empty]",
	}, "\r\n")))
	var got []string
	for _, e := range d {
		got = append(got, fmt.Sprintf("%d %s %v %q", e.Line, strings.Join(e.Path, "."), e.Scalar, e.Value))
	}
	want := []string{
		`2 a true "1_000"`, `3 b false ""`, `4 b.c false ""`, `4 b.c.[] true "0x1F"`, `5 b.c.[] true "two"`, `7 b.d true "first\r\nsecond"`,
		`9 b.e false ""`, `10 b.e.f false ""`, `10 b.e.f.g true "1979-05-27"`, `10 b.e.f.h false ""`, `11 empty false ""`,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// What follows a mistake is read, and the first one is an error with its line.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ text, line, want string }{
		{"a = 1\nb = \n[c]\nd = 2\n", "2", "a=1 c.d=2"},
		{"a = 1\n\n# x\nb = [ \"x\",\n[c]\nd = 2\n", "5", "a=1 c.d=2"},
		{"[a\nb = 1\n[c]\nd = 2\n", "1", "c.d=2"},
		{"[a] x\nb = 1\n[c] # y\nd = = 2\ne = 3", "1", "c.e=3"},
		{"a = 1 b = 2\nc = 3\n", "1", "c=3"},
		{"a = 'x\nc = 3\n", "1", "c=3"},
		{"a = \"\\q\"\nc = 3\n", "1", "c=3"},
		{"c = 3\nd = \"\xff\"\n", "2", "c=3"},
		{"c = 3\nd", "2", "c=3"},
		{"c = 3\n= 4", "2", "c=3"},
	} {
		d, err := Parse("dir/x.toml", []byte(tt.text))
		var got []string
		for _, e := range d {
			if e.Scalar {
				got = append(got, strings.Join(e.Path, ".")+"="+e.Value)
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), "dir/x.toml:"+tt.line+": ") || strings.Join(got, " ") != tt.want {
			t.Errorf("%q\n got %v, %v\nwant %s in line %s", tt.text, got, err, tt.want, tt.line)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[a.b]\r\nc = { d = [1, \"x\"] }\n[[e]]\nf = '''\nx'''\n[")
	f.Add(strings.Repeat("a = [\n", 200))
	f.Add("[" + strings.Repeat("a.", 100) + "a]\nb = " + strings.Repeat("[", 100))
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse("x.toml", []byte(text))
		again, _ := Parse("x.toml", []byte(text))
		if !cmp.Equal(d, again) {
			t.Error("not the same twice")
		}
		for _, e := range d {
			if len(e.Path) == 0 || len(e.Path) > maxNames || e.Line < 1 || e.Line > strings.Count(text, "\n")+2 {
				t.Errorf("%+v, %v", e, err)
			}
		}
	})
}
