package hook

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// temporaryFolderRE matches a path in a folder outside the tree in which agents write scripts, as
// in /tmp/x.sh.
var temporaryFolderRE = regexp.MustCompile(`^(/private)?(/tmp|/var/tmp|/dev/shm|/var/folders)/`)

// agentScript returns the text of a script that the agent wrote. It returns false if the file is
// missing, or if it has not changed since the agent started: such a script belongs to the project
// and is trusted.
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

// scriptFile returns the text of a script that the agent wrote, in this command line or before.
// It returns false if the text is not known.
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

// recordWrite records the text of a file that this part of the command line writes, if it is
// known. Later parts may run it.
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

// runScript reads a script as a separate shell does. args are its name and its arguments.
func (r *shellReader) runScript(text string, args []word) stream {
	dir, caller := r.dir, r.scriptName
	if len(args) > 0 {
		r.scriptName, args = args[:1], args[1:]
	}
	out := r.runWithArguments(text, args)
	r.dir, r.scriptName = dir, caller
	return out
}

// runWithArguments reads a script with its arguments ($1 and so on), and then restores those of
// the caller.
func (r *shellReader) runWithArguments(text string, args []word) stream {
	caller := r.scriptArgs
	r.scriptArgs = slices.Concat([]word{}, args)
	out := r.readText(text)
	r.scriptArgs = caller
	return out
}

var (
	// shebangRE matches the first line of a script, as in "#!/usr/bin/env -S python3 -u". The
	// third group is the interpreter.
	shebangRE  = regexp.MustCompile(`^#!\s*\S*?/?(env\s+(-\S+\s+)*)?([^\s/]+)(\s|$)`)
	shellNames = []string{"bash", "sh", "zsh", "dash", "ksh", "ash"}
)

// runPath reads a program that is given as a path. It returns false unless the path is a script
// that the agent wrote.
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

// withScript returns a command with the text of its script, if it is an interpreter, or with the
// text of its patch, if it is git apply or git am.
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
	if len(remaining) > 0 && !hasOption(c.args, "-e -c --eval") {
		c.script, _ = r.scriptFile(remaining[0])
	}
	return c
}

// runSource reads a script that runs in the current shell.
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

// runTrap reads the commands that a shell will run at a signal.
func runTrap(r *shellReader, c command) stream {
	if remaining := operands(c.args); len(remaining) > 1 && !remaining[0].unknown {
		r.readText(remaining[0].text)
	}
	return stream{known: true}
}

// runners are programs that run another program after one of the given words, as in "uv run".
var runners = func() map[string][]string {
	out := map[string][]string{"bundle": {"exec"}, "mise": {"exec", "x"}, "uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}}
	for name, manager := range framework.PackageManagers {
		out[name] = manager.Exec
	}
	return out
}()

// removers are the programs that delete their arguments. judgeRemove judges them.
const removers = "rm unlink shred srm rimraf del trash trash-put"

// runRunner reads the program that a runner runs. It returns false if the runner does something
// else.
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

// printedPath returns the output of a command that prints a path. It returns false for other
// commands.
func (r *shellReader) printedPath(c command) (stream, bool) {
	remaining := operands(c.args)
	switch {
	case c.name == "mktemp" && len(remaining) == 0:
		return literalStream(word{text: "/tmp/mktemp"}), true
	case c.name == "pwd":
		return literalStream(word{text: r.dir}), true
	case c.name == "git" && r.root != "" && len(remaining) > 0 && remaining[0].text == "rev-parse" && hasOption(c.args, "--show-toplevel"):
		return literalStream(word{text: r.root}), true
	case len(remaining) == 0 || remaining[0].unknown || remaining[0].glob:
		return stream{}, false
	}
	return r.derivedPath(c.name, remaining)
}

// derivedPath returns the output of a command that derives one path from another, such as
// dirname. It returns false for other commands.
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
