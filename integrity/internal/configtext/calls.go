package configtext

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// Call is one call of a program that checks, with the command that contains it.
type Call struct {
	check
	Command
	Marks []Mark // what the arguments and the lines around the call do to it
}

// Mark is how a call differs from one that checks everything.
type Mark struct {
	Effect framework.Effect // what it does to the run
	Name   string           // what shows it: "--ignore", "|| true"
	Value  string           // the value of an option, "" for none
}

// HasMark reports whether a call has the effect because of the option or operator with the name.
func (c Call) HasMark(e framework.Effect, name string) bool {
	return slices.ContainsFunc(c.Marks, func(m Mark) bool { return m.Effect == e && m.Name == name })
}

// FindCalls finds the calls in the commands of a file, each with its marks. Commands with the same
// key are one script.
func FindCalls(r *Reading) []Call {
	var out []Call
	for from := 0; from < len(r.Commands); {
		to := from + 1
		for to < len(r.Commands) && r.Commands[to].Key == r.Commands[from].Key {
			to++
		}
		out = append(out, findCallsInBlock(r.Commands[from:to])...)
		from = to
	}
	return out
}

// shellState is what is known about the shell before a line of a script.
type shellState struct {
	ignoresErrors    bool // "set +e" is in force
	exited           bool // an unconditional "exit 0" was passed
	depth            int  // how many if, for, while, case and functions are open
	deadDepth        int  // the depth of an open "if false", 0 for none
	continuesOnError bool // the commands are a separate script that continues after a failure
}

// Unchecked is the mark of a call in a script that continues when the call fails, so that the exit
// status of the script does not show the failure.
const Unchecked = "the script continues"

// shellKey and powerShellKey are the keys of the commands in a file that is a script.
const (
	shellKey      = ""
	powerShellKey = "powershell"
)

// errexitRE matches lines that make a script end at a failure, such as "set -eu" and "#!/bin/sh
// -e".
var errexitRE = regexp.MustCompile(`^\s*set\s+(-\w*e\w*|-o errexit|-\w+ -o errexit)|\bErrorActionPreference\b|PSNativeCommandUseErrorActionPreference|^#!.*\s-\w*e`)

// detectErrorMode sets continuesOnError if the lines are a script that does not end at a failure.
func (s *shellState) detectErrorMode(lines []Command) {
	key := lines[0].Key
	s.continuesOnError = key == powerShellKey || key == shellKey && !slices.ContainsFunc(lines, func(l Command) bool { return errexitRE.MatchString(l.Text) })
}

// isStatusLost reports whether the exit status of the n-th command of line i is lost: other lines
// follow, and none of them checks it. list has the commands of the line.
func (s *shellState) isStatusLost(lines []Command, i int, list []simpleCommand, n int) bool {
	if !s.continuesOnError || n != len(list)-1 || s.depth > 0 && lines[0].Key == shellKey {
		return false
	}
	remaining := lines[i+1:]
	if lines[0].Key == powerShellKey {
		return !readsStatus(remaining)
	}
	return len(remaining) > 0 && !readsStatus(remaining) && !slices.ContainsFunc(remaining, func(l Command) bool { return strings.Contains(l.Text, "exit 1") })
}

// openingWords and closingWords are the words of the shell that begin and end a compound command.
var openingWords, closingWords = []string{"if", "for", "while", "until", "case", "select", "{"}, []string{"fi", "done", "esac", "}"}

// findCallsInBlock finds the calls in the lines of one script. A call has at most one mark that
// says why its failure is ignored.
func findCallsInBlock(lines []Command) []Call {
	var out []Call
	var s shellState
	s.detectErrorMode(lines)
	for i, l := range lines {
		list := SplitCommands(l.Text)
		for n, cmd := range list {
			s.enter(cmd, list, n)

			c, ok := findCheck(cmd.Words)
			if !ok {
				c, ok = checkByKey(l.Key, cmd.Words)
			}

			if ok {
				found := Call{check: c, Command: l, Marks: findMarks(c)}
				if why := s.maskReason(l, list, n); why != "" {
					found.Marks = append(found.Marks, Mark{framework.Mask, why, ""})
				} else if s.ignoresErrors && !readsStatus(lines[i:]) {
					found.Marks = append(found.Marks, Mark{framework.Mask, "set +e", ""})
				} else if s.isStatusLost(lines, i, list, n) {
					found.Marks = append(found.Marks, Mark{framework.Mask, Unchecked, ""})
				}
				out = append(out, found)
			}

			s.leave(cmd)
		}
	}
	return out
}

// preparationPrograms are programs that check nothing, even in a script named test.
var preparationPrograms = strings.Fields("cd rm mkdir cp mv ln export set unset source . npm npx yarn pnpm pip pip3 apt apt-get brew curl wget git chmod touch tar unzip docker docker-compose " +
	"if then else elif fi for while do done case esac exit return trap wait kill test [ [[ local declare readonly cat sed awk grep find xargs tee which command eval exec read shift $ rimraf cross-env-shell tsc webpack rollup babel esbuild lessc sass")

// checkByKey takes an unknown program for a check if the key of its script or step says that it
// checks. It is false if the key does not, or if the program is known to check nothing.
func checkByKey(key string, words []string) (check, bool) {
	p := purposeOf(key)
	words = unwrap(words)
	if p == framework.Unknown || len(words) == 0 || IsNoOp(words) || slices.Contains(preparationPrograms, words[0]) || strings.ContainsAny(words[0], "={") {
		return check{}, false
	}
	return check{framework.Invocation{Name: programName(words[0]), Purpose: p, Args: words[1:]}, true}, true
}

// enter updates the state before the n-th command of a line.
func (s *shellState) enter(cmd simpleCommand, list []simpleCommand, n int) {
	w := cmd.Words
	if len(w) == 0 {
		return
	}
	switch {
	case slices.Contains(openingWords, w[0]) || strings.HasSuffix(w[len(w)-1], "{"):
		s.depth++
		if w[0] == "if" && isNeverTrue(w[1:]) && s.deadDepth == 0 {
			s.deadDepth = s.depth
		}
	case w[0] == "set" && len(w) > 1:
		s.applyOptions(w[1:])
	case s.depth == 0 && isExitZero(w) && (n == 0 || list[n-1].op == ";"):
		s.exited = true
	}
}

// isNeverTrue reports whether a condition of the shell is never met, as "false" and "[ 0 ]".
func isNeverTrue(w []string) bool {
	return len(w) > 0 && (w[0] == "false" || w[0] == "[" && len(w) > 1 && w[1] == "0" && len(w) < 4)
}

// applyOptions follows the arguments of set, as far as they say whether a failure ends the script.
func (s *shellState) applyOptions(options []string) {
	switch old := options[0]; {
	case old == "+e", old == "+o" && slices.Contains(options, "errexit"):
		s.ignoresErrors = true
	case strings.HasPrefix(old, "-") && strings.Contains(old, "e"):
		s.ignoresErrors = false
	}
}

// leave updates the state after a command.
func (s *shellState) leave(cmd simpleCommand) {
	if len(cmd.Words) > 0 && slices.Contains(closingWords, cmd.Words[0]) {
		if s.deadDepth == s.depth {
			s.deadDepth = 0
		}
		s.depth = max(0, s.depth-1)
	}
}

// isExitZero reports whether a command ends the script, or a function, with status 0.
func isExitZero(w []string) bool {
	return len(w) == 2 && (w[0] == "exit" || w[0] == "return") && w[1] == "0"
}

var (
	noOpPrograms  = strings.Fields("true : echo printf /bin/true @echo @true @: sleep date cat pwd")
	interpreterRE = regexp.MustCompile(`^(node|python[\d.]*|ruby|php|perl)$`)
)

// IsNoOp reports whether a command always succeeds and checks nothing: "true", "echo ok", "exit 0",
// "sh -c true".
func IsNoOp(w []string) bool {
	switch {
	case len(w) == 0:
		return false
	case slices.Contains(noOpPrograms, w[0]), isExitZero(w):
		return true
	case w[0] == "$":
		return len(w) > 1 && (w[1] == "info" || w[1] == "warning")
	case len(w) > 2 && interpreterRE.MatchString(w[0]):
		return w[1] == "-e" || w[1] == "-c" || w[1] == "-r"
	case len(w) > 2 && (w[0] == "sh" || w[0] == "bash") && w[1] == "-c":
		return !slices.ContainsFunc(SplitCommands(w[2]), func(s simpleCommand) bool { return !IsNoOp(s.Words) })
	}
	return false
}

// maskReason returns why the failure of the n-th command of a line is ignored, or why it never
// runs: "|| true". It returns "" if neither is the case.
func (s *shellState) maskReason(l Command, list []simpleCommand, n int) string {
	switch {
	case l.maskedBy != "":
		return l.maskedBy
	case s.exited:
		return "exit 0 before it"
	case s.deadDepth > 0:
		return "if false"
	case n == 0 && l.isDashed():
		return "- before it"
	case len(list[n].Words) > 1 && list[n].Words[0] == "!":
		return "! before it"
	}

	if n > 0 && len(list[n-1].Words) > 0 {
		switch last := list[n-1].Words[len(list[n-1].Words)-1]; {
		case last == "false" && list[n-1].op == "&&":
			return "false && before it"
		case (last == "true" || last == ":") && list[n-1].op == "||":
			return "true || before it"
		}
	}

	return maskReasonAfter(list, n)
}

// isDashed reports whether "-" at the start of a recipe line lets make ignore its failure.
func (l Command) isDashed() bool {
	return strings.HasPrefix(strings.TrimPrefix(l.Text, "@"), "-") && !IsArgumentKey(l.Key)
}

// maskReasonAfter returns the operator and the command after the n-th one by which its failure is
// ignored, such as "; exit 0"; "" for none.
func maskReasonAfter(list []simpleCommand, n int) string {
	end := n
	for end < len(list)-1 && (list[end].op == "|" || list[end].op == "&&") {
		end++
	}

	op, remaining := list[end].op, list[min(end+1, len(list)):]
	if op == "&" && len(remaining) == 0 {
		return "&"
	}
	if len(remaining) == 0 || slices.ContainsFunc(remaining, mayFailScript) {
		return ""
	}

	first, last := remaining[0], remaining[len(remaining)-1]
	switch {
	case op == "||" && IsNoOp(first.Words):
		return "|| " + firstWords(first.Words)
	case op == ";" && IsNoOp(last.Words) && !slices.ContainsFunc(remaining, usesStatus):
		return "; " + firstWords(last.Words)
	case op == "&" && IsNoOp(last.Words):
		return "&"
	}
	return ""
}

// firstWords returns at most the first two words, joined.
func firstWords(words []string) string { return strings.Join(words[:min(2, len(words))], " ") }

// mayFailScript reports whether a command may end the script with a failure.
func mayFailScript(s simpleCommand) bool {
	return !isExitZero(s.Words) && slices.ContainsFunc(s.Words, func(w string) bool { return w == "exit" || w == "false" || w == "return" })
}

// usesStatus reports whether a command depends on the status of the one before.
func usesStatus(s simpleCommand) bool {
	endsBlock := len(s.Words) > 0 && slices.Contains([]string{"done", "fi", "then"}, s.Words[0])
	return endsBlock || slices.ContainsFunc(s.Words, readsShellStatus)
}

// readsShellStatus reports whether a word has the variable with the status of the last command.
func readsShellStatus(text string) bool {
	return strings.Contains(text, "$?") || strings.Contains(text, "PIPESTATUS")
}

// readsStatus reports whether one of the lines checks the exit status of a command.
func readsStatus(lines []Command) bool {
	return slices.ContainsFunc(lines, func(l Command) bool { return readsShellStatus(l.Text) || strings.Contains(l.Text, "LASTEXITCODE") })
}

// findMarks returns the options of a call that have an effect as marks, without the harmless ones.
func findMarks(c check) []Mark {
	var out []Mark
	for _, u := range c.Uses() {
		if m := (Mark{u.Effect, u.Name, u.Value}); !m.isHarmless(c) {
			out = append(out, m)
		}
	}
	return out
}

// NoTestsPathRE matches paths and patterns of what has no tests, such as "node_modules" and
// "**/dist/**". Leaving those out leaves no test out.
var NoTestsPathRE = regexp.MustCompile(`(?i)^["'(]*(\*\*/|\./|/|\^|\\/|<rootdir>/?|%\w+%/)*\.?(node_modules|dist|build|lib|out|output|git|hg|svn|vendor|target|docs?|website|examples?|samples?|demos?|coverage|v?env|venv|tox|nox|eggs?|cache|idea|vscode|next|nuxt|yarn|third_?party|benches|bench(mark)?s?|fixtures?|__fixtures__|test_?data|__pycache__|generated|gen|types|typings|public|static|assets|templates?|tmp|temp|\.?claude|worktrees|bin|obj|bazel-\w+|site-packages|conftest\.py|setup\.py|__snapshots__|__mocks__|mocks?|utils?|helpers?|` + framework.EndToEndFolder + `|storybook(-static)?|scripts|tools|packaging)(\\?\.\w+)?(\\?/|\\?\\|/?\*\*?|\$|\.\*)*["')]*$`)

// isHarmless reports whether an option takes nothing away from a call, because of its value or the
// program.
func (m Mark) isHarmless(c check) bool {
	switch m.Effect {
	case framework.Exclude:
		return NoTestsPathRE.MatchString(m.Value)
	case framework.Focus:
		return anyNameRE.MatchString(m.Value) || slices.ContainsFunc(c.Args, skipsMavenTests) || c.Name == goTest && slices.ContainsFunc(c.Args, isBenchmarkFlag)
	case framework.RunNone:
		return m.Name == "-exec" && strings.Contains(m.Value, "wasm") || m.Name == "--dry-run" && c.Purpose != framework.RunsTests
	default:
		return false
	}
}

// goTest is the name of the call of Go that also runs benchmarks.
const goTest = "go test"

// skipsMavenTests reports whether an argument of Maven makes it run no tests.
func skipsMavenTests(arg string) bool {
	return strings.HasPrefix(arg, "-DskipTests") || strings.HasPrefix(arg, "-Dmaven.test.skip")
}

// anyNameRE matches a pattern for any name: "." and ".*".
var anyNameRE = regexp.MustCompile(`^\.\*?$`)

// isBenchmarkFlag reports whether an argument of go test runs benchmarks or fuzz tests.
func isBenchmarkFlag(arg string) bool {
	return strings.HasPrefix(arg, "-bench") || strings.HasPrefix(arg, "-fuzz")
}

// IsArgumentKey reports whether the value of a key is not a call, but has arguments for every call
// of a program, as addopts does.
func IsArgumentKey(key string) bool { return argumentKeyRE.MatchString(key) || key == "args" }

// IsReplacedBy reports whether another call under the same key checks at least as much.
func (c Call) IsReplacedBy(x Call) bool {
	return x.Key == c.Key && (x.Purpose == c.Purpose || x.Purpose == framework.RunsTests) && (c.Guessed || !x.Guessed)
}
