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
	// maskedBy says how its failure is ignored, or that it never runs, because of
	// something next to it: "continue-on-error"; "" for nothing.
	maskedBy string
}

// Reading is what was read from a configuration file.
type Reading struct {
	Settings []Setting
	Commands []Command
}

func (r *Reading) addSetting(key, value string, line int) {
	r.Settings = append(r.Settings, Setting{key, value, line})
}

// addCommands adds the lines of a script.
func (r *Reading) addCommands(key, script string, at int) {
	for _, l := range joinContinuedLines(script, at) {
		if text := strings.TrimSpace(expressionRE.ReplaceAllStringFunc(toxEnvPrefixRE.ReplaceAllString(l.text, "$1"), expressionVariable)); text != "" && !strings.HasPrefix(text, "#") {
			r.Commands = append(r.Commands, Command{Key: key, Text: text, Line: l.number})
		}
	}
}

// toxEnvPrefixRE is a prefix of a tox command from the environment, which may be empty:
// {env:COVERAGE_RUN:} pytest.
var toxEnvPrefixRE = regexp.MustCompile(`^(\s*(?:-\s+)?)(?:\{env:\w+:[^{}]*\}\s+)+`)

// expressionRE is an expression of a workflow, which may hold anything.
var expressionRE = regexp.MustCompile(`\$\{\{.*?\}\}`)

// expressionVariable rewrites such an expression as a variable with its last name.
func expressionVariable(expression string) string {
	names := strings.FieldsFunc(expression, func(c rune) bool { return !isWordByte(byte(c)) || c == '.' || c == '$' })
	if len(names) == 0 {
		return "$(x)"
	}
	return "$(" + names[len(names)-1] + ")"
}

// scriptLine is one line of a script, with its continuation lines.
type scriptLine struct {
	number int // from 1, of the first
	text   string
}

// joinContinuedLines returns the lines of a script, those that end in a backslash joined with the
// next. at is the number of the first one.
func joinContinuedLines(script string, at int) []scriptLine {
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

// NormalizeKey normalises a name as in [Setting].
func NormalizeKey(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

// joinKey joins a name to those that lead to it.
func joinKey(key, name string) string {
	if key == "" {
		return NormalizeKey(name)
	}
	return key + "." + NormalizeKey(name)
}

// Read reads a configuration file; false means that its syntax is invalid.
func Read(kind Kind, name string, text []byte) (Reading, bool) {
	var r Reading
	ok := true
	switch kind {
	case yamlConfig:
		ok = r.readYAML(text)
	case jsonConfig, braceConfig:
		r.readBraces(string(text))
	case tomlConfig:
		r.readTOML(text)
	case iniConfig:
		r.readINI(string(text))
	case xmlConfig:
		ok = r.readXML(text)
	case makeConfig:
		r.readMakefile(string(text))
	case dockerConfig:
		r.readDockerfile(string(text))
	case shellConfig:
		r.readShell(string(text))
	case powerShellConfig:
		r.readPowerShell(string(text))
	case argsConfig:
		r.readArguments(name, string(text))
	case codeConfig:
		r.readCode(string(text))
	case None:
	}
	r.deriveCommands()
	return r, ok
}

// ReadLines reads a file of which one side has invalid syntax.
func ReadLines(text []byte) Reading {
	var r Reading
	r.readPlainLines(string(text))
	r.deriveCommands()
	return r
}

func (r *Reading) deriveCommands() {
	r.addNamedCommands()
	r.markMaskedCommands()
	r.addLimits()
}

// readArguments reads a file of arguments of one program, in one line or in several.
func (r *Reading) readArguments(name, text string) {
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

// readPlainLines reads "name: value" and "name = value", and every line as a command: the
// fallback for invalid syntax.
func (r *Reading) readPlainLines(text string) {
	for i, l := range strings.Split(text, "\n") {
		name, value, ok := cutAssignment(l)
		if !ok {
			r.addCommands("", strings.TrimLeft(l, "- \t"), i+1)
			continue
		}
		r.addSetting(NormalizeKey(name), unquote(value), i+1)
		r.addCommands(NormalizeKey(name), unquote(value), i+1)
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
