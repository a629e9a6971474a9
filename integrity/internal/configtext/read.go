// Package configtext reads configuration files and scripts of many formats into settings, commands
// and the calls of programs that check the code.
//
// [DetectKind] finds the format of a file, and [Read] reads it. text.go reads YAML, XML, TOML and
// INI files; braces.go reads JSON, JavaScript objects and Gradle; scripts.go reads makefiles,
// scripts and code. scripts.go also finds the settings whose values are commands. [FindCalls]
// finds, in the commands, the calls of programs that check. shell.go recognizes such a program
// behind wrappers such as npx, and calls.go finds out what the arguments and the lines around a
// call do to it.
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
	Line  int    // from 1
}

// Command is one line for a shell, with its continuation lines joined.
type Command struct {
	Key  string // the key of the setting that contains it, or the target of a Makefile
	Text string
	Line int // from 1; that of the first line
	// maskedBy says why a setting next to the command lets its failure be ignored, or keeps it from
	// running: "continue-on-error". It is "" if nothing does.
	maskedBy string
}

// Reading is what was read from a configuration file, in the order of the file.
type Reading struct {
	Settings []Setting
	Commands []Command
}

// addSetting adds a setting. The key is normalized already.
func (r *Reading) addSetting(key, value string, line int) {
	r.Settings = append(r.Settings, Setting{key, value, line})
}

// addCommands adds the lines of a script as commands, without blank lines and comments. at is the
// number of the first line.
func (r *Reading) addCommands(key, script string, at int) {
	for _, l := range joinContinuedLines(script, at) {
		if text := strings.TrimSpace(expressionRE.ReplaceAllStringFunc(toxEnvPrefixRE.ReplaceAllString(l.text, "$1"), expressionVariable)); text != "" && !strings.HasPrefix(text, "#") {
			r.Commands = append(r.Commands, Command{Key: key, Text: text, Line: l.number})
		}
	}
}

// toxEnvPrefixRE matches variables before a tox command, which may be empty: the first word of
// "{env:COVERAGE_RUN:} pytest".
var toxEnvPrefixRE = regexp.MustCompile(`^(\s*(?:-\s+)?)(?:\{env:\w+:[^{}]*\}\s+)+`)

// expressionRE matches an expression of a GitHub workflow, such as ${{ matrix.os }}. Its value is
// not known.
var expressionRE = regexp.MustCompile(`\$\{\{.*?\}\}`)

// expressionVariable returns a variable of the shell in place of an expression of a workflow, named
// after the last word: "$(os)" for "${{ matrix.os }}".
func expressionVariable(expression string) string {
	names := strings.FieldsFunc(expression, func(c rune) bool { return !isWordByte(byte(c)) || c == '.' || c == '$' })
	if len(names) == 0 {
		return "$(x)"
	}
	return "$(" + names[len(names)-1] + ")"
}

// scriptLine is one line of a script, with its continuation lines joined.
type scriptLine struct {
	number int // from 1, of the first
	text   string
}

// joinContinuedLines returns the lines of a script. A line that ends in a backslash is joined with
// the next. at is the number of the first line.
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

// NormalizeKey returns a name as it is in the keys of settings: in lower case, without blanks, "-"
// and "_".
func NormalizeKey(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

// joinKey returns the key of a name below another key, which is "" at the top level.
func joinKey(key, name string) string {
	if key == "" {
		return NormalizeKey(name)
	}
	return key + "." + NormalizeKey(name)
}

// Read reads a configuration file. The name is used only for files of arguments. It is false if the
// syntax is invalid.
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

// ReadLines reads a file line by line, because the syntax of this or the other side of a change is
// invalid.
func ReadLines(text []byte) Reading {
	var r Reading
	r.readPlainLines(string(text))
	r.deriveCommands()
	return r
}

// deriveCommands finds what follows from the settings and commands that were read: settings that
// are commands, commands whose failure is ignored, and limits in commands.
func (r *Reading) deriveCommands() {
	r.addNamedCommands()
	r.markMaskedCommands()
	r.addLimits()
}

// readArguments reads a file with the arguments of one program, such as .rspec. Each line becomes a
// command that begins with the program.
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

// readPlainLines reads lines such as "name: value" and "name = value" as settings and commands, and
// other lines as commands. It is the fallback for invalid syntax.
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

// cutAssignment cuts a line at the first "=" or ":" into a name and a value. It is false if what is
// before it is not a name.
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

// LastKey returns the part of a key after the last dot.
func LastKey(key string) string {
	return key[strings.LastIndexByte(key, '.')+1:]
}
