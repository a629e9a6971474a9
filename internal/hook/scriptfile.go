package hook

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// temporaryFolderRE are the folders outside the tree in which agents write scripts.
var temporaryFolderRE = regexp.MustCompile(`^(/private)?(/tmp|/var/tmp|/dev/shm|/var/folders)/`)

// agentScript returns the text of a script that the agent wrote. A script that has not changed since
// the agent started belongs to the project and is trusted.
func (j *judge) agentScript(abs string) (string, bool) {
	p := j.resolve(word{text: abs}, "/")
	if p.rel == "" {
		if j.opt.Tree.ReadOutside == nil || !temporaryFolderRE.MatchString(abs) {
			return "", false
		}
		text, ok := j.opt.Tree.ReadOutside(abs)
		return string(text), ok
	}
	text, ok := j.read(p.rel)
	if !ok || !slices.Contains(j.files(), p.rel) {
		return string(text), ok
	}
	if j.opt.Tree.Before == nil {
		return "", false
	}
	before, had := j.opt.Tree.Before(p.rel)
	return string(text), !had || !bytes.Equal(before, text)
}

// scriptFile returns the text of a script that the agent wrote, in this command line or
// before.
func (r *shellReader) scriptFile(w word) (string, bool) {
	if w.text == "" || w.unknown || w.glob {
		return "", false
	}
	abs := joinPath(r.dir, w.text)
	text, ok := r.writtenFiles[abs]
	if !ok && r.scripts != nil {
		text, ok = r.scripts(abs)
	}
	return text, ok && len(text) <= maxLength && !strings.Contains(text, "\x00")
}

// recordWrite records what a file contains after this part of the command line has run.
func (r *shellReader) recordWrite(w word, out stream, appended bool) {
	if !out.known || w.unknown || w.glob {
		return
	}
	abs := joinPath(r.dir, w.text)
	if appended {
		out.text = r.writtenFiles[abs] + out.text
	}
	if r.writtenFiles[abs] = out.text; len(out.text) > maxLength {
		r.writtenFiles[abs] = ""
	}
}

// runScript reads a script with its name and arguments, as a separate shell does.
func (r *shellReader) runScript(text string, args []word) stream {
	dir, self := r.dir, r.vars["0"]
	if len(args) > 0 {
		r.setScriptName(args[:1])
		args = args[1:]
	}
	out := r.runWithArguments(text, args)
	r.dir = dir
	r.setScriptName(self)
	return out
}

// setScriptName sets the name of a script ($0), nil for none.
func (r *shellReader) setScriptName(self []word) {
	for _, name := range []string{"0", "BASH_SOURCE"} {
		if r.vars[name] = self; self == nil {
			delete(r.vars, name)
		}
	}
}

// runWithArguments reads a script with its arguments.
func (r *shellReader) runWithArguments(text string, args []word) stream {
	vars := map[string][]word{}
	for i := range 9 {
		name := strconv.Itoa(i + 1)
		vars[name] = r.vars[name]
		delete(r.vars, name)
		if i < len(args) {
			r.vars[name] = args[i : i+1]
		}
	}
	vars["@"], r.vars["@"] = r.vars["@"], args
	out := r.readText(text)
	for name, list := range vars {
		if r.vars[name] = list; list == nil {
			delete(r.vars, name)
		}
	}
	return out
}

var (
	shebangRE  = regexp.MustCompile(`^#!\s*\S*?/?(env\s+(-\S+\s+)*)?([^\s/]+)(\s|$)`)
	shellNames = []string{"bash", "sh", "zsh", "dash", "ksh", "ash"}
)

// runPath reads a program that is given as a path, if it is a script that the agent wrote.
func (r *shellReader) runPath(c command, program word) (stream, bool) {
	if !strings.Contains(program.text, "/") {
		return stream{}, false
	}
	text, ok := r.scriptFile(program)
	if !ok {
		return stream{}, false
	}
	if m := shebangRE.FindStringSubmatch(text); m != nil && !slices.Contains(shellNames, m[3]) {
		c.name, c.script = m[3], text
		r.script.commands = append(r.script.commands, c)
		return unknownStream, true
	}
	return r.runScript(text, append([]word{program}, c.args...)), true
}

// withScript adds the text of the script to a call of an interpreter, and that of the patch
// to git.
func (r *shellReader) withScript(c command) command {
	if strings.HasPrefix(c.name, "python3.") {
		c.name = "python3"
	}
	remaining := operands(c.args)
	if c.name == "git" && len(remaining) > 1 && (remaining[0].text == "apply" || remaining[0].text == "am") {
		c.in.text, c.in.known = r.scriptFile(remaining[1])
	}
	if !slices.Contains(framework.Interpreters, c.name) {
		return c
	}
	if len(remaining) > 0 && remaining[0].text == "run" {
		remaining = remaining[1:]
	}
	if len(remaining) > 0 && !hasOption(c.args, "-e", "--eval") && !hasOption(c.args, "-c", "") {
		c.script, _ = r.scriptFile(remaining[0])
	}
	return c
}

// runSource reads a script in the current shell.
func runSource(r *shellReader, c command) stream {
	remaining := operands(c.args)
	if len(remaining) == 0 {
		return stream{}
	}
	text, ok := r.scriptFile(remaining[0])
	if !ok {
		return unknownStream
	}
	return r.runWithArguments(text, remaining[1:])
}

// runTrap reads what a shell will run later.
func runTrap(r *shellReader, c command) stream {
	if remaining := operands(c.args); len(remaining) > 1 && !remaining[0].unknown {
		r.readText(remaining[0].text)
	}
	return stream{known: true}
}

// runners are programs that run another one after one of some words.
var runners = func() map[string][]string {
	out := map[string][]string{"bundle": {"exec"}, "mise": {"exec", "x"}, "uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}}
	for name, manager := range framework.PackageManagers {
		out[name] = manager.Exec
	}
	return out
}()

// removers delete their arguments, which removed judges.
const removers = "rm unlink shred srm rimraf del trash trash-put"

// runRunner reads the program that a runner runs. It is false if the runner does something else.
func (r *shellReader) runRunner(c command) (stream, bool) {
	words, ok := runners[c.name]
	if !ok || len(c.args) == 0 {
		return stream{}, false
	}
	args := c.args
	switch {
	case slices.Contains(words, args[0].text):
		for args = args[1:]; len(args) > 0 && strings.HasPrefix(args[0].text, "-"); {
			args = args[1:]
		}
	case !slices.Contains(strings.Fields(removers), args[0].text):
		return stream{}, false
	}
	return r.runProgram(args, c.set, c.in), true
}

// printedPath is the output of commands that print a path. It is false for others.
func (r *shellReader) printedPath(c command) (stream, bool) {
	remaining := operands(c.args)
	switch {
	case c.name == "mktemp" && len(remaining) == 0:
		return literalStream(word{text: "/tmp/mktemp"}), true
	case c.name == "pwd":
		return literalStream(word{text: r.dir}), true
	case c.name == "git" && r.root != "" && len(remaining) > 0 && remaining[0].text == "rev-parse" && hasOption(c.args, "", "--show-toplevel"):
		return literalStream(word{text: r.root}), true
	case len(remaining) == 0 || remaining[0].unknown || remaining[0].glob:
		return stream{}, false
	}
	return r.derivedPath(c.name, remaining)
}

// derivedPath is the output of commands that derive one path from another.
func (r *shellReader) derivedPath(program string, remaining []word) (stream, bool) {
	name := remaining[0].text
	switch program {
	case "dirname":
		name = path.Dir(name)
	case "basename":
		name = baseName(name)
		if len(remaining) > 1 {
			name = strings.TrimSuffix(name, remaining[1].text)
		}
	case "realpath":
		name = joinPath(r.dir, name)
	default:
		return stream{}, false
	}
	return literalStream(word{text: name}), true
}
