package configtext

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/internal/shell"
)

// simpleCommand is one command of a line of shell: its words and what follows it.
type simpleCommand struct {
	Words []string // without quotes
	op    string   // "&&", "||", ";", "|", "&", or "" at the end of the line
}

// SplitCommands splits a line of shell into its commands.
func SplitCommands(text string) []simpleCommand {
	var out []simpleCommand
	for _, c := range shell.Commands(text) {
		out = append(out, simpleCommand{c.Texts(), c.Op})
	}
	return out
}

// wrappers run the words after them; those with a value take the next word.
var wrappers = strings.Fields("env sudo time exec command nice nohup npx pnpx bunx pnpm yarn poetry pipenv uv uvx pdm rye bundle cross-env cross-env-shell dotenv xvfb-run dbus-run-session " +
	"python python2 python3 pypy3 py php ruby run exec dlx tool x timeout gtimeout setsid stdbuf retry then do else if while until ! { } && winpty conda micromamba mamba direnv")

// environmentManagers are wrappers whose own options take values.
var environmentManagers = strings.Fields("uv poetry pdm pipenv conda mamba micromamba rye hatch")

var (
	packageScriptRE = regexp.MustCompile(`(?i)^(unit-?|ci[:-]?|run-?|e2e-?|integration-?)?(test|tests|unit|spec|check|lint|types?(check)?|tsc|coverage|cov|e2e|` + framework.ScriptNames + `|ci|verify|eslint|style)([:_.-].*)?$`)
	shellVariableRE = regexp.MustCompile(`^\$[({]?(\w+)[)}]?$`)
	durationRE      = regexp.MustCompile(`^\d+[smhd]?$`)
)

// check is a call of a program that checks the project.
type check struct {
	framework.Invocation

	// Guessed says that only the name of the script suggests that it checks.
	Guessed bool
}

// findCheck reads a command; false means that it checks nothing.
func findCheck(words []string) (check, bool) {
	words = unwrap(words)
	if len(words) == 0 {
		return check{}, false
	}
	name := programName(words[0])
	remaining := trimTaskArguments(name, words[1:])
	if c, ok := framework.InvocationOf(slices.Concat([]string{name}, remaining)); ok {
		return check{Invocation: c}, true
	}
	runsScript := name == "npm" && len(remaining) > 1 && (remaining[0] == "run" || remaining[0] == "run-script")
	if runsScript && packageScriptRE.MatchString(remaining[1]) {
		return check{Invocation: framework.PackageScript(remaining[1], scriptPurpose(remaining[1]), remaining[2:])}, true
	}
	return projectScriptCheck(words)
}

// trimTaskArguments treats test:external as test, if tasks have such names.
func trimTaskArguments(program string, args []string) []string {
	if len(args) == 0 || program != "rake" && program != "bake" && program != "rails" {
		return args
	}
	args = slices.Clone(args)
	args[0], _, _ = strings.Cut(args[0], ":")
	return args
}

// projectScriptCheck recognises a script or program of the project as a check by its name.
func projectScriptCheck(words []string) (check, bool) {
	name := programName(words[0])
	if !strings.ContainsAny(words[0], `/\`) && !scriptFileRE.MatchString(words[0]) || !checkScriptRE.MatchString(name) {
		return check{}, false
	}
	return check{framework.Invocation{Name: name, Purpose: framework.RunsTests, Args: words[1:]}, true}, true
}

// checkScriptRE is the name of a script or program of the project's own that tests it.
var (
	checkScriptRE = regexp.MustCompile(`(?i)^((unit|run|all|do|ci)[_-]?)*(tests?|build|check|ci|verify)([_-]\w+)?(\.\w+)?$|[_-]tests?(\.\w+)?$`)
	scriptFileRE  = regexp.MustCompile(`\.(sh|bash|ps1|cmd|bat)$`)
)

// purposeOf derives from the key of a command what it is for, whatever it runs.
func purposeOf(key string) framework.Purpose {
	if step := stepNameRE.FindStringSubmatch(key); step != nil {
		if testStepRE.MatchString(step[1]) && !preparationStepRE.MatchString(step[1]) {
			return framework.RunsTests
		}
		return framework.Unknown
	}
	name := strings.TrimRight(LastKey(key), "[]")
	switch {
	case strings.HasPrefix(key, "testenv") && name == "commands":
		return framework.RunsTests
	case strings.Contains(key, "scripts.") || strings.Contains(key, "aliases.") || !strings.Contains(key, "."):
		if packageScriptRE.MatchString(name) {
			return scriptPurpose(name)
		}
	}
	return framework.Unknown
}

var (
	stepNameRE        = regexp.MustCompile(`steps\[([^\]]*)\]\.run$`)
	testStepRE        = regexp.MustCompile(`test|spec`)
	preparationStepRE = regexp.MustCompile(`install|setup|prepare|upload|build|report|summary|publish|artifact|cache|download|latest|fetch|clone|setup|version|print|show`)
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
	if m := shellVariableRE.FindStringSubmatch(name); m != nil {
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
		if script := packageScriptCall(path.Base(w), words[1:]); script != nil {
			return script
		}
		next := wrappedCommand(path.Base(w), words[1:])
		if next == nil {
			words[0] = w
			return words
		}
		words = next
	}
	return nil
}

// packageScriptCall rewrites "yarn test" and its like as calls of npm; nil for something else.
func packageScriptCall(base string, remaining []string) []string {
	manager, ok := framework.PackageManagers[base]
	switch {
	case base == "pnpm" && len(remaining) > 1 && strings.HasPrefix(remaining[0], "-"):
		return moveOptionsBack(base, remaining)
	case !ok || base == "npm" || len(remaining) == 0:
	case !manager.NeedsRun && packageScriptRE.MatchString(remaining[0]):
		return append([]string{"npm", "run"}, remaining...)
	case remaining[0] == "run" && len(remaining) > 1 && packageScriptRE.MatchString(remaining[1]):
		return append([]string{"npm"}, remaining...)
	}
	return nil
}

// moveOptionsBack moves the options of pnpm after the script that they are for.
func moveOptionsBack(base string, remaining []string) []string {
	n := 1
	if slices.Contains(strings.Fields("--filter -F -C --dir"), remaining[0]) && len(remaining) > 2 {
		n = 2
	}
	if script := packageScriptCall(base, remaining[n:]); script != nil {
		return append(script, remaining[:n]...)
	}
	return nil
}

// wrappedCommand returns the command that a wrapper starts, nil if it is not a wrapper.
func wrappedCommand(base string, remaining []string) []string {
	switch {
	case base == "coverage" && len(remaining) > 0 && remaining[0] == "run":
		return afterModule(remaining[1:])
	case base == "c8" || base == "nyc":
		return firstCheck(remaining)
	case slices.Contains(environmentManagers, base) && slices.Contains(remaining, "run") && firstCheck(remaining) != nil:
		return firstCheck(remaining)
	case slices.Contains(wrappers, base):
		return skipWrapperOptions(base, remaining)
	case isScriptStart(base, remaining):
		return remaining
	}
	return nil
}

// isScriptStart reports whether a shell starts a script of the project.
func isScriptStart(base string, remaining []string) bool {
	return slices.Contains([]string{"sh", "bash", "pwsh", "powershell"}, base) && len(remaining) > 0 && scriptFileRE.MatchString(remaining[0])
}

// afterModule returns the words after "-m", with it gone.
func afterModule(words []string) []string {
	if i := slices.Index(words, "-m"); i >= 0 && i+1 < len(words) {
		return words[i+1:]
	}
	return nil
}

// firstCheck returns the words from the first that is a check.
func firstCheck(words []string) []string {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") {
			if _, ok := findCheck(words[i:]); ok {
				return words[i:]
			}
		}
	}
	return nil
}

func skipWrapperOptions(name string, words []string) []string {
	if strings.HasPrefix(name, "py") {
		if len(words) > 0 && framework.KnowsProgram(path.Base(words[0])) {
			return words
		}
		return afterModule(words)
	}
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || durationRE.MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	return words
}
