package hook

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// operands returns the arguments that are not options. They include the values of options.
func operands(args []word) []word {
	var out []word
	for i, w := range args {
		if w.text == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(w.text, "-") || w.text == "-" {
			out = append(out, w)
		}
	}
	return out
}

// hasOption reports whether one of the options in a list such as "-r -R --recursive" is given
// before "--".
func hasOption(args []word, list string) bool {
	for _, w := range args {
		if w.text == "--" {
			return false
		}
		for option := range strings.FieldsSeq(list) {
			if w.isOption(option) {
				return true
			}
		}
	}
	return false
}

// isOption reports whether a word sets an option. A long option may have a value after "=". An
// option of one letter may be combined with others, as -r is in -rf.
func (w word) isOption(option string) bool {
	if strings.HasPrefix(option, "--") {
		return w.text == option || strings.HasPrefix(w.text, option+"=")
	}
	letters, isShort := strings.CutPrefix(w.text, "-")
	mayCombine := len(option) == 2 && isShort && !strings.HasPrefix(letters, "-")
	return w.text == option || mayCombine && strings.Contains(letters, option[1:])
}

// builtinHandler returns the function for a program that changes the state of the reader, or that
// runs other programs or scripts. It returns nil for all others.
func builtinHandler(name string) func(*shellReader, command) stream {
	switch name {
	case "cd", "pushd":
		return changeDir
	case "read", "mapfile", "readarray":
		return setReadVariables
	case "export", "local", "declare":
		return exportVariables
	case "eval":
		return runEval
	case "xargs", "parallel":
		return runXargs
	case "find", "fd":
		return runFindActions
	case "bash", "sh", "zsh", "dash", "ksh", "ash", "su", "runuser", "script":
		return runShell
	case "source", ".":
		return runSource
	case "trap":
		return runTrap
	}
	if _, ok := prefixes[name]; ok {
		return runPrefixed
	}
	return nil
}

// changeDir changes the current folder. An unknown folder leaves it unchanged.
func changeDir(r *shellReader, c command) stream {
	remaining := operands(c.args)
	switch {
	case len(remaining) == 0:
		r.dir = r.home
	case remaining[0].unknown:
		// the current folder is assumed
	default:
		r.dir = joinPath(r.dir, remaining[0].text)
	}
	return stream{known: true}
}

// setReadVariables sets variables to the input of the command.
func setReadVariables(r *shellReader, c command) stream {
	list := c.in.words
	if len(list) == 0 {
		list = []word{unknownWord}
	}
	for _, w := range operands(c.args) {
		r.vars[w.text] = list
	}
	return stream{known: true}
}

// exportVariables sets the variables of export and similar commands.
func exportVariables(r *shellReader, c command) stream {
	for _, w := range operands(c.args) {
		if name, value, ok := strings.Cut(w.text, "="); ok {
			r.vars[name] = []word{{text: value, glob: w.glob, unknown: w.unknown}}
		}
	}
	return stream{known: true}
}

// runEval reads the arguments of eval as a script.
func runEval(r *shellReader, c command) stream { return r.readText(joinTexts(c.args)) }

// runShell reads the script of a shell: after -c, on its input, or in a file that the agent
// wrote.
func runShell(r *shellReader, c command) stream {
	for i, w := range c.args {
		if strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.HasSuffix(w.text, "c") && i+1 < len(c.args) {
			return r.runScript(c.args[i+1].text, c.args[i+2:])
		}
	}

	remaining := operands(c.args)
	if len(remaining) == 0 && c.in.known {
		return r.readText(c.in.text)
	}
	for i := range remaining[:min(len(remaining), 2)] { // the first one may be the value of an option
		if text, ok := r.scriptFile(remaining[i]); ok {
			return r.runScript(text, remaining[i:])
		}
	}

	r.script.commands = append(r.script.commands, c)
	return unknownStream
}

// prefixes are programs that run the program after them. The values are their options that take a
// value.
var prefixes = map[string]string{
	"sudo": "-u -g -h -p -C -D -R -T", "doas": "-u -C", "env": "-u -C -S", "nice": "-n", "ionice": "-c -n -p", "nohup": "", "time": "-f -o",
	"timeout": "-k -s", "command": "", "builtin": "", "exec": "-a", "stdbuf": "-i -o -e", "setsid": "", "busybox": "", "chronic": "",
	"unbuffer": "", "toybox": "", "bunx": "", "pnpx": "", "shx": "", "watch": "-n", "rtk": "", "npx": "-p", "xvfb-run": "-s -e -n", "flock": "-w -E", "caffeinate": "-t -w", "strace": "-o -e -p", "firejail": "",
}

// runPrefixed reads the program after one of prefixes.
func runPrefixed(r *shellReader, c command) stream {
	valueOptions, args, set := strings.Fields(prefixes[c.name]), c.args, c.set
	setsVariables := c.name == "env" || c.name == "sudo"
	hasOperand := c.name == "timeout" || c.name == "flock" // a duration or a file precedes the program
	for len(args) > 0 {
		text := args[0].text
		switch {
		case slices.Contains(valueOptions, text) && len(args) > 1:
			args = args[1:]
		case strings.HasPrefix(text, "-"):
		case setsVariables && strings.Contains(text, "="):
			set = append(set, text)
		case hasOperand:
			hasOperand = false
		default:
			return r.runProgram(args, set, c.in)
		}
		args = args[1:]
	}
	return stream{}
}

// xargsValueOptions are the options of xargs whose value is a separate word.
var xargsValueOptions = []string{"-n", "-P", "-L", "-d", "-s", "-E", "-a", "-I", "-J", "-j"}

// runXargs reads the program that xargs runs, with the input of xargs as arguments.
func runXargs(r *shellReader, c command) stream {
	args, replace := c.args, ""
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		option := args[0].text
		args = args[1:]
		hasValue := len(args) > 0 && slices.Contains(xargsValueOptions, option)
		switch {
		case hasValue && (option == "-I" || option == "-J"):
			replace = args[0].text
		case strings.HasPrefix(option, "-I"):
			replace = option[2:]
		}
		if hasValue {
			args = args[1:]
		}
	}

	list := c.in.words
	if len(list) == 0 {
		list = []word{unknownWord}
	}
	if replace == "" {
		return r.runProgram(append(slices.Clone(args), list...), c.set, stream{})
	}
	return r.runProgram(fillPlaceholder(args, replace, list), c.set, stream{})
}

// fillPlaceholder returns arguments with the words of a list in place of a placeholder, such as {}.
func fillPlaceholder(args []word, placeholder string, list []word) []word {
	var out []word
	for _, a := range args {
		switch {
		case a.text == placeholder:
			out = append(out, list...)
		case strings.Contains(a.text, placeholder):
			text := strings.ReplaceAll(a.text, placeholder, list[0].text)
			out = append(out, word{text: text, glob: true, unknown: list[0].unknown})
		default:
			out = append(out, a)
		}
	}
	return out
}

// runFindActions reads the programs that find runs for the files that it finds, as in find .
// -exec rm {} +.
func runFindActions(r *shellReader, c command) stream {
	list := findOutput(c)
	for i, w := range c.args {
		switch w.text {
		case "-delete":
			r.runProgram(append([]word{{text: "rm"}, {text: "-r"}, {text: "--"}}, list...), nil, stream{})
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X":
			args := c.args[i+1:]
			if end := slices.IndexFunc(args, endsFindAction); end >= 0 {
				args = args[:end]
			}
			r.runProgram(fillPlaceholder(args, "{}", list), nil, stream{})
		}
	}
	return stream{words: list}
}

// endsFindAction reports whether a word ends the command of a find action, as ";" and "+" do.
func endsFindAction(w word) bool { return w.text == ";" || w.text == "+" || w.text == `\;` }

// gitCommand is a command line of git.
type gitCommand struct {
	subcommand string
	args       []word
	dir        string   // the folder that it runs in, absolute
	config     []string // settings for this command: name=value after -c
}

// gitValueOptions are the options of git before the subcommand whose value is a separate word.
var gitValueOptions = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}

// parseGit reads the options of git before the subcommand. The remaining arguments are those of
// the subcommand.
func parseGit(c command) gitCommand {
	g := gitCommand{dir: c.dir}
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		option := args[0].text
		if args = args[1:]; len(args) == 0 || !slices.Contains(gitValueOptions, option) {
			continue
		}
		switch option {
		case "-C":
			g.dir = joinPath(g.dir, args[0].text)
		case "-c":
			g.config = append(g.config, args[0].text)
		}
		args = args[1:]
	}
	if len(args) > 0 {
		g.subcommand, g.args = args[0].text, args[1:]
	}
	return g
}

// baseName returns the last part of a path.
func baseName(p string) string { return path.Base(filepath.ToSlash(p)) }
