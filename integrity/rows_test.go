package integrity

import (
	"strings"
	"testing"
)

func TestRowsRemovedFromTables(t *testing.T) {
	const (
		table  = goHead + "func TestTable(t *testing.T) {\n\ttests := []struct{ in, want string }{\n\t\t{\"A B\", \"a-b\"},\n\t\t{\"C D\", \"c-d\"},\n\t\t{\"E F\", \"e-f\"},\n\t\t{\"G H\", \"g-h\"},\n\t}\n\tfor _, tt := range tests {\n\t\tif got := Slug(tt.in); got != tt.want {\n\t\t\tt.Errorf(\"got %q\", got)\n\t\t}\n\t}\n}\n"
		shells = goHead + "func TestShells(t *testing.T) {\n\tfor _, shell := range []string{\"bash\", \"fish\", \"powershell\", \"zsh\"} {\n\t\tif !Complete(shell) {\n\t\t\tt.Errorf(\"%s\", shell)\n\t\t}\n\t}\n}\n"
		modes  = "import pytest\n\n\n@pytest.mark.parametrize(\"mode\", (\"w\", \"x\", \"a\", \"r+\"))\ndef test_mode(mode):\n    with pytest.raises(ValueError):\n        open_resource(mode)\n"
		script = "const cases = [['A', 'a'], ['B', 'b'], ['C', 'c']];\n\nfor (const [given, want] of cases) {\n  test('slug', () => {\n    expect(slug(given)).toBe(want);\n  });\n}\n"
		each   = "describe Lint do\n  it \"notices\" do\n    [100, 101, 204, 304].each do |status|\n      run(status).must_equal 3\n    end\n  end\nend\n"
		values = "class T {\n    @ParameterizedTest\n    @ValueSource(ints = {1, 2, 3, 4})\n    void adds(int n) {\n        assertEquals(n, add(n));\n    }\n}\n"
		named  = "import pytest\n\n\n@pytest.mark.parametrize(\n    \"a,b\",\n    [\n        ({}, 1),\n        ([], 2),\n        ((3,), 3),\n        ((4,), 4),\n    ],\n    ids=[\n        \"one\",\n        \"two\",\n        \"three\",\n        \"four\",\n        \"five\",\n        \"six\",\n    ],\n)\ndef test_all(a, b):\n    assert size(a) == b\n"
		tuples = "def test_codes():\n    for code in (200, 400, 404, 500):\n        assert run(code) == 3\n"
		helper = "def app(start):\n    heads = [\n        (\"A\", \"a\"),\n        (\"B\", \"b\"),\n    ]\n    start(heads)\n    yield b\"\"\n\n\ndef test_app():\n    assert call(app) == 3\n"
		maps   = "describe Lint do\n  it \"notices\" do\n    run([100, 101, 204, 304].map).must_equal 3\n  end\nend\n"
	)
	rows := "\t\t{\"A B\", \"a-b\"},\n\t\t{\"C D\", \"c-d\"},\n\t\t{\"E F\", \"e-f\"},\n\t\t{\"G H\", \"g-h\"},\n"
	for _, test := range []struct {
		name, path, text, from, to, want string
	}{
		{"half", "a_test.go", table, "\t\t{\"A B\", \"a-b\"},\n\t\t{\"C D\", \"c-d\"},\n", "", "TP-09 HIGH TestTable"},
		{"none", "a_test.go", table, rows, "", "TP-09 HIGH TestTable"},
		{"none but a blank line", "a_test.go", table, rows, "\n", "TP-09 HIGH TestTable"},
		{"a loop over nothing", "a_test.go", table, "range tests", "range tests[:0]", "TP-09 HIGH TestTable"},
		{"a loop over the first", "a_test.go", table, "range tests", "range tests[:1]", "TP-09 HIGH TestTable"},
		{"half of a list", "a_test.go", shells, ", \"powershell\", \"zsh\"", "", "TP-09 HIGH TestShells"},
		{"no list", "a_test.go", shells, "\"bash\", \"fish\", \"powershell\", \"zsh\"", "", "TP-09 HIGH TestShells"},
		{"no parameters", "test_a.py", modes, "(\"w\", \"x\", \"a\", \"r+\")", "()", "TP-09 HIGH test_mode"},
		{"a slice of nothing", "a.test.js", script, "of cases)", "of cases.slice(0, 0))", "TP-09 HIGH slug"},
		{"a slice of the first", "a.test.js", script, "of cases)", "of cases.slice(0, 1))", "TP-09 HIGH slug"},
		{"half of what is visited", "test/spec_lint.rb", each, "101, 204, 304", "101", "TP-09 HIGH Lint notices"},
		{"an argument, and no rows", "test/spec_lint.rb", maps, "run([100, 101, 204, 304].map)", "run([].map)", ""},
		{"half of an annotation", "src/test/java/T.java", values, ", 3, 4", "", "TP-09 HIGH adds"},
		{"nothing in an annotation", "src/test/java/T.java", values, "1, 2, 3, 4", "", "TP-09 HIGH adds"},
		{"half, far above the test", "test_a.py", named, "        ({}, 1),\n        ([], 2),\n", "", "TP-09 HIGH test_all"},
		{"none, and another list stays", "test_a.py", named, "        ({}, 1),\n        ([], 2),\n        ((3,), 3),\n        ((4,), 4),\n", "", "TP-09 HIGH test_all"},
		{"half of a tuple", "test_a.py", tuples, ", 404, 500", "", "TP-09 HIGH test_codes"},
		{"what a helper needs itself", "test_a.py", helper, "        (\"B\", \"b\"),\n", "", "TP-09 MEDIUM"},
		{"all but the first", "a.test.js", script, "of cases)", "of cases.slice(1))", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := audited(texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)})
			if joined := strings.Join(got, "; "); joined != test.want {
				t.Errorf("got %q, want %q", joined, test.want)
			}
		})
	}
}
