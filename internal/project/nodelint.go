package project

import (
	"slices"
	"strings"
)

// nodeLinter is a linter or a type checker for Node.
type nodeLinter struct {
	name     string
	packages []string
	configs  []string
	key      string         // in package.json
	drop     map[string]int // options that change files, hide findings or choose the format
	targets  []string       // if no script names any
	flags    []string
	report   string // the file it writes; "" is its output
}

var eslintDrop = map[string]int{"--fix": 0, "--fix-dry-run": 0, "--max-warnings": 1, "--cache": 0, "--cache-location": 1, "-f": 1, "--format": 1, "-o": 1, "--output-file": 1, "--color": 0}

var nodeLinters = []nodeLinter{
	{
		name: "eslint", packages: []string{"eslint"}, key: "eslintConfig",
		configs: []string{"eslint.config.*", ".eslintrc", ".eslintrc.*"},
		drop:    eslintDrop, targets: []string{"."},
		flags: []string{"--format=json", "--output-file=" + ReportDir + "/eslint.json", "--no-color"}, report: "eslint.json",
	},
	{
		name: "biome", packages: []string{"@biomejs/biome"}, configs: []string{"biome.json", "biome.jsonc", ".biome.json", ".biome.jsonc"},
		drop:    map[string]int{"--write": 0, "--apply": 0, "--fix": 0, "--unsafe": 0, "--apply-unsafe": 0, "--reporter": 0, "--max-diagnostics": 0, "--colors": 0, "--error-on-warnings": 0, "--staged": 0, "--changed": 0},
		targets: []string{"check", "."}, flags: []string{"--reporter=json", "--max-diagnostics=none", "--colors=off"},
	},
	{
		name: "stylelint", packages: []string{"stylelint"}, key: "stylelint", configs: []string{".stylelintrc", ".stylelintrc.*", "stylelint.config.*"},
		drop:    map[string]int{"--fix": 0, "--max-warnings": 1, "--mw": 1, "--cache": 0, "-f": 1, "--formatter": 1, "-o": 1, "--output-file": 1, "--color": 0},
		targets: []string{"**/*.{css,scss}", "--allow-empty-input"},
		flags:   []string{"--formatter=json", "--output-file=" + ReportDir + "/stylelint.json", "--no-color"}, report: "stylelint.json",
	},
	{
		name: "tsc", packages: []string{"typescript"}, configs: []string{"tsconfig.json"},
		drop:    map[string]int{"--watch": 0, "-w": 0, "--pretty": 0, "--preserveWatchOutput": 0},
		targets: []string{"--noEmit"}, flags: []string{"--pretty", "false"},
	},
}

// lintScripts are searched for the arguments of the linters, in addition to those that
// begin with "lint".
var lintScripts = []string{"lint", "eslint", "typecheck", "type-check", "check-types", "types", "tsc", "check", "ci", "test:lint", "test:types", "stylelint"}

// lint proposes the linters that the project configures or depends on.
func (n node) lint(p *proposal) {
	parts := n.lintParts()
	for _, l := range nodeLinters {
		config := n.has(l.configs...)
		if _, ok := n.keys[l.key]; config == "" && ok {
			config = "package.json"
		}
		calls := find(parts, l.name, "")
		calls = slices.DeleteFunc(calls, func(c call) bool { return !c.plain || l.elsewhere(c) })
		if config == "" && len(calls) > 0 {
			config = "script in package.json"
		}
		if config == "" || n.dependsAbove(l.packages...) == "" {
			continue
		}
		c := Check{Kind: Lint, Name: l.name}
		args := n.targets(l, p)
		if len(calls) > 0 {
			args, c.Env = without(calls[0].args, l.drop), calls[0].env
		}
		if l.name == "biome" && len(args) > 0 && args[0] == "ci" {
			args = with([]string{"check"}, args[1:]...)
		}
		c.Command = n.exec(l.name, with(args, l.flags...)...)
		c.Implied = n.implied(l, args, p.checks)
		if l.report != "" {
			c.Reports = []string{ReportDir + "/" + l.report}
		}
		p.tool(l.name, config)
		p.add(c)
	}
}

// buildMode are the arguments with which a proposed build runs tsc --build: without them
// what that writes is checked as well, nil for none.
func (n node) buildMode(p *proposal) []string {
	if !p.has(Build) {
		return nil
	}
	for _, c := range find(n.surely("build", 0), "tsc", "") {
		if c.plain && slices.ContainsFunc(c.args, func(a string) bool { return a == "--build" || a == "-b" }) && !slices.Contains(c.args, "--clean") {
			return without(c.args, emits)
		}
	}
	return nil
}

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

// elsewhere reports whether a call of the program is not the wanted check: tsc that
// writes files, biome that formats.
func (l nodeLinter) elsewhere(c call) bool {
	switch l.name {
	case "tsc":
		return !slices.ContainsFunc(c.args, func(a string) bool { return strings.EqualFold(a, "--noEmit") })
	case "biome":
		return len(c.args) == 0 || !slices.Contains([]string{"check", "lint", "ci"}, c.args[0])
	}
	return false
}

// targets are the arguments of a linter that no script calls.
func (n node) targets(l nodeLinter, p *proposal) []string {
	config, own := n.read("tsconfig.json"), n.buildMode(p)
	switch {
	case l.name == "tsc" && own != nil:
		return own
	case l.name == "tsc" && strings.Contains(config, `"references"`) && strings.Contains(strings.Join(strings.Fields(config), ""), `"files":[]`):
		return []string{"--build", "--noEmit"}
	case l.name == "eslint" && n.has(".eslintrc", ".eslintrc.*") != "" && n.dependsAbove("typescript") != "":
		return []string{".", "--ext=.js,.jsx,.cjs,.mjs,.ts,.tsx"}
	}
	return l.targets
}
