package integrity

import (
	"strings"

	"supervise/internal/regexp"
)

// setting is one value of a configuration file.
type setting struct {
	// key are the names that lead to the value, joined by dots, in lower case and
	// without "-" and "_", so that fail-under, fail_under and failUnder are one.
	// An element of a list has "[]" behind the name of the list.
	key   string
	value string // as written, without quotes
	line  int
}

// command is one line that a shell is to run, with the lines it goes on in.
type command struct {
	key  string // that of the setting it stands in, or the target of a Makefile
	text string
	line int
	// excused says in which way its failure is ignored, or that it never runs,
	// by something that stands beside it: "continue-on-error"; "" for nothing.
	excused string
}

// reading is what was read of a configuration file.
type reading struct {
	settings []setting
	commands []command
}

func (r *reading) set(key, value string, line int) {
	r.settings = append(r.settings, setting{key, value, line})
}

// run adds the lines of a script.
func (r *reading) run(key, script string, at int) {
	for _, l := range joined(script, at) {
		if text := strings.TrimSpace(templated.ReplaceAllStringFunc(fromEnv.ReplaceAllString(l.text, "$1"), variable)); text != "" && !strings.HasPrefix(text, "#") {
			r.commands = append(r.commands, command{key: key, text: text, line: l.n})
		}
	}
}

// fromEnv is what tox puts before a command from the environment, which may be
// nothing: {env:COVERAGE_RUN:} pytest.
var fromEnv = regexp.MustCompile(`^(\s*(?:-\s+)?)(?:\{env:\w+:[^{}]*\}\s+)+`)

// templated is an expression of a workflow, which may hold anything.
var templated = regexp.MustCompile(`\$\{\{.*?\}\}`)

// variable writes such an expression as a variable with its last name.
func variable(expression string) string {
	names := strings.FieldsFunc(expression, func(c rune) bool { return !wordByte(byte(c)) || c == '.' || c == '$' })
	if len(names) == 0 {
		return "$(x)"
	}
	return "$(" + names[len(names)-1] + ")"
}

// joined returns the lines of a script, those that end in a backslash together
// with what follows. at is the number of the first one.
func joined(script string, at int) []line {
	var out []line
	open := false
	for i, text := range strings.Split(script, "\n") {
		text = strings.TrimSuffix(text, "\r")
		more := strings.HasSuffix(text, "\\") && !strings.HasSuffix(text, "\\\\")
		text = strings.TrimSuffix(text, "\\")
		if open {
			out[len(out)-1].text += " " + strings.TrimSpace(text)
		} else {
			out = append(out, line{at + i, text})
		}
		open = more
	}
	return out
}

// plainKey writes a name in the way of [setting].
func plainKey(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

// under joins a name to those that lead to it.
func under(key, name string) string {
	if key == "" {
		return plainKey(name)
	}
	return key + "." + plainKey(name)
}

// readConfig reads a configuration file; false means that it is not written as it
// should be.
func readConfig(kind configKind, name string, text []byte) (reading, bool) {
	var r reading
	ok := true
	switch kind {
	case yamlConfig:
		ok = r.yaml(text)
	case jsonConfig, braceConfig:
		r.braces(string(text), "", 1)
	case tomlConfig:
		r.sections(string(text), true)
	case iniConfig:
		r.sections(string(text), false)
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
	case noConfig:
	}
	r.finish()
	return r, ok
}

// readLines reads a file of which one side is not written as it should be.
func readLines(text []byte) reading {
	var r reading
	r.plainLines(string(text))
	r.finish()
	return r
}

func (r *reading) finish() {
	r.namedCommands()
	r.excuses()
	r.limits()
}

// arguments reads a file of arguments of one program, in one line or in several.
func (r *reading) arguments(name, text string) {
	program := "mvn test "
	if strings.HasSuffix(name, ".rspec") {
		program = "rspec "
	}
	for i, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			r.commands = append(r.commands, command{key: "args", text: program + l, line: i + 1})
		}
	}
}

// plainLines reads "name: value" and "name = value", and every line as a
// command: what is left where a file is not what its name says.
func (r *reading) plainLines(text string) {
	for i, l := range strings.Split(text, "\n") {
		name, value, ok := cutAssignment(l)
		if !ok {
			r.run("", strings.TrimLeft(l, "- \t"), i+1)
			continue
		}
		r.set(plainKey(name), unquote(value), i+1)
		r.run(plainKey(name), unquote(value), i+1)
	}
}

// cutAssignment cuts at the first "=" or ":" behind a name.
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

// unquote takes a value out of its quotes.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`"""`, `'''`, `"`, `'`, "`"} {
		if len(s) >= 2*len(q) && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[len(q) : len(s)-len(q)]
		}
	}
	return s
}
