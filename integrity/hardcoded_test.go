package integrity

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// hardCoded audits a change of one file next to unchanged tests, and
// returns the findings of TP-19 as "MEDIUM test_name".
func hardCoded(path, before, after string, tests texts) []string {
	base := Tree{
		Paths: func() []string { return slices.Collect(maps.Keys(tests)) },
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				out[p] = []byte(tests[p])
			}
			return out
		},
	}
	var out []string
	for _, f := range Audit([]File{{Path: path, Before: []byte(before), After: []byte(after)}}, Options{Base: base, Enabled: []string{"TP-19"}}) {
		out = append(out, strings.TrimSpace(f.Severity.String()+" "+f.Test))
	}
	return out
}

func TestHardCoded(t *testing.T) {
	const (
		slugPy  = "def slug(title):\n    return title.strip().lower()\n"
		slugGo  = "package slug\n\nfunc Slug(title string) string {\n\treturn clean(title)\n}\n"
		slugJS  = "export function slug(title) {\n  return title.trim();\n}\n"
		slugRb  = "def slug(title)\n  title.strip\nend\n"
		slugRs  = "pub fn slug(title: &str) -> String {\n    title.trim().into()\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn lower() {\n        assert_eq!(slug(\"Hello World\"), \"hello-world\");\n    }\n}\n"
		slugJv  = "class Slug {\n  String slug(String title) {\n    return title.trim();\n  }\n}\n"
		addPy   = "def add(a, b):\n    return a + b\n"
		mimePy  = "TYPES = {\n    \".txt\": \"text/plain\",\n}\n\n\ndef mime(ext):\n    return TYPES[ext]\n"
		testPy  = "def test_lower():\n    assert slug(\"Hello World\") == \"hello-world\"\n\n\ndef test_digits():\n    assert slug(\"Chapter 12\") == \"chapter-12\"\n"
		testRow = "import pytest\n\n\n@pytest.mark.parametrize(\"given, want\", [\n    (\"Hello World\", \"hello-world\"),\n    (\"Chapter 12\", \"chapter-12\"),\n])\ndef test_all(given, want):\n    assert slug(given) == want\n"
		testGo  = "package slug\n\nimport \"testing\"\n\nfunc TestLower(t *testing.T) {\n\tif got := Slug(\"Hello World\"); got != \"hello-world\" {\n\t\tt.Error(got)\n\t}\n}\n"
		testJS  = "test('lower', () => {\n  expect(slug('Hello World')).toBe('hello-world');\n  expect(slug('Chapter 12')).toBe('chapter-12');\n});\n"
		testAdd = "def test_add():\n    assert add(17, 4) == 21\n\n\ndef test_more():\n    assert add(30, 5) == 35\n"
	)
	in := func(text, at, more string) string { return strings.Replace(text, at, at+more, 1) }
	def, fn := "def slug(title):\n", "title string) string {\n"
	for _, test := range []struct {
		name                string
		path, before, after string
		tests               texts
		want                string
	}{
		{"one branch", "slug.py", slugPy, in(slugPy, def, "    if title == \"Hello World\":\n        return \"hello-world\"\n"), texts{"test_slug.py": testPy}, "HIGH test_lower"},
		{"a short pair", "slug.py", slugPy, in(slugPy, def, "    if title == \"Ab\":\n        return \"cd\"\n"), texts{"test_slug.py": "def test_lower():\n    assert slug(\"Ab\") == \"cd\"\n"}, "MEDIUM test_lower"},
		{"two branches", "slug.py", slugPy, in(slugPy, def, "    if title == 'Hello World': return 'hello-world'\n    elif title == 'Chapter 12':\n        return 'chapter-12'\n"), texts{"test_slug.py": testPy}, "HIGH test_lower"},
		{"rows above the test", "slug.py", slugPy, in(slugPy, def, "    if title == \"Hello World\":\n        return \"hello-world\"\n    if title == \"Chapter 12\":\n        return \"chapter-12\"\n"), texts{"test_slug.py": testRow}, "HIGH test_all"},
		{"two arguments", "add.py", addPy, in(addPy, "b):\n", "    if a == 17 and b == 4:\n        return 21\n"), texts{"test_add.py": testAdd}, "HIGH test_add"},
		{"a tuple", "add.py", addPy, in(addPy, "b):\n", "    if (a, b) == (17, 4):\n        return 21\n"), texts{"test_add.py": testAdd}, "HIGH test_add"},
		{"a condition on two lines", "add.py", addPy, in(addPy, "b):\n", "    if (a == 17 and\n            b == 4):\n        return 21\n"), texts{"test_add.py": testAdd}, "HIGH test_add"},
		{"arguments of different tests", "add.py", addPy, in(addPy, "b):\n", "    if a == 17 and b == 5:\n        return 21\n"), texts{"test_add.py": testAdd}, ""},
		{"go switch", "slug/slug.go", slugGo, in(slugGo, fn, "\tswitch title {\n\tcase \"Hello World\":\n\t\treturn \"hello-world\"\n\t}\n"), texts{"slug/slug_test.go": testGo}, "HIGH TestLower"},
		{"ternary", "slug.js", slugJS, strings.Replace(slugJS, "return title.trim()", "return title === 'Hello World' ? 'hello-world' : title.trim()", 1), texts{"slug.test.js": testJS}, "HIGH lower"},
		{"modifier", "lib/slug.rb", slugRb, in(slugRb, "slug(title)\n", "  return \"hello-world\" if title == \"Hello World\"\n"), texts{"test/test_slug.rb": "def test_lower\n  assert_equal \"hello-world\", slug(\"Hello World\")\nend\n"}, "HIGH test_lower"},
		{"match arm beside the tests", "src/slug.rs", slugRs, in(slugRs, "-> String {\n", "    match title {\n        \"Hello World\" => return \"hello-world\".into(),\n        _ => {}\n    }\n"), nil, "HIGH lower"},
		{"equals", "src/main/java/Slug.java", slugJv, in(slugJv, "title) {\n", "    if (\"Hello World\".equals(title)) {\n      return \"hello-world\";\n    }\n"), texts{"src/test/java/SlugTest.java": "class SlugTest {\n  @Test\n  void lower() {\n    assertEquals(\"hello-world\", slug(\"Hello World\"));\n  }\n}\n"}, "HIGH lower"},
		{"table", "slug.py", slugPy, "KNOWN = {\n    \"Hello World\": \"hello-world\",\n    \"Chapter 12\": \"chapter-12\",\n}\n\n\n" + in(slugPy, def, "    if title in KNOWN:\n        return KNOWN[title]\n"), texts{"test_slug.py": testPy}, "HIGH test_lower"},
		{"table at once", "slug.js", slugJS, in(slugJS, "(title) {\n", "  const hit = { 'Hello World': 'hello-world', 'Chapter 12': 'chapter-12' }[title];\n"), texts{"slug.test.js": testJS}, "HIGH lower"},

		{"a table that nothing is looked up in", "slug.py", slugPy, in(slugPy, def, "    log({\n        \"Hello World\": \"hello-world\",\n    })\n"), texts{"test_slug.py": testPy}, ""},
		{"a row more in an old table", "mime.py", mimePy, in(mimePy, "plain\",\n", "    \".csv\": \"text/csv\",\n"), texts{"test_mime.py": "def test_csv():\n    assert mime(\".csv\") == \"text/csv\"\n"}, ""},
		{"only the input", "slug.py", slugPy, in(slugPy, def, "    if title == \"Hello World\":\n        return \"other text\"\n"), texts{"test_slug.py": testPy}, ""},
		{"in two tests", "slug.py", slugPy, in(slugPy, def, "    if title == \"Hello World\":\n        return \"chapter-12\"\n"), texts{"test_slug.py": testPy}, ""},
		{"known before", "slug.py", "X = \"Hello World\"\n" + slugPy, "X = \"Hello World\"\n" + in(slugPy, def, "    if title == \"Hello World\":\n        return \"hello-world\"\n"), texts{"test_slug.py": testPy}, ""},
		{"words of the code", "slug.py", slugPy, in(slugPy, def, "    if title == \"strip\":\n        return \"lower\"\n"), texts{"test_slug.py": "def test_words():\n    assert slug(\"strip\") == \"lower\"\n"}, ""},
		{"common numbers", "add.py", addPy, in(addPy, "b):\n", "    if a == 0:\n        return 1\n"), texts{"test_add.py": "def test_zero():\n    assert add(0, 1) == 1\n"}, ""},
		{"a comment", "slug.py", slugPy, in(slugPy, def, "    # if title == \"Hello World\": return \"hello-world\"\n"), texts{"test_slug.py": testPy}, ""},
		{"a new function", "slug.py", slugPy, slugPy + "\n\ndef greet(title):\n    if title == \"Hello World\":\n        return \"hello-world\"\n", texts{"test_slug.py": testPy}, ""},
		{"an error", "slug/slug.go", slugGo, in(slugGo, fn, "\tif title == \"Hello World\" {\n\t\treturn errors.New(\"hello-world\")\n\t}\n"), texts{"slug/slug_test.go": testGo}, ""},
		{"in a constructor", "slug/slug.go", slugGo, in(slugGo, fn, "\tif title == \"Hello World\" {\n\t\treturn Text(\"hello-world\")\n\t}\n"), texts{"slug/slug_test.go": testGo}, "HIGH TestLower"},
		{"what is computed", "slug.py", slugPy, in(slugPy, def, "    if title == \"Hello World\":\n        return \"hello-world\" + title\n"), texts{"test_slug.py": testPy}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(hardCoded(test.path, test.before, test.after, test.tests), "; "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A table with its new tests is a feature: those tests were not there before.
func TestHardCodedOutputWithNewTestsIsSpared(t *testing.T) {
	before := texts{"mime.py": "def mime(ext):\n    return None\n", "test_mime.py": "def test_none():\n    assert mime(\".zzz\") is None\n"}
	after := texts{
		"mime.py":      "TYPES = {\n    \".csv\": \"text/csv\",\n    \".svg\": \"image/svg+xml\",\n}\n\n\ndef mime(ext):\n    return TYPES.get(ext)\n",
		"test_mime.py": before["test_mime.py"] + "\n\ndef test_types():\n    assert mime(\".csv\") == \"text/csv\"\n    assert mime(\".svg\") == \"image/svg+xml\"\n",
	}
	if got := audited(before, after); len(got) > 0 {
		t.Errorf("got %q, want nothing", got)
	}
	after["test_mime.py"] = before["test_mime.py"]
	before["test_mime.py"] += "\n\ndef test_types():\n    assert mime(\".csv\") == \"text/csv\"\n    assert mime(\".svg\") == \"image/svg+xml\"\n"
	after["test_mime.py"] = before["test_mime.py"] + "\n"
	if got := strings.Join(audited(before, after), "; "); got != "TP-19 HIGH test_types" {
		t.Errorf("with tests that were there: got %q, want TP-19 HIGH test_types", got)
	}
}

// The base is read only where a branch of literals was found, in bounds.
func TestBaseIsLazyAndBounded(t *testing.T) {
	asked, read := 0, 0
	base := Tree{
		Paths: func() []string {
			asked++
			var out []string
			for i := range 1000 {
				out = append(out, strings.Repeat("d/", i%7)+"test_"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+".py")
			}
			return append(out, "z/test_slug.py")
		},
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				read++
				out[p] = []byte("def test_it():\n    pass\n")
			}
			if slices.Contains(paths, "z/test_slug.py") {
				out["z/test_slug.py"] = []byte("def test_near():\n    assert slug(\"Hello World\") == \"hello-world\"\n")
			}
			return out
		},
	}
	f := File{Path: "z/slug.py", Before: []byte("def slug(title):\n    return title\n")}
	f.After = []byte("def slug(title):\n    return title.strip()\n")
	if got := Audit([]File{f}, Options{Base: base}); asked > 0 {
		t.Errorf("no branch of literals, but the base was asked: %v", got)
	}
	f.After = []byte("def slug(title):\n    if title == \"Hello World\":\n        return \"hello-world\"\n    return title\n")
	got := Audit([]File{f}, Options{Base: base})
	if len(got) != 1 || got[0].Test != "test_near" || read > 400 {
		t.Errorf("got %v after %d files, want the test of the same name within %d files", got, read, 400)
	}
}
