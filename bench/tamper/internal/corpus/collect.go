package corpus

import (
	"regexp"
	"slices"
	"strings"
)

// inTriple says of each line of Python whether it begins within a string of three
// quotes: what is there is text that a test writes to a file, no test.
func inTriple(lines []string) []bool {
	out := make([]bool, len(lines))
	open := ""
	for i, line := range lines {
		out[i] = open != ""
		for j := 0; j < len(line); j++ {
			rest := line[j:]
			switch {
			case open != "" && line[j] == '\\':
				j++
			case open != "" && strings.HasPrefix(rest, open):
				j, open = j+2, ""
			case open != "":
			case line[j] == '#':
				j = len(line)
			case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
				open, j = rest[:3], j+2
			case line[j] == '"' || line[j] == '\'':
				j += 1 + closing(rest[1:], line[j])
			}
		}
	}
	return out
}

// closing is where a string on one line ends.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == quote {
			return i
		}
	}
	return len(s)
}

// hollow matches assertions that say nothing: a test with no other loses nothing
// when it is cheated away.
var hollow = Re(`^\s*(?:assert (?:True|1|1 == 1)$|expect\((true|1)\)\.(?:toBe|toEqual|toStrictEqual)\((?:true|1)\);?$|expect\(true\)\.toBeTruthy\(\);?$|assert\(true\);?$)`)

// Asserts says that a test has an assertion which says something.
func (t *TestCase) Asserts() bool {
	return slices.ContainsFunc(t.Assertions(), func(a span) bool {
		return !hollow.MatchString(strings.Join(t.Lines[a.From:a.To+1], "\n"))
	})
}

var pytestFolders = Re(`(?m)^[ \t]*(norecursedirs|testpaths)\s*=\s*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]+)*)`)

// Collects recognises the Python files that pytest looks at by the project's own
// configuration.
func Collects(t *Tree) func(string) bool {
	var left, only []string
	anywhere := false
	for _, name := range []string{"pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"} {
		for _, m := range pytestFolders.FindAllStringSubmatch(string(t.Read(name)), -1) {
			list := regexp.MustCompile(`[\w./*-]+`).FindAllString(m[2], -1)
			for _, dir := range list {
				switch glob := strings.ContainsAny(dir, "*") || dir == "."; {
				case m[1] == "testpaths" && glob:
					anywhere = true
				case m[1] == "testpaths":
					only = append(only, dir)
				case !glob:
					left = append(left, dir)
				}
			}
		}
	}
	under := func(p string) func(string) bool {
		return func(dir string) bool { return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") }
	}
	return func(p string) bool {
		return (anywhere || len(only) == 0 || slices.ContainsFunc(only, under(p))) && !slices.ContainsFunc(left, under(p))
	}
}
