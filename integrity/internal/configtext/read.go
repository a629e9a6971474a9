// Package configtext reads configuration files and scripts of many formats into
// settings, commands and the calls of programs that check the code.
package configtext

import (
	"path"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// Setting is one value of a configuration file.
type Setting struct {
	// Key are the names that lead to the value, joined by dots, in lower case and
	// without "-" and "_", so that fail-under, fail_under and failUnder are one.
	// An element of a list has "[]" after the name of the list.
	Key   string
	Value string // as written, without quotes
	Line  int
}

// Command is one line for a shell, with its continuation lines.
type Command struct {
	Key  string // that of the setting it is in, or the target of a Makefile
	Text string
	Line int
	// excused says how its failure is ignored, or that it never runs, because of
	// something next to it: "continue-on-error"; "" for nothing.
	excused string
}

// Reading is what was read from a configuration file.
type Reading struct {
	Settings []Setting
	Commands []Command
}

func (r *Reading) set(key, value string, line int) {
	r.Settings = append(r.Settings, Setting{key, value, line})
}

// run adds the lines of a script.
func (r *Reading) run(key, script string, at int) {
	for _, l := range joined(script, at) {
		if text := strings.TrimSpace(templated.ReplaceAllStringFunc(fromEnv.ReplaceAllString(l.text, "$1"), variable)); text != "" && !strings.HasPrefix(text, "#") {
			r.Commands = append(r.Commands, Command{Key: key, Text: text, Line: l.n})
		}
	}
}

// fromEnv is a prefix of a tox command from the environment, which may be empty:
// {env:COVERAGE_RUN:} pytest.
var fromEnv = regexp.MustCompile(`^(\s*(?:-\s+)?)(?:\{env:\w+:[^{}]*\}\s+)+`)

// templated is an expression of a workflow, which may hold anything.
var templated = regexp.MustCompile(`\$\{\{.*?\}\}`)

// variable rewrites such an expression as a variable with its last name.
func variable(expression string) string {
	names := strings.FieldsFunc(expression, func(c rune) bool { return !wordByte(byte(c)) || c == '.' || c == '$' })
	if len(names) == 0 {
		return "$(x)"
	}
	return "$(" + names[len(names)-1] + ")"
}

// scriptLine is one line of a script, with its continuation lines.
type scriptLine struct {
	n    int // from 1, of the first
	text string
}

// joined returns the lines of a script, those that end in a backslash joined with the
// next. at is the number of the first one.
func joined(script string, at int) []scriptLine {
	var out []scriptLine
	open := false
	for i, text := range strings.Split(script, "\n") {
		text = strings.TrimSuffix(text, "\r")
		more := strings.HasSuffix(text, "\\") && !strings.HasSuffix(text, "\\\\")
		text = strings.TrimSuffix(text, "\\")
		if open {
			out[len(out)-1].text += " " + strings.TrimSpace(text)
		} else {
			out = append(out, scriptLine{at + i, text})
		}
		open = more
	}
	return out
}

// PlainKey normalises a name as in [Setting].
func PlainKey(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

// under joins a name to those that lead to it.
func under(key, name string) string {
	if key == "" {
		return PlainKey(name)
	}
	return key + "." + PlainKey(name)
}

// Read reads a configuration file; false means that its syntax is invalid.
func Read(kind Kind, name string, text []byte) (Reading, bool) {
	var r Reading
	ok := true
	switch kind {
	case yamlConfig:
		ok = r.yaml(text)
	case jsonConfig, braceConfig:
		r.braces(string(text))
	case tomlConfig:
		r.toml(text)
	case iniConfig:
		r.ini(string(text))
	case xmlConfig:
		ok = r.xml(text)
	case makeConfig:
		r.makefile(string(text))
	case dockerConfig:
		r.dockerfile(string(text))
	case shellConfig:
		r.shell(string(text))
	case powerShellConfig:
		r.powerShell(string(text))
	case argsConfig:
		r.arguments(name, string(text))
	case codeConfig:
		r.code(string(text))
	case None:
	}
	r.finish()
	return r, ok
}

// ReadLines reads a file of which one side has invalid syntax.
func ReadLines(text []byte) Reading {
	var r Reading
	r.plainLines(string(text))
	r.finish()
	return r
}

func (r *Reading) finish() {
	r.namedCommands()
	r.excuses()
	r.limits()
}

// arguments reads a file of arguments of one program, in one line or in several.
func (r *Reading) arguments(name, text string) {
	program := framework.ArgumentFiles[path.Base(name)]
	if program == "" {
		program = "mvn test"
	}
	for i, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			r.Commands = append(r.Commands, Command{Key: "args", Text: program + " " + l, Line: i + 1})
		}
	}
}

// plainLines reads "name: value" and "name = value", and every line as a command: the
// fallback for invalid syntax.
func (r *Reading) plainLines(text string) {
	for i, l := range strings.Split(text, "\n") {
		name, value, ok := cutAssignment(l)
		if !ok {
			r.run("", strings.TrimLeft(l, "- \t"), i+1)
			continue
		}
		r.set(PlainKey(name), unquote(value), i+1)
		r.run(PlainKey(name), unquote(value), i+1)
	}
}

// cutAssignment cuts at the first "=" or ":" after a name.
func cutAssignment(l string) (name, value string, ok bool) {
	i := strings.IndexAny(l, "=:")
	if i < 0 {
		return "", "", false
	}
	name = strings.Trim(strings.TrimSpace(l[:i]), `"'-? `)
	name = strings.TrimSpace(strings.TrimPrefix(name, "export "))
	if name == "" || strings.ContainsAny(name, " \t(){}$") {
		return "", "", false
	}
	return name, strings.TrimSpace(l[i+1:]), true
}

// unquote removes the quotes around a value.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`"""`, `'''`, `"`, `'`, "`"} {
		if len(s) >= 2*len(q) && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[len(q) : len(s)-len(q)]
		}
	}
	return s
}

// LastKey is the last name of a key, or the last two where the last is an element.
func LastKey(key string) string {
	return key[strings.LastIndexByte(key, '.')+1:]
}
