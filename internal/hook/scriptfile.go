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

// scratchScripts are the folders outside the tree in which agents write scripts.
var scratchScripts = regexp.MustCompile(`^(/private)?(/tmp|/var/tmp|/dev/shm|/var/folders)/`)

// script returns the text of a script that the agent wrote. A script that has not changed since
// the agent started belongs to the project and is trusted.
func (j *judge) script(abs string) (string, bool) {
	p := j.place(word{text: abs}, "/")
	if p.rel == "" {
		if j.opt.Tree.ReadOutside == nil || !scratchScripts.MatchString(abs) {
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
func (r *reader) scriptFile(w word) (string, bool) {
	if w.text == "" || w.unknown || w.glob {
		return "", false
	}
	abs := joined(r.dir, w.text)
	text, ok := r.wrote[abs]
	if !ok && r.scripts != nil {
		text, ok = r.scripts(abs)
	}
	return text, ok && len(text) <= maxLength && !strings.Contains(text, "\x00")
}

// write records what a file contains after this part of the command line has run.
func (r *reader) write(w word, out stream, appended bool) {
	if !out.known || w.unknown || w.glob {
		return
	}
	abs := joined(r.dir, w.text)
	if appended {
		out.text = r.wrote[abs] + out.text
	}
	if r.wrote[abs] = out.text; len(out.text) > maxLength {
		r.wrote[abs] = ""
	}
}

// alone reads a script with its name and arguments, as a separate shell does.
func (r *reader) alone(text string, args []word) stream {
	dir, self := r.dir, r.vars["0"]
	if len(args) > 0 {
		r.named(args[:1])
		args = args[1:]
	}
	out := r.follow(text, args)
	r.dir = dir
	r.named(self)
	return out
}

// named sets the name of a script ($0), nil for none.
func (r *reader) named(self []word) {
	for _, name := range []string{"0", "BASH_SOURCE"} {
		if r.vars[name] = self; self == nil {
			delete(r.vars, name)
		}
	}
}

// follow reads a script with its arguments.
func (r *reader) follow(text string, args []word) stream {
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
	out := r.text(text)
	for name, list := range vars {
		if r.vars[name] = list; list == nil {
			delete(r.vars, name)
		}
	}
	return out
}

var (
	shebang    = regexp.MustCompile(`^#!\s*\S*?/?(env\s+(-\S+\s+)*)?([^\s/]+)(\s|$)`)
	shellNames = []string{"bash", "sh", "zsh", "dash", "ksh", "ash"}
)

// started reads a program that is given as a path, if it is a script that the agent wrote.
func (r *reader) started(c command, program word) (stream, bool) {
	if !strings.Contains(program.text, "/") {
		return stream{}, false
	}
	text, ok := r.scriptFile(program)
	if !ok {
		return stream{}, false
	}
	if m := shebang.FindStringSubmatch(text); m != nil && !slices.Contains(shellNames, m[3]) {
		c.name, c.script = m[3], text
		r.script.commands = append(r.script.commands, c)
		return stream{words: []word{unknown}}, true
	}
	return r.alone(text, append([]word{program}, c.args...)), true
}

// interpreted adds the text of the script to a call of an interpreter, and that of the patch
// to git.
func (r *reader) interpreted(c command) command {
	if strings.HasPrefix(c.name, "python3.") {
		c.name = "python3"
	}
	rest := operands(c.args)
	if c.name == "git" && len(rest) > 1 && (rest[0].text == "apply" || rest[0].text == "am") {
		c.in.text, c.in.known = r.scriptFile(rest[1])
	}
	if !slices.Contains(framework.Interpreters, c.name) {
		return c
	}
	if len(rest) > 0 && rest[0].text == "run" {
		rest = rest[1:]
	}
	if len(rest) > 0 && !has(c.args, "-e", "--eval") && !has(c.args, "-c", "") {
		c.script, _ = r.scriptFile(rest[0])
	}
	return c
}

// sourced reads a script in the current shell.
func sourced(r *reader, c command) stream {
	rest := operands(c.args)
	if len(rest) == 0 {
		return stream{}
	}
	text, ok := r.scriptFile(rest[0])
	if !ok {
		return stream{words: []word{unknown}}
	}
	return r.follow(text, rest[1:])
}

// trapped reads what a shell will run later.
func trapped(r *reader, c command) stream {
	if rest := operands(c.args); len(rest) > 1 && !rest[0].unknown {
		r.text(rest[0].text)
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

// ran reads the program that a runner runs. It is false if the runner does something else.
func (r *reader) ran(c command) (stream, bool) {
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
	return r.run(args, c.set, c.in), true
}

// pathPrinted is the output of commands that print a path. It is false for others.
func (r *reader) pathPrinted(c command) (stream, bool) {
	rest := operands(c.args)
	switch {
	case c.name == "mktemp" && len(rest) == 0:
		return literal(word{text: "/tmp/mktemp"}), true
	case c.name == "pwd":
		return literal(word{text: r.dir}), true
	case c.name == "git" && r.root != "" && len(rest) > 0 && rest[0].text == "rev-parse" && has(c.args, "", "--show-toplevel"):
		return literal(word{text: r.root}), true
	case len(rest) == 0 || rest[0].unknown || rest[0].glob:
		return stream{}, false
	}
	return r.partPrinted(c.name, rest)
}

// partPrinted is the output of commands that derive one path from another.
func (r *reader) partPrinted(program string, rest []word) (stream, bool) {
	name := rest[0].text
	switch program {
	case "dirname":
		name = path.Dir(name)
	case "basename":
		name = base(name)
		if len(rest) > 1 {
			name = strings.TrimSuffix(name, rest[1].text)
		}
	case "realpath":
		name = joined(r.dir, name)
	default:
		return stream{}, false
	}
	return literal(word{text: name}), true
}
