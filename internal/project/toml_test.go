package project_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"supervise/internal/project"
)

// spellings are ways to write a key of a table, whose value is a string or a list of one.
var spellings = map[string]func(table []string, key, value string, list bool) string{
	"table": func(table []string, key, value string, list bool) string {
		return "[" + strings.Join(table, ".") + "]\n" + key + " = " + valued(`"`+value+`"`, list)
	},
	"dotted key": func(table []string, key, value string, list bool) string {
		return "other = 1\n" + strings.Join(table, ".") + "." + key + " = " + valued(`"`+value+`"`, list)
	},
	"dotted key in a table": func(table []string, key, value string, list bool) string {
		last := len(table) - 1
		if last == 0 {
			return table[0] + "." + key + " = " + valued(`"`+value+`"`, list)
		}
		return "[" + strings.Join(table[:last], ".") + "]\n" + table[last] + "." + key + " = " + valued(`"`+value+`"`, list)
	},
	"inline table": func(table []string, key, value string, list bool) string {
		return strings.Join(table, ".") + " = { other = 1, " + key + " = " + valued(`"`+value+`"`, list) + " } # one"
	},
	"quoted keys": func(table []string, key, value string, list bool) string {
		return `["` + strings.Join(table, `"."`) + "\"]\n'" + key + "' = " + valued(`"`+value+`"`, list)
	},
	"blanks": func(table []string, key, value string, list bool) string {
		return " [ " + strings.Join(table, " . ") + " ] # the tests\n\t" + key + "=" + valued(`"`+value+`"`, list)
	},
	"literal string": func(table []string, key, value string, list bool) string {
		return "[" + strings.Join(table, ".") + "]\n" + key + " = " + valued("'"+value+"'", list) + " # one"
	},
	"several lines": func(table []string, key, value string, list bool) string {
		text := valued("'''\n"+value+"'''", false)
		if list {
			text = "[\n  # ]\n  \"" + value + "\", # one\n]"
		}
		return "[" + strings.Join(table, ".") + "]\n" + key + " = " + text
	},
	"multi-line basic string": func(table []string, key, value string, list bool) string {
		return "[" + strings.Join(table, ".") + "]\n" + key + " = " + valued("\"\"\"\\\n   "+value+"\"\"\"", list)
	},
	"Windows": func(table []string, key, value string, list bool) string {
		return "\ufeff[" + strings.Join(table, ".") + "]\r\n" + key + " = " + valued(`"`+value+`"`, list) + "\r\n"
	},
}

func valued(text string, list bool) string {
	if list {
		return "[" + text + "]"
	}
	return text
}

// Every reader of a TOML file understands every spelling of what it looks for.
func TestTOMLSpellings(t *testing.T) {
	tests := map[string]string{"checks/sum_checks.py": "import unittest\n"}
	python := []string{"python3", "ruff", "mypy", "uv"}
	rust := map[string]string{"Cargo.toml": "[package]\nname = \"a\"\n", "src/lib.rs": "#[test]\n", "b/Cargo.toml": "[package]\n", "b/src/lib.rs": "#[test]\n"}
	type site struct {
		file, table, key, value string
		list                    bool
		files                   map[string]string
		programs                []string
		want                    string
	}
	discover := "python -m unittest discover -s checks"
	sites := []site{
		{"pyproject.toml", "tool.pytest.ini_options", "testpaths", "sub", true, map[string]string{"sub/pyproject.toml": "[tool.ruff]\n", "sub/test_a.py": "def test_a(): pass\n", "test_b.py": "def test_b(): pass\n"}, python, `\(pyproject.toml\)`},
		{"pyproject.toml", "tool.pytest", "minversion", "9", false, nil, python, `pytest \(pyproject.toml\)`},
		{"pyproject.toml", "tool.ruff", "src", "a", true, nil, python, `ruff \(pyproject.toml\)`},
		{"pyproject.toml", "tool.mypy", "files", "a", true, map[string]string{"mypy.ini": ""}, python, "--no-error-summary\n"},
		{"pyproject.toml", "tool.uv", "package", "x", false, map[string]string{"conftest.py": ""}, python[:1], "uv sync"},
		{"pyproject.toml", "tool.uv.workspace", "members", "sub", true, map[string]string{"uv.lock": "", "pytest.ini": "[pytest]\ntestpaths = other\n", "sub/pyproject.toml": "", "sub/test_a.py": "def test_a(): pass\n"}, python, `uv \(../uv.lock\)`},
		{"Cargo.toml", "workspace", "exclude", "b", true, map[string]string{"src/lib.rs": "#[test]\n", "b/Cargo.toml": "[package]\n", "b/src/lib.rs": "#[test]\n"}, nil, `(?s)workspace \(Cargo.toml\).*part "b" rust`},
		{"Cargo.toml", "test", "required-features", "slow", true, map[string]string{"src/lib.rs": "#[test]\n"}, nil, "need the features slow"},
		{".config/nextest.toml", "profile.default.junit", "path", "own.xml", false, rust, []string{"cargo-nextest"}, "target/nextest/default/own.xml"},
		{"rust-toolchain.toml", "toolchain", "channel", "1.70", false, rust, nil, "the toolchain is 1.70"},
		{"rust-toolchain", "toolchain", "channel", "1.70", false, rust, nil, "the toolchain is 1.70"},
	}
	for _, table := range []string{"tool.hatch.envs.test.scripts", "tool.hatch.envs.default.scripts", "tool.pdm.scripts", "tool.poe.tasks", "tool.taskipy.tasks"} {
		sites = append(sites,
			site{"pyproject.toml", table, "test", discover, false, tests, python, "-s checks"},
			site{"pyproject.toml", table, "test", discover, true, tests, python, "-s checks"},
			site{"pyproject.toml", table + ".test", "cmd", discover, false, tests, python, "-s checks"},
			site{"pyproject.toml", table + ".test", "shell", discover, false, tests, python, "-s checks"})
	}
	sites = append(sites,
		site{"pyproject.toml", "tool.hatch.envs.hatch-test.scripts", "run", discover, false, tests, python, "-s checks"},
		site{"hatch.toml", "envs.test.scripts", "test", discover, false, map[string]string{"pyproject.toml": "", "checks/sum_checks.py": "import unittest\n"}, python, "-s checks"})
	for _, s := range sites {
		for name, spell := range spellings {
			files := maps.Clone(s.files)
			if files == nil {
				files = map[string]string{}
			}
			files[s.file] = spell(strings.Split(s.table, "."), s.key, s.value, s.list)
			got := shown(project.Detect(write(t, files), having(s.programs...)))
			if !regexp.MustCompile(s.want).MatchString(got) {
				t.Errorf("%s, %s of %s: %s\n%s\ngives no %q:\n%s", s.file, s.key, s.table, name, files[s.file], s.want, got)
			}
		}
		files := maps.Clone(s.files)
		if files == nil {
			files = map[string]string{}
		}
		files[s.file] = "[tool.another]\n" + s.key + " = \"" + s.value + "\"\n"
		if got := shown(project.Detect(write(t, files), having(s.programs...))); regexp.MustCompile(s.want).MatchString(got) {
			t.Errorf("%s: another table than %s gives %q:\n%s", s.file, s.table, s.want, got)
		}
	}
}

// A mistake in a TOML file is one note, or the error if nothing else is found.
func TestTOMLMistake(t *testing.T) {
	broken := "[tool.ruff]\nline-length = \n[tool.pytest.ini_options]\ntestpaths = ['a']\n"
	p, err := project.Detect(write(t, map[string]string{"pyproject.toml": broken, "test_a.py": "def test_a(): pass\n"}), having("python3", "pytest"))
	about := slices.DeleteFunc(slices.Clone(p.Notes), func(n string) bool { return !strings.Contains(n, "pyproject.toml:2: ") })
	if err != nil || len(about) != 1 || !strings.Contains(commands(p), "-m pytest") {
		t.Errorf("%v: %q\n%s", err, p.Notes, commands(p))
	}
	p, err = project.Detect(write(t, map[string]string{"pyproject.toml": "[tool\n"}), having("python3"))
	if !errors.Is(err, project.ErrUnknown) || strings.Count(err.Error(), "pyproject.toml") != 1 || !strings.Contains(err.Error(), ": pyproject.toml:1: ") || len(p.Notes) > 0 {
		t.Errorf("%v, notes %q", err, p.Notes)
	}
}
