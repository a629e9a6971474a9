package configtext

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/internal/shell"
)

// simpleCommand is one command of a line of shell, without the operators.
type simpleCommand struct {
	Words []string // without quotes
	op    string   // the operator that follows: "&&", "||", ";", "|", "&", or "" at the end of the line
}

// SplitCommands splits a line of shell into its commands.
func SplitCommands(text string) []simpleCommand {
	var out []simpleCommand
	for _, c := range shell.Commands(text) {
		out = append(out, simpleCommand{c.Texts(), c.Op})
	}
	return out
}

// wrappers are programs and words of the shell that run the words after them.
var wrappers = strings.Fields("env sudo time exec command nice nohup npx pnpx bunx pnpm yarn poetry pipenv uv uvx pdm rye bundle cross-env cross-env-shell dotenv xvfb-run dbus-run-session " +
	"python python2 python3 pypy3 py php ruby run exec dlx tool x timeout gtimeout setsid stdbuf retry then do else if while until ! { } && winpty conda micromamba mamba direnv")

// environmentManagers are wrappers whose own options take values.
var environmentManagers = strings.Fields("uv poetry pdm pipenv conda mamba micromamba rye hatch")

var (
	// packageScriptRE matches the names of scripts that check, such as test:unit and lint.
	// shellVariableRE matches a word that is a variable, $(PYTEST), and durationRE a time limit,
	// 30s.
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

// findCheck reads a command. It is false if the command checks nothing.
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

// trimTaskArguments returns the arguments of rake, bake or rails with the name of the task cut at
// its first colon, so that test:external counts as test.
func trimTaskArguments(program string, args []string) []string {
	if len(args) == 0 || program != "rake" && program != "bake" && program != "rails" {
		return args
	}
	args = slices.Clone(args)
	args[0], _, _ = strings.Cut(args[0], ":")
	return args
}

// projectScriptCheck recognizes a script or program of the project as a check by its name, such as
// ./run_tests.sh. It is false for other commands.
func projectScriptCheck(words []string) (check, bool) {
	name := programName(words[0])
	if !strings.ContainsAny(words[0], `/\`) && !scriptFileRE.MatchString(words[0]) || !checkScriptRE.MatchString(name) {
		return check{}, false
	}
	return check{framework.Invocation{Name: name, Purpose: framework.RunsTests, Args: words[1:]}, true}, true
}

// checkScriptRE matches the name of a script or program with which a project tests itself, such as
// run_tests.sh. scriptFileRE matches the name of a script.
var (
	checkScriptRE = regexp.MustCompile(`(?i)^((unit|run|all|do|ci)[_-]?)*(tests?|build|check|ci|verify)([_-]\w+)?(\.\w+)?$|[_-]tests?(\.\w+)?$`)
	scriptFileRE  = regexp.MustCompile(`\.(sh|bash|ps1|cmd|bat)$`)
)

// purposeOf returns what a command is for, going by its key alone.
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
	// stepNameRE matches the key of the command of a workflow step, with its identity:
	// "jobs.ci.steps[unittests].run". testStepRE and preparationStepRE match identities.
	stepNameRE        = regexp.MustCompile(`steps\[([^\]]*)\]\.run$`)
	testStepRE        = regexp.MustCompile(`test|spec`)
	preparationStepRE = regexp.MustCompile(`install|setup|prepare|upload|build|report|summary|publish|artifact|cache|download|latest|fetch|clone|setup|version|print|show`)
)

// scriptPurpose returns whether a script that checks runs tests or lints, going by its name.
func scriptPurpose(name string) framework.Purpose {
	if strings.Contains(name, "test") || strings.Contains(name, "unit") || strings.Contains(name, "spec") || strings.Contains(name, "e2e") {
		return framework.RunsTests
	}
	return framework.RunsLint
}

// programName returns the name of a program without its folder and extension. Wrappers and
// variables have the name of the program that they run: "mvn" for ./mvnw, "pytest" for $(PYTEST).
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

// unwrap removes the words that only start a program: assignments of variables, npx, poetry run,
// python -m, and the marks of a recipe. It returns nil if nothing is left.
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

// packageScriptCall returns a call such as "yarn test" as a call of npm, "npm run test". It returns
// nil for other commands. remaining are the words after the program base.
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

// moveOptionsBack returns a call of pnpm with its options after the script that they are for, nil
// if no script follows them.
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

// wrappedCommand returns the command that a wrapper starts. It returns nil if base is not a
// wrapper.
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

// isScriptStart reports whether a shell runs a script of the project, as in "sh test.sh".
func isScriptStart(base string, remaining []string) bool {
	return slices.Contains([]string{"sh", "bash", "pwsh", "powershell"}, base) && len(remaining) > 0 && scriptFileRE.MatchString(remaining[0])
}

// afterModule returns the words after "-m", nil if there is no "-m".
func afterModule(words []string) []string {
	if i := slices.Index(words, "-m"); i >= 0 && i+1 < len(words) {
		return words[i+1:]
	}
	return nil
}

// firstCheck returns the words from the first one that begins a check, nil if there is none.
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

// skipWrapperOptions returns the words after the options of a wrapper and a time limit, nil if none
// are left. After an interpreter of Python, it returns a known program, or the module after "-m".
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
