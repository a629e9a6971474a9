package hook

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// operands are the arguments that are not options. They include values of options.
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

// has reports whether an option is given. A short one may be combined with others, as in -rf.
// Either may be "".
func has(args []word, short, long string) bool {
	for _, w := range args {
		t := w.text
		switch {
		case t == "--":
			return false
		case long != "" && (t == long || strings.HasPrefix(t, long+"=")):
			return true
		case len(short) == 2 && len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t[1:], short[1]) >= 0:
			return true
		case short != "" && t == short:
			return true
		}
	}
	return false
}

// handler returns the function for a program that changes the state of the reader, or that runs
// other programs or scripts. It is nil for all others.
func handler(name string) func(*reader, command) stream {
	switch name {
	case "cd", "pushd":
		return changeDir
	case "read", "mapfile", "readarray":
		return readVar
	case "export", "local", "declare":
		return exported
	case "eval":
		return evaluated
	case "xargs", "parallel":
		return fed
	case "find", "fd":
		return executed
	case "bash", "sh", "zsh", "dash", "ksh", "ash", "su", "runuser", "script":
		return subshell
	case "source", ".":
		return sourced
	case "trap":
		return trapped
	}
	if _, ok := prefixes[name]; ok {
		return prefixed
	}
	return nil
}

func changeDir(r *reader, c command) stream {
	rest := operands(c.args)
	switch {
	case len(rest) == 0:
		r.dir = r.home
	case rest[0].unknown:
		// unknown: assume the current folder
	default:
		r.dir = joined(r.dir, rest[0].text)
	}
	return stream{known: true}
}

// readVar sets variables to the input of the command.
func readVar(r *reader, c command) stream {
	list := c.in.words
	if len(list) == 0 {
		list = []word{unknown}
	}
	for _, w := range operands(c.args) {
		r.vars[w.text] = list
	}
	return stream{known: true}
}

func exported(r *reader, c command) stream {
	for _, w := range operands(c.args) {
		if name, value, ok := strings.Cut(w.text, "="); ok {
			r.vars[name] = []word{{text: value, glob: w.glob, unknown: w.unknown}}
		}
	}
	return stream{known: true}
}

func evaluated(r *reader, c command) stream {
	texts := make([]string, 0, len(c.args))
	for _, w := range c.args {
		texts = append(texts, w.text)
	}
	return r.text(strings.Join(texts, " "))
}

// subshell reads the script that a shell is given: after -c, on its input, or in a file that
// the agent has written.
func subshell(r *reader, c command) stream {
	for i, w := range c.args {
		if strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.HasSuffix(w.text, "c") && i+1 < len(c.args) {
			return r.alone(c.args[i+1].text, c.args[i+2:])
		}
	}
	rest := operands(c.args)
	if len(rest) == 0 && c.in.known {
		return r.text(c.in.text)
	}
	for i := range rest[:min(len(rest), 2)] { // an option may take the first
		if text, ok := r.scriptFile(rest[i]); ok {
			return r.alone(text, rest[i:])
		}
	}
	r.script.commands = append(r.script.commands, c)
	return stream{words: []word{unknown}}
}

// prefixes are programs that run the program after them, with their options that take a value.
var prefixes = map[string]string{
	"sudo": "-u -g -h -p -C -D -R -T", "doas": "-u -C", "env": "-u -C -S", "nice": "-n", "ionice": "-c -n -p", "nohup": "", "time": "-f -o",
	"timeout": "-k -s", "command": "", "builtin": "", "exec": "-a", "stdbuf": "-i -o -e", "setsid": "", "busybox": "", "chronic": "",
	"unbuffer": "", "toybox": "", "bunx": "", "pnpx": "", "shx": "", "watch": "-n", "rtk": "", "npx": "-p", "xvfb-run": "-s -e -n", "flock": "-w -E", "caffeinate": "-t -w", "strace": "-o -e -p", "firejail": "",
}

// prefixed reads the command after a program that only runs another one.
func prefixed(r *reader, c command) stream {
	valued, args := strings.Fields(prefixes[c.name]), c.args
	set := c.set
	positional := map[string]int{"timeout": 1, "flock": 1}[c.name]
	for len(args) > 0 {
		t := args[0].text
		switch {
		case slices.Contains(valued, t) && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(t, "-"):
			args = args[1:]
		case c.name == "env" && strings.Contains(t, "=") || c.name == "sudo" && strings.Contains(t, "="):
			set, args = append(set, t), args[1:]
		case positional > 0:
			positional--
			args = args[1:]
		default:
			return r.run(args, set, c.in)
		}
	}
	return stream{}
}

// fed reads the program that xargs runs, with its input as arguments.
func fed(r *reader, c command) stream {
	args, replace := c.args, ""
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		t := args[0].text
		takes := slices.Contains([]string{"-n", "-P", "-L", "-d", "-s", "-E", "-a", "-I", "-J", "-j"}, t)
		switch {
		case (t == "-I" || t == "-J") && len(args) > 1:
			replace = args[1].text
		case strings.HasPrefix(t, "-I"):
			replace = t[2:]
		}
		if args = args[1:]; takes && len(args) > 0 {
			args = args[1:]
		}
	}
	list := c.in.words
	if len(list) == 0 {
		list = []word{unknown}
	}
	if replace == "" {
		return r.run(append(slices.Clone(args), list...), c.set, stream{})
	}
	var filled []word
	for _, a := range args {
		if a.text == replace {
			filled = append(filled, list...)
			continue
		}
		if strings.Contains(a.text, replace) && len(list) > 0 {
			a = word{text: strings.ReplaceAll(a.text, replace, list[0].text), glob: true, unknown: list[0].unknown}
		}
		filled = append(filled, a)
	}
	return r.run(filled, c.set, stream{})
}

// executed reads the actions of find on the files that it finds.
func executed(r *reader, c command) stream {
	list := found(c)
	for i, w := range c.args {
		switch w.text {
		case "-delete":
			r.run(append([]word{{text: "rm"}, {text: "-r"}, {text: "--"}}, list...), nil, stream{})
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X":
			var args []word
			for _, a := range c.args[i+1:] {
				if a.text == ";" || a.text == "+" || a.text == `\;` {
					break
				}
				if a.text == "{}" {
					args = append(args, list...)
					continue
				}
				if strings.Contains(a.text, "{}") {
					a = word{text: strings.ReplaceAll(a.text, "{}", list[0].text), glob: true}
				}
				args = append(args, a)
			}
			r.run(args, nil, stream{})
		}
	}
	return stream{words: list}
}

// git is a command line of git.
type git struct {
	sub    string
	args   []word
	dir    string
	config []string // -c name=value
}

// parseGit reads the options before the subcommand.
func parseGit(c command) git {
	g := git{dir: c.dir}
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		t := args[0].text
		takes := (t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace") && len(args) > 1
		if takes {
			switch t {
			case "-C":
				g.dir = joined(g.dir, args[1].text)
			case "-c":
				g.config = append(g.config, args[1].text)
			}
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) > 0 {
		g.sub, g.args = args[0].text, args[1:]
	}
	return g
}

// base is the last part of a path.
func base(p string) string { return path.Base(filepath.ToSlash(p)) }
