package configtext

import (
	"fmt"
	"strings"
	"testing"
)

// All spellings of a setting are the same one, in its own line.
func TestTOMLSpellings(t *testing.T) {
	for text, line := range map[string]int{
		"[tool.pytest.ini_options]\naddopts = \"-k 'not slow'\"\n":                                2,
		"[tool.pytest.ini_options]\naddopts = \"\"\"\n-k 'not slow'\"\"\"\n":                      3,
		"[tool.pytest.ini_options]\naddopts = '''-k 'not slow''''\n":                              2,
		"[tool.pytest.ini_options]\n'addopts' = \"-k \\u0027not slow'\" # \"\n":                   2,
		"[tool.pytest]\nini_options.addopts = \"-k 'not slow'\"\n":                                2,
		"tool.pytest.ini_options.addopts = \"-k 'not slow'\"\n":                                   1,
		"[tool.pytest]\nini_options = { a = [{}, 1], addopts = \"-k 'not slow'\" }\n":             2,
		"[tool]\npytest = {\n  # TOML 1.1\n  ini_options = { addopts = \"-k 'not slow'\" },\n}\n": 4,
		"[ tool . \"pytest\" . ini_options ]\r\naddopts=\"-k 'not slow'\"\r\n":                    2,
		"\ufeff[tool.pytest.ini_options]\naddopts = \"-k 'not slow'\"\n":                          2,
		"[tool\nx = 1\n[tool.pytest.ini_options]\ny = \naddopts = \"-k 'not slow'\"":              5,
	} {
		r, ok := Read(tomlConfig, "pyproject.toml", []byte(text))
		want := fmt.Sprintf("tool.pytest.inioptions.addopts=-k 'not slow':%d", line)
		var got []string
		for _, s := range r.Settings {
			got = append(got, fmt.Sprintf("%s=%s:%d", s.Key, s.Value, s.Line))
		}
		if all := strings.Join(got, "\n"); !ok || !strings.Contains(all, want) {
			t.Errorf("%q: got\n%s\nwant %s", text, all, want)
		}
		if calls := FindCalls(&r); len(calls) != 1 || calls[0].Name != "pytest" || calls[0].Line != line {
			t.Errorf("%q: calls %+v", text, calls)
		}
	}
}

// An element of a list is in its own line, and tables in lists are named by the list.
func TestTOMLLists(t *testing.T) {
	r, _ := Read(tomlConfig, "Cargo.toml", []byte("[workspace]\nexclude = [ # some\n  'a', \"b\",\n  \"c\"]\n[[test]]\nharness = false\nx = [{ y = 1 }]\n"))
	var got []string
	for _, s := range r.Settings {
		got = append(got, fmt.Sprintf("%s=%s:%d", s.Key, s.Value, s.Line))
	}
	if all := strings.Join(got, " "); all != "workspace.exclude[]=a:3 workspace.exclude[]=b:3 workspace.exclude[]=c:4 test.harness=false:6 test.x[].y=1:7" {
		t.Error(all)
	}
}
