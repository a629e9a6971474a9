package configtext

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// simple is one command of a line of shell: its words and what follows it.
type simple struct {
	Words []string // without quotes
	op    string   // "&&", "||", ";", "|", "&", or "" at the end of the line
}

// makeVariable is the rest of a variable of a Makefile, $(GO).
var makeVariable = regexp.MustCompile(`^\(\w+\)`)

// SimpleCommands splits a line of shell into its commands. Quotes hide operators; the
// words of subshells and groups are read as separate commands.
func SimpleCommands(text string) []simple {
	var p lineParser
	for i := 0; i < len(text); {
		i += p.step(text[i:], i > 0 && text[i-1] == '>', i > 0 && text[i-1] == '$')
	}
	p.endWord()
	if len(p.cur.Words) > 0 {
		p.out = append(p.out, p.cur)
	}
	return p.out
}

// lineParser is the state while reading a line.
type lineParser struct {
	out  []simple
	cur  simple
	word strings.Builder
	open bool // a word has begun, be it empty
}

func (p *lineParser) add(s string) { p.word.WriteString(s); p.open = true }

func (p *lineParser) endWord() {
	if p.open {
		p.cur.Words = append(p.cur.Words, p.word.String())
	}
	p.word.Reset()
	p.open = false
}

// step reads from the beginning of rest and returns how many bytes. afterGreater
// and afterDollar say what comes before.
func (p *lineParser) step(rest string, afterGreater, afterDollar bool) int {
	if n := p.literal(rest, afterDollar); n > 0 {
		return n
	}
	switch c := rest[0]; {
	case c == '#' && !p.open:
		return len(rest)
	case c == ' ' || c == '\t' || c == '(' || c == ')':
		p.endWord()
	case c == '&' && (afterGreater || len(rest) > 1 && rest[1] == '>'):
		p.add("&")
	case strings.IndexByte(";|&\n", c) >= 0:
		return p.operator(rest)
	default:
		p.add(rest[:1])
	}
	return 1
}

// literal reads what is taken literally: an escaped byte, a string, a variable of
// a Makefile. It returns how many bytes, 0 for something else.
func (p *lineParser) literal(rest string, afterDollar bool) int {
	switch c := rest[0]; {
	case c == '\\' && len(rest) > 1:
		p.add(rest[1:2])
		return 2
	case c == '"' || c == '\'':
		body, n := quotedAt(rest)
		p.add(body)
		return n
	case c == '(' && afterDollar:
		name := makeVariable.FindString(rest)
		if name != "" {
			p.add(name)
		}
		return len(name)
	}
	return 0
}

func (p *lineParser) operator(rest string) int {
	p.endWord()
	n := 1
	if len(rest) > 1 && rest[1] == rest[0] && rest[0] != '\n' {
		n = 2
	}
	p.cur.op = rest[:n]
	p.out = append(p.out, p.cur)
	p.cur = simple{}
	return n
}

// wrappers run the words after them; those with a value take the next word.
var wrappers = strings.Fields("env sudo time exec command nice nohup npx pnpx bunx pnpm yarn poetry pipenv uv uvx pdm rye bundle cross-env cross-env-shell dotenv xvfb-run dbus-run-session " +
	"python python2 python3 pypy3 py php ruby run exec dlx tool x timeout gtimeout setsid stdbuf retry then do else if while until ! { } && winpty conda micromamba mamba direnv")

// environments are wrappers whose own options take values.
var environments = strings.Fields("uv poetry pdm pipenv conda mamba micromamba rye hatch")

var (
	assignment    = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	packageScript = regexp.MustCompile(`(?i)^(unit-?|ci[:-]?|run-?|e2e-?|integration-?)?(test|tests|unit|spec|check|lint|types?(check)?|tsc|coverage|cov|e2e|` + framework.ScriptNames + `|ci|verify|eslint|style)([:_.-].*)?$`)
	shellVariable = regexp.MustCompile(`^\$[({]?(\w+)[)}]?$`)
	numberWord    = regexp.MustCompile(`^\d+[smhd]?$`)
)

// check is a call of a program that checks the project.
type check struct {
	framework.Invocation

	// Guessed says that only the name of the script suggests that it checks.
	Guessed bool
}

// checkOf reads a command; false means that it checks nothing.
func checkOf(words []string) (check, bool) {
	words = unwrap(words)
	if len(words) == 0 {
		return check{}, false
	}
	name := programName(words[0])
	rest := wholeTask(name, words[1:])
	if c, ok := framework.InvocationOf(slices.Concat([]string{name}, rest)); ok {
		return check{Invocation: c}, true
	}
	if name == "npm" && len(rest) > 1 && (rest[0] == "run" || rest[0] == "run-script") && packageScript.MatchString(rest[1]) {
		return check{Invocation: framework.PackageScript(rest[1], scriptPurpose(rest[1]), rest[2:])}, true
	}
	return ownScript(words)
}

// wholeTask treats test:external as test, if tasks have such names.
func wholeTask(program string, args []string) []string {
	if len(args) == 0 || program != "rake" && program != "bake" && program != "rails" {
		return args
	}
	args = slices.Clone(args)
	args[0], _, _ = strings.Cut(args[0], ":")
	return args
}

// ownScript recognises a script or program of the project as a check by its name.
func ownScript(words []string) (check, bool) {
	name := programName(words[0])
	if !strings.ContainsAny(words[0], `/\`) && !scriptFile.MatchString(words[0]) || !ownCheck.MatchString(name) {
		return check{}, false
	}
	return check{framework.Invocation{Name: name, Purpose: framework.RunsTests, Args: words[1:]}, true}, true
}

// ownCheck is the name of a script or program of the project's own that tests it.
var (
	ownCheck   = regexp.MustCompile(`(?i)^((unit|run|all|do|ci)[_-]?)*(tests?|build|check|ci|verify)([_-]\w+)?(\.\w+)?$|[_-]tests?(\.\w+)?$`)
	scriptFile = regexp.MustCompile(`\.(sh|bash|ps1|cmd|bat)$`)
)

// purposeOf derives from the key of a command what it is for, whatever it runs.
func purposeOf(key string) framework.Purpose {
	if step := stepName.FindStringSubmatch(key); step != nil {
		if stepTests.MatchString(step[1]) && !stepPrepares.MatchString(step[1]) {
			return framework.RunsTests
		}
		return framework.Unknown
	}
	name := strings.TrimRight(LastKey(key), "[]")
	switch {
	case strings.HasPrefix(key, "testenv") && name == "commands":
		return framework.RunsTests
	case strings.Contains(key, "scripts.") || strings.Contains(key, "aliases.") || !strings.Contains(key, "."):
		if packageScript.MatchString(name) {
			return scriptPurpose(name)
		}
	}
	return framework.Unknown
}

var (
	stepName     = regexp.MustCompile(`steps\[([^\]]*)\]\.run$`)
	stepTests    = regexp.MustCompile(`test|spec`)
	stepPrepares = regexp.MustCompile(`install|setup|prepare|upload|build|report|summary|publish|artifact|cache|download|latest|fetch|clone|setup|version|print|show`)
)

func scriptPurpose(name string) framework.Purpose {
	if strings.Contains(name, "test") || strings.Contains(name, "unit") || strings.Contains(name, "spec") || strings.Contains(name, "e2e") {
		return framework.RunsTests
	}
	return framework.RunsLint
}

// programName is the name of a program without its folder and extension.
func programName(word string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(path.Base(word), ".js"), ".exe"), ".phar")
	if m := shellVariable.FindStringSubmatch(name); m != nil {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(m[1]), "cmd"), "_")
	}
	switch name {
	case "gradlew":
		return "gradle"
	case "mvnw":
		return "mvn"
	case "gmake", "nmake", "just":
		return "make"
	case "richgo":
		return "go"
	case "msbuild", "vstest":
		return "dotnet"
	}
	return name
}

// unwrap removes what only starts a program: assignments of the environment, npx, poetry
// run, python -m, the marks of a recipe.
func unwrap(words []string) []string {
	words = slices.Clone(words)
	for len(words) > 0 {
		w := strings.TrimLeft(words[0], "@-+")
		if w == "" || assignment.MatchString(w) {
			words = words[1:]
			continue
		}
		if script := packageCall(path.Base(w), words[1:]); script != nil {
			return script
		}
		next := wrapped(path.Base(w), words[1:])
		if next == nil {
			words[0] = w
			return words
		}
		words = next
	}
	return nil
}

// packageCall rewrites "yarn test" and its like as calls of npm; nil for something else.
func packageCall(base string, rest []string) []string {
	switch {
	case base == "pnpm" && len(rest) > 1 && strings.HasPrefix(rest[0], "-"):
		return behindOptions(base, rest)
	case base != "yarn" && base != "pnpm" && base != "bun" || len(rest) == 0:
	case base != "bun" && packageScript.MatchString(rest[0]):
		return append([]string{"npm", "run"}, rest...)
	case rest[0] == "run" && len(rest) > 1 && packageScript.MatchString(rest[1]):
		return append([]string{"npm"}, rest...)
	}
	return nil
}

// behindOptions moves the options of pnpm after the script that they are for.
func behindOptions(base string, rest []string) []string {
	n := 1
	if slices.Contains(strings.Fields("--filter -F -C --dir"), rest[0]) && len(rest) > 2 {
		n = 2
	}
	if script := packageCall(base, rest[n:]); script != nil {
		return append(script, rest[:n]...)
	}
	return nil
}

// wrapped returns the command that a wrapper starts, nil if it is not a wrapper.
func wrapped(base string, rest []string) []string {
	switch {
	case base == "coverage" && len(rest) > 0 && rest[0] == "run":
		return afterModule(rest[1:])
	case base == "c8" || base == "nyc":
		return nextProgram(rest)
	case slices.Contains(environments, base) && slices.Contains(rest, "run") && nextProgram(rest) != nil:
		return nextProgram(rest)
	case slices.Contains(wrappers, base):
		return unwrapOne(base, rest)
	case startsScript(base, rest):
		return rest
	}
	return nil
}

// startsScript reports whether a shell starts a script of the project.
func startsScript(base string, rest []string) bool {
	return slices.Contains([]string{"sh", "bash", "pwsh", "powershell"}, base) && len(rest) > 0 && scriptFile.MatchString(rest[0])
}

// afterModule returns the words behind "-m", with it gone.
func afterModule(words []string) []string {
	if i := slices.Index(words, "-m"); i >= 0 && i+1 < len(words) {
		return words[i+1:]
	}
	return nil
}

// nextProgram returns the words from the first that is a check.
func nextProgram(words []string) []string {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") {
			if _, ok := checkOf(words[i:]); ok {
				return words[i:]
			}
		}
	}
	return nil
}

func unwrapOne(name string, words []string) []string {
	if strings.HasPrefix(name, "py") {
		if len(words) > 0 && framework.Starts(path.Base(words[0])) {
			return words
		}
		return afterModule(words)
	}
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || numberWord.MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	return words
}
