package configtext

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// Call is one call of a program that checks.
type Call struct {
	check
	Command
	Marks []Mark
}

// Mark is how a call differs from one that checks everything: the effect, what shows it,
// and its value if it has one.
type Mark struct {
	Effect framework.Effect
	Name   string // "--ignore", "|| true"
	Value  string
}

// Has reports whether a call has an effect by the argument or operator with that name.
func (c Call) Has(e framework.Effect, name string) bool {
	return slices.ContainsFunc(c.Marks, func(m Mark) bool { return m.Effect == e && m.Name == name })
}

// CallsOf finds the calls in the commands of a file, each with its marks.
func CallsOf(r *Reading) []Call {
	var out []Call
	for from := 0; from < len(r.Commands); {
		to := from + 1
		for to < len(r.Commands) && r.Commands[to].Key == r.Commands[from].Key {
			to++
		}
		out = append(out, block(r.Commands[from:to])...)
		from = to
	}
	return out
}

// shellState is the state while reading a block of lines.
type shellState struct {
	forgiving bool // set +e holds
	over      bool // exit 0 was passed
	depth     int  // of if, for, while, case and functions
	dead      int  // the depth of an "if false", 0 for none
	script    bool // its own file, which no option ends at the first failure
}

// Unchecked is the mark of a call in a script that continues when it fails, so that
// the exit status of the script does not show it.
const Unchecked = "the script continues"

// scriptKeys are the keys of commands of a script that is its own file.
const (
	shellKey      = ""
	powerShellKey = "powershell"
)

var strictLine = regexp.MustCompile(`^\s*set\s+(-\w*e\w*|-o errexit|-\w+ -o errexit)|\bErrorActionPreference\b|PSNativeCommandUseErrorActionPreference|^#!.*\s-\w*e`)

// watch finds out whether the lines are a script that does not end at a failure.
func (s *shellState) watch(lines []Command) {
	key := lines[0].Key
	s.script = key == powerShellKey || key == shellKey && !slices.ContainsFunc(lines, func(l Command) bool { return strictLine.MatchString(l.Text) })
}

// loose reports whether the exit status of a call is lost: other commands follow, and
// none checks it.
func (s *shellState) loose(lines []Command, i int, list []simple, n int) bool {
	if !s.script || n != len(list)-1 || s.depth > 0 && lines[0].Key == shellKey {
		return false
	}
	rest := lines[i+1:]
	if lines[0].Key == powerShellKey {
		return !statusRead(rest)
	}
	return len(rest) > 0 && !statusRead(rest) && !slices.ContainsFunc(rest, func(l Command) bool { return strings.Contains(l.Text, "exit 1") })
}

var opens, closes = []string{"if", "for", "while", "until", "case", "select", "{"}, []string{"fi", "done", "esac", "}"}

func block(lines []Command) []Call {
	var out []Call
	var s shellState
	s.watch(lines)
	for i, l := range lines {
		list := SimpleCommands(l.Text)
		for n, cmd := range list {
			s.enter(cmd, list, n)
			c, ok := checkOf(cmd.Words)
			if !ok {
				c, ok = checkByKey(l.Key, cmd.Words)
			}
			if ok {
				found := Call{check: c, Command: l, Marks: marksOf(c)}
				if why := s.mask(l, list, n); why != "" {
					found.Marks = append(found.Marks, Mark{framework.Mask, why, ""})
				} else if s.forgiving && !statusRead(lines[i:]) {
					found.Marks = append(found.Marks, Mark{framework.Mask, "set +e", ""})
				} else if s.loose(lines, i, list, n) {
					found.Marks = append(found.Marks, Mark{framework.Mask, Unchecked, ""})
				}
				out = append(out, found)
			}
			s.leave(cmd)
		}
	}
	return out
}

// preparation are programs that check nothing, even in a script named test.
var preparation = strings.Fields("cd rm mkdir cp mv ln export set unset source . npm npx yarn pnpm pip pip3 apt apt-get brew curl wget git chmod touch tar unzip docker docker-compose " +
	"if then else elif fi for while do done case esac exit return trap wait kill test [ [[ local declare readonly cat sed awk grep find xargs tee which command eval exec read shift $ rimraf cross-env-shell tsc webpack rollup babel esbuild lessc sass")

// checkByKey treats an unknown program as a check if the script, or the step, is named
// like one.
func checkByKey(key string, words []string) (check, bool) {
	p := purposeOf(key)
	words = unwrap(words)
	if p == framework.Unknown || len(words) == 0 || DoesNothing(words) || slices.Contains(preparation, words[0]) || strings.ContainsAny(words[0], "={") {
		return check{}, false
	}
	return check{framework.Invocation{Name: programName(words[0]), Purpose: p, Args: words[1:]}, true}, true
}

func (s *shellState) enter(cmd simple, list []simple, n int) {
	w := cmd.Words
	if len(w) == 0 {
		return
	}
	switch {
	case slices.Contains(opens, w[0]) || strings.HasSuffix(w[len(w)-1], "{"):
		s.depth++
		if w[0] == "if" && neverTrue(w[1:]) && s.dead == 0 {
			s.dead = s.depth
		}
	case w[0] == "set" && len(w) > 1:
		s.set(w[1:])
	case s.depth == 0 && endsWell(w) && (n == 0 || list[n-1].op == ";"):
		s.over = true
	}
}

// neverTrue reports whether a condition of the shell is never met.
func neverTrue(w []string) bool {
	return len(w) > 0 && (w[0] == "false" || w[0] == "[" && len(w) > 1 && w[1] == "0" && len(w) < 4)
}

// set follows the options of the shell: whether a failure ends the script.
func (s *shellState) set(options []string) {
	switch o := options[0]; {
	case o == "+e", o == "+o" && slices.Contains(options, "errexit"):
		s.forgiving = true
	case strings.HasPrefix(o, "-") && strings.Contains(o, "e"):
		s.forgiving = false
	}
}

func (s *shellState) leave(cmd simple) {
	if len(cmd.Words) > 0 && slices.Contains(closes, cmd.Words[0]) {
		if s.dead == s.depth {
			s.dead = 0
		}
		s.depth = max(0, s.depth-1)
	}
}

// endsWell reports whether a command ends the script with status 0.
func endsWell(w []string) bool {
	return len(w) == 2 && (w[0] == "exit" || w[0] == "return") && w[1] == "0"
}

var (
	idle         = strings.Fields("true : echo printf /bin/true @echo @true @: sleep date cat pwd")
	interpreters = regexp.MustCompile(`^(node|python[\d.]*|ruby|php|perl)$`)
)

// DoesNothing reports whether a command always succeeds and does nothing.
func DoesNothing(w []string) bool {
	switch {
	case len(w) == 0:
		return false
	case slices.Contains(idle, w[0]), endsWell(w):
		return true
	case w[0] == "$":
		return len(w) > 1 && (w[1] == "info" || w[1] == "warning")
	case len(w) > 2 && interpreters.MatchString(w[0]):
		return w[1] == "-e" || w[1] == "-c" || w[1] == "-r"
	case len(w) > 2 && (w[0] == "sh" || w[0] == "bash") && w[1] == "-c":
		return !slices.ContainsFunc(SimpleCommands(w[2]), func(s simple) bool { return !DoesNothing(s.Words) })
	}
	return false
}

// mask says why the failure of the n-th command of a line is ignored, "" if it is not.
func (s *shellState) mask(l Command, list []simple, n int) string {
	switch {
	case l.excused != "":
		return l.excused
	case s.over:
		return "exit 0 before it"
	case s.dead > 0:
		return "if false"
	case n == 0 && l.dashed():
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
	return maskAfter(list, n)
}

// dashed reports whether a recipe ignores the failure of the line.
func (l Command) dashed() bool {
	return strings.HasPrefix(strings.TrimPrefix(l.Text, "@"), "-") && !AddsArguments(l.Key)
}

// maskAfter looks at what follows a command.
func maskAfter(list []simple, n int) string {
	end := n
	for end < len(list)-1 && (list[end].op == "|" || list[end].op == "&&") {
		end++
	}
	op, rest := list[end].op, list[min(end+1, len(list)):]
	if op == "&" && len(rest) == 0 {
		return "&"
	}
	if len(rest) == 0 || slices.ContainsFunc(rest, failing) {
		return ""
	}
	first, last := rest[0], rest[len(rest)-1]
	switch {
	case op == "||" && DoesNothing(first.Words):
		return "|| " + start(first.Words)
	case op == ";" && DoesNothing(last.Words) && !slices.ContainsFunc(rest, statusUsed):
		return "; " + start(last.Words)
	case op == "&" && DoesNothing(last.Words):
		return "&"
	}
	return ""
}

func start(words []string) string { return strings.Join(words[:min(2, len(words))], " ") }

// failing reports whether a command may end the script with a failure.
func failing(s simple) bool {
	return !endsWell(s.Words) && slices.ContainsFunc(s.Words, func(w string) bool { return w == "exit" || w == "false" || w == "return" })
}

// statusUsed reports whether the status of the preceding command is checked.
func statusUsed(s simple) bool {
	if len(s.Words) > 0 && (s.Words[0] == "done" || s.Words[0] == "fi" || s.Words[0] == "then") {
		return true
	}
	return slices.ContainsFunc(s.Words, func(w string) bool {
		return strings.Contains(w, "$?") || strings.Contains(w, "PIPESTATUS")
	})
}

func statusRead(lines []Command) bool {
	return slices.ContainsFunc(lines, func(l Command) bool {
		return strings.Contains(l.Text, "$?") || strings.Contains(l.Text, "PIPESTATUS") || strings.Contains(l.Text, "LASTEXITCODE")
	})
}

// marksOf finds the marks that the arguments of a call give it.
func marksOf(c check) []Mark {
	var out []Mark
	for _, u := range c.Uses() {
		if m := (Mark{u.Effect, u.Name, u.Value}); !m.harmless(c) {
			out = append(out, m)
		}
	}
	return out
}

// NoTestsThere matches paths without tests: to leave them out leaves no test out.
var NoTestsThere = regexp.MustCompile(`(?i)^["'(]*(\*\*/|\./|/|\^|\\/|<rootdir>/?|%\w+%/)*\.?(node_modules|dist|build|lib|out|output|git|hg|svn|vendor|target|docs?|website|examples?|samples?|demos?|coverage|v?env|venv|tox|nox|eggs?|cache|idea|vscode|next|nuxt|yarn|third_?party|benches|bench(mark)?s?|fixtures?|__fixtures__|test_?data|__pycache__|generated|gen|types|typings|public|static|assets|templates?|tmp|temp|\.?claude|worktrees|bin|obj|bazel-\w+|site-packages|conftest\.py|setup\.py|__snapshots__|__mocks__|mocks?|utils?|helpers?|` + framework.EndToEndFolder + `|storybook(-static)?|scripts|tools|packaging)(\\?\.\w+)?(\\?/|\\?\\|/?\*\*?|\$|\.\*)*["')]*$`)

// harmless reports whether an argument takes nothing away, because of its value or the
// program.
func (m Mark) harmless(c check) bool {
	switch m.Effect {
	case framework.Exclude:
		return NoTestsThere.MatchString(m.Value)
	case framework.Focus:
		return everyName.MatchString(m.Value) || slices.ContainsFunc(c.Args, testless) || c.Name == goTest && slices.ContainsFunc(c.Args, benchmarks)
	case framework.RunNone:
		return m.Name == "-exec" && strings.Contains(m.Value, "wasm") || m.Name == "--dry-run" && c.Purpose != framework.RunsTests
	default:
		return false
	}
}

const goTest = "go test"

// testless matches the arguments of Maven with which it runs no tests.
func testless(arg string) bool {
	return strings.HasPrefix(arg, "-DskipTests") || strings.HasPrefix(arg, "-Dmaven.test.skip")
}

var everyName = regexp.MustCompile(`^\.\*?$`)

func benchmarks(arg string) bool {
	return strings.HasPrefix(arg, "-bench") || strings.HasPrefix(arg, "-fuzz")
}

// AddsArguments reports whether the value of a key is added to every call of a program,
// rather than being a call.
func AddsArguments(key string) bool { return argumentKeys.MatchString(key) || key == "args" }

// Follows reports whether another call checks at least as much in the same place.
func (c Call) Follows(x Call) bool {
	return x.Key == c.Key && (x.Purpose == c.Purpose || x.Purpose == framework.RunsTests) && (c.Guessed || !x.Guessed)
}
