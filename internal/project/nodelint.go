package project

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/shell"
)

// nodeLinter is a linter or a type checker for Node.
type nodeLinter struct {
	name    string
	key     string   // of its configuration in package.json; "" if it has none there
	targets []string // arguments if no script calls it
	flags   []string // options for the report
	report  string   // the file it writes; "" is its output
}

// row returns the row of the linter in package framework.
func (l nodeLinter) row() *framework.Linter { return framework.LinterNamed(l.name) }

var nodeLinters = []nodeLinter{
	{
		name: "eslint", key: "eslintConfig", targets: []string{"."},
		flags: []string{"--format=json", "--output-file=" + ReportDir + "/eslint.json", "--no-color"}, report: "eslint.json",
	},
	{name: "biome", targets: []string{"check", "."}, flags: []string{"--reporter=json", "--max-diagnostics=none", "--colors=off"}},
	{
		name: "stylelint", key: "stylelint", targets: []string{"**/*.{css,scss}", "--allow-empty-input"},
		flags: []string{"--formatter=json", "--output-file=" + ReportDir + "/stylelint.json", "--no-color"}, report: "stylelint.json",
	},
	{name: "tsc", targets: []string{"--noEmit"}, flags: []string{"--pretty", "false"}},
}

// lintScripts are searched for the arguments of the linters, in addition to those that
// begin with "lint".
var lintScripts = []string{"lint", "eslint", "typecheck", "type-check", "check-types", "types", "tsc", "check", "ci", "test:lint", "test:types", "stylelint"}

// proposeLint proposes the linters that the project configures or depends on.
func (n node) proposeLint(p *proposal) {
	parts := n.lintParts()
	for _, l := range nodeLinters {
		config := n.First(l.row().ConfigFiles...)
		if _, ok := n.keys[l.key]; config == "" && ok {
			config = "package.json"
		}
		calls := findCalls(parts, l.name, "")
		calls = slices.DeleteFunc(calls, func(c call) bool { return !c.plain || l.isOtherUse(c) })
		if config == "" && len(calls) > 0 {
			config = "script in package.json"
		}
		if config == "" || n.firstDependencyAbove(l.row().Packages...) == "" {
			continue
		}
		c := Check{Kind: Lint, Name: l.name}
		args := n.defaultArgs(l, p)
		if len(calls) > 0 {
			args, c.Env = framework.WithoutOptions(calls[0].args, strings.Fields(l.row().Verdict)), calls[0].env
		}
		if l.name == "biome" && len(args) > 0 && args[0] == "ci" {
			args = withWords([]string{"check"}, args[1:]...)
		}
		c.Command = n.execCommand(l.name, withWords(args, l.flags...)...)
		c.Implied = n.impliedBy(l, args, p.checks)
		if l.report != "" {
			c.Reports = []string{ReportDir + "/" + l.report}
		}
		p.addTool(l.name, config)
		p.add(c)
	}
}

// buildMode returns the arguments with which a proposed build runs tsc --build, nil if it does not.
// Without them tsc would check the output of the build as well.
func (n node) buildMode(p *proposal) []string {
	if !p.hasKind(Build) {
		return nil
	}
	for _, c := range findCalls(n.certainCommands("build", 0), "tsc", "") {
		if c.plain && slices.ContainsFunc(c.args, func(a string) bool { return a == "--build" || a == "-b" }) && !slices.Contains(c.args, "--clean") {
			return framework.WithoutOptions(c.args, tscOutputOptions)
		}
	}
	return nil
}

// lintParts returns the commands of all scripts that may lint.
func (n node) lintParts() []segment {
	names := slices.Clone(lintScripts)
	for name := range n.scripts {
		if strings.HasPrefix(name, "lint:") && !strings.Contains(name, "fix") {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(lintScripts):])
	var parts []segment
	for _, name := range names {
		parts = append(parts, n.flatten(name)...)
	}
	return parts
}

// isOtherUse reports whether a call of the program is no check: tsc that writes files, biome that
// formats.
func (l nodeLinter) isOtherUse(c call) bool {
	switch l.name {
	case "tsc":
		return !slices.ContainsFunc(c.args, func(a string) bool { return strings.EqualFold(a, "--noEmit") })
	case "biome":
		return len(c.args) == 0 || !slices.Contains([]string{"check", "lint", "ci"}, c.args[0])
	}
	return false
}

// defaultArgs returns the arguments of a linter that no script calls.
func (n node) defaultArgs(l nodeLinter, p *proposal) []string {
	config, own := n.Read("tsconfig.json"), n.buildMode(p)
	switch {
	case l.name == "tsc" && own != nil:
		return own
	case l.name == "tsc" && strings.Contains(config, `"references"`) && strings.Contains(strings.Join(strings.Fields(config), ""), `"files":[]`):
		return []string{"--build", "--noEmit"}
	case l.name == "eslint" && n.First(".eslintrc", ".eslintrc.*") != "" && n.firstDependencyAbove("typescript") != "":
		return []string{".", "--ext=.js,.jsx,.cjs,.mjs,.ts,.tsx"}
	}
	return l.targets
}

// tscOutputOptions are options of tsc for its output, which do not change what it checks.
var tscOutputOptions = strings.Fields("--noEmit --outDir= --declaration -d --sourceMap --declarationMap --listEmittedFiles --pretty --preserveWatchOutput")

// impliedBy returns the SHA-256 of the package.json, in hexadecimal, if a proposed build also runs
// the check, else "".
func (n node) impliedBy(l nodeLinter, args []string, checks []Check) string {
	if l.name != "tsc" || !n.isBuilt(args, checks) {
		return ""
	}
	sum := sha256.Sum256([]byte(n.Read("package.json")))
	return hex.EncodeToString(sum[:])
}

// isBuilt reports whether a build runs tsc with the same arguments, and fails if that does.
func (n node) isBuilt(args []string, checks []Check) bool {
	same := func(other []string) bool {
		return slices.Equal(comparableArgs(args), comparableArgs(other))
	}
	return slices.ContainsFunc(checks, func(c Check) bool {
		if c.Kind != Build {
			return false
		}
		if slices.Equal(c.Command, n.scriptCommand("build")) {
			return slices.ContainsFunc(findCalls(n.certainCommands("build", 0), "tsc", ""), func(c call) bool { return c.plain && len(c.env) == 0 && same(c.args) })
		}
		i := slices.Index(c.Command, "tsc")
		return i >= 0 && len(c.Env) == 0 && same(c.Command[i+1:])
	})
}

// comparableArgs returns the arguments of tsc that decide what it checks, with long names.
func comparableArgs(args []string) []string {
	out := slices.Clone(framework.WithoutOptions(args, tscOutputOptions))
	for i, a := range out {
		switch a {
		case "-b":
			out[i] = "--build"
		case "-p":
			out[i] = "--project"
		}
	}
	return out
}

// certainCommands returns the commands of a script whose failure fails the script. Hooks like
// prebuild are not among them, as not every package manager runs them.
func (n node) certainCommands(script string, depth int) []segment {
	line := n.scripts[script]
	mayContinue := func(c shell.Command) bool { return c.Op != "&&" && c.Op != "" }
	if slices.ContainsFunc(shell.Commands(line), mayContinue) || depth > 4 {
		return nil
	}
	var out []segment
	for _, s := range splitCommands(line) {
		names := n.nestedScripts(s.words)
		if len(names) == 0 {
			out = append(out, s)
		}
		for _, name := range names {
			out = append(out, n.certainCommands(name, depth+1)...)
		}
	}
	return out
}
