// Package commandline reads the words of a command, so that others can be added to it.
package commandline

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/shell"
	"supervise/runner"
)

// Command is a command whose words are known: a program with arguments, or one simple shell
// command. Words can be added to it.
type Command struct {
	shell []string     // the words that start a shell: "/bin/sh", "-c"; nil without one
	line  string       // the line that the shell runs
	Words []shell.Word // of the program with its arguments, or of the line
}

// Parse parses a command. It is false for a shell line with more than one simple command,
// since added words might reach the wrong one. A shell that runs its arguments as a command,
// sh -c '"$@"; …' sh go test, passes added words to that command.
func Parse(argv []string) (Command, bool) {
	line := ShellLine(argv)
	if line == "" {
		v := Command{Words: make([]shell.Word, len(argv))}
		for i, a := range argv {
			v.Words[i].Text = a
		}
		return v, len(argv) > 0 && (!shells[path.Base(argv[0])] || runsArguments(argv))
	}
	words, ok := shell.SimpleWords(line)
	return Command{argv[:2], line, words}, ok
}

// runsArguments reports whether a shell runs the words after its line as a command.
func runsArguments(argv []string) bool {
	return len(argv) > 4 && argv[1] == "-c" && strings.HasPrefix(argv[2], `"$@"`)
}

// ShellLine returns the line of a shell's -c, "" for other commands.
func ShellLine(argv []string) string {
	if len(argv) == 3 && argv[1] == "-c" && shells[path.Base(argv[0])] {
		return argv[2]
	}
	return ""
}

// shells are the names of shells that run a line with -c.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true}

// Edit returns the command without the words at the indexes in drop, and with the words add
// inserted before index at.
func (v Command) Edit(at int, add []string, drop map[int]bool) []string {
	var words []string
	for i, w := range v.Words {
		if i == at {
			words = append(words, v.quoteForShell(add)...)
		}
		switch {
		case drop[i]:
		case v.shell != nil:
			words = append(words, v.line[w.Start:w.End])
		default:
			words = append(words, w.Text)
		}
	}
	if at >= len(v.Words) {
		words = append(words, v.quoteForShell(add)...)
	}
	if v.shell == nil {
		return words
	}
	return append(slices.Clone(v.shell), strings.Join(words, " "))
}

// quoteForShell quotes words if the command is a shell line.
func (v Command) quoteForShell(words []string) []string {
	if v.shell == nil {
		return words
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = runner.ShellQuote(w)
	}
	return out
}

// ProgramIndex returns the index of the first word that runs one of the programs, -1 if there
// is none.
func (v Command) ProgramIndex(programs ...string) int {
	return slices.IndexFunc(v.Words, func(w shell.Word) bool { return slices.Contains(programs, programOf(w.Text)) })
}

// IndexOrEnd returns the index of the word, or the number of words if it is missing.
func (v Command) IndexOrEnd(text string) int {
	if i := slices.IndexFunc(v.Words, func(w shell.Word) bool { return w.Text == text }); i >= 0 {
		return i
	}
	return len(v.Words)
}

// OptionIndexes returns the indexes of the words that are one of the options, with or without
// a value after "=".
func (v Command) OptionIndexes(options ...string) map[int]bool {
	out := map[int]bool{}
	for i, w := range v.Words {
		name, _, _ := strings.Cut(w.Text, "=")
		if slices.Contains(options, name) {
			out[i] = true
		}
	}
	return out
}

// HasOption reports whether the command has one of the words or options.
func (v Command) HasOption(options ...string) bool { return len(v.OptionIndexes(options...)) > 0 }

// GoTestOptions returns where the options of go test start. It is false if the command is not
// go test, directly or within gotestsum.
func (v Command) GoTestOptions() (at int, ok bool) {
	if i := v.ProgramIndex("go") + 1; i > 0 && i < len(v.Words) && v.Words[i].Text == "test" {
		return i + 1, true
	}
	at = v.IndexOrEnd("--") + 1
	return at, v.ProgramIndex("gotestsum") >= 0 && at <= len(v.Words)
}

// programOf returns the name of the program that a word runs: "node_modules/.bin/jest" and
// "node_modules/jest/bin/jest.js" are jest.
func programOf(text string) string {
	name := path.Base(strings.ReplaceAll(text, `\`, "/"))
	for _, end := range []string{".js", ".cjs", ".mjs", ".cmd", ".bat", ".exe", ".phar"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimPrefix(name, "_")
}
