package configtext

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/internal/shell"
)

// simple is one command of a line of shell: its words and what follows it.
type simple struct {
	Words []string // without quotes
	op    string   // "&&", "||", ";", "|", "&", or "" at the end of the line
}

// SimpleCommands splits a line of shell into its commands.
func SimpleCommands(text string) []simple {
	var out []simple
	for _, c := range shell.Commands(text) {
		out = append(out, simple{c.Texts(), c.Op})
	}
	return out
}

// wrappers run the words after them; those with a value take the next word.
var wrappers = strings.Fields("env sudo time exec command nice nohup npx pnpx bunx pnpm yarn poetry pipenv uv uvx pdm rye bundle cross-env cross-env-shell dotenv xvfb-run dbus-run-session " +
	"python python2 python3 pypy3 py php ruby run exec dlx tool x timeout gtimeout setsid stdbuf retry then do else if while until ! { } && winpty conda micromamba mamba direnv")

// environments are wrappers whose own options take values.
var environments = strings.Fields("uv poetry pdm pipenv conda mamba micromamba rye hatch")

var (
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
	rest := joinTask(name, words[1:])
	if c, ok := framework.InvocationOf(slices.Concat([]string{name}, rest)); ok {
		return check{Invocation: c}, true
	}
	if name == "npm" && len(rest) > 1 && (rest[0] == "run" || rest[0] == "run-script") && packageScript.MatchString(rest[1]) {
		return check{Invocation: framework.PackageScript(rest[1], scriptPurpose(rest[1]), rest[2:])}, true
	}
	return ownScript(words)
}

// joinTask treats test:external as test, if tasks have such names.
func joinTask(program string, args []string) []string {
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
		if w == "" || shell.IsAssignment(w) {
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
	manager, ok := framework.PackageManagers[base]
	switch {
	case base == "pnpm" && len(rest) > 1 && strings.HasPrefix(rest[0], "-"):
		return afterOptions(base, rest)
	case !ok || base == "npm" || len(rest) == 0:
	case !manager.NeedsRun && packageScript.MatchString(rest[0]):
		return append([]string{"npm", "run"}, rest...)
	case rest[0] == "run" && len(rest) > 1 && packageScript.MatchString(rest[1]):
		return append([]string{"npm"}, rest...)
	}
	return nil
}

// afterOptions moves the options of pnpm after the script that they are for.
func afterOptions(base string, rest []string) []string {
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

// afterModule returns the words after "-m", with it gone.
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
		if len(words) > 0 && framework.KnowsProgram(path.Base(words[0])) {
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
