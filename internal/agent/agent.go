// Package agent describes coding agent programs: how to start each one, how to pass its
// prompt, and how to read its output and outcome. Each program has a preset, which is a YAML
// file: the built-in ones are in the folder presets, and a user can add others. Unknown
// commands are judged by their exit code and by common error messages of services.
//
// Some agents exit with 0 after failures, and with other codes after successes. Therefore
// the final event of their output takes precedence over the exit code.
package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/yamlfile"
	"supervise/runner"
)

// Preset describes one agent program, in a file NAME.yaml.
//
// In Args, an element {{yolo}}, {{model}}, {{resume}}, {{budget}} or {{prompt}} is replaced
// by the list of the same name, or removed if the list does not apply.
type Preset struct {
	Name     string `yaml:"-"` // of the file
	Path     string `yaml:"-"` // path of the file of a user, "" for a built-in one
	Checksum string `yaml:"-"` // SHA-256 of that file, "" for a built-in one

	// built-in agent that provides the other keys
	Base string `yaml:"like"`
	// base names of its command, the started one first; default: its name
	Programs []string `yaml:"programs"`
	// how it was tested: `version`, `what`; `supervised`: it passes `make e2e-agents`
	Observed Observed `yaml:"observed"`
	// arguments, with `{{yolo}}`, `{{model}}`, `{{resume}}`, `{{budget}}`, `{{prompt}}` for the lists below
	Args []string `yaml:"arguments"`
	// arguments for `--yolo`, which approve everything
	Yolo []string `yaml:"yolo"`
	// variables that do the same
	YoloEnv map[string]string `yaml:"yolo_env"`
	// it approves everything anyway
	NeverAsks bool `yaml:"never_asks"`
	// arguments with `{{model}}`
	Model []string `yaml:"model"`
	// arguments with `{{session}}`, to continue one
	Resume []string `yaml:"resume"`
	// arguments with `{{budget}}`: its own limit in US dollars
	Budget []string `yaml:"budget"`
	// arguments with `{{prompt}}` or `{{prompt_file}}`
	Prompt []string `yaml:"prompt"`
	// arguments for [prompts that cannot be an argument](#known-agents); without `{{prompt_file}}` they come on standard input
	LongPrompt []string `yaml:"long_prompt"`
	// variables to set, unless you have set them
	Env map[string]string `yaml:"env"`
	// variables to remove
	Unset []string `yaml:"unset"`
	// variable without which it refuses `yolo` as root
	RootVar string `yaml:"root_needs"`
	// `{term: false}`: it does not end on SIGTERM
	Stop StopSignals `yaml:"stop"`
	// rules about its JSON events, or a dialect: `claude`, `gemini`, `pi`, `qwen`
	Events Events `yaml:"events"`
	// rules about its other lines
	Lines []Rule `yaml:"lines"`
	// file of its session: `path` (with `{{session}}`) below `home` (or the variable `var`); of its `events` only [windows](#windows) are read
	Log SessionLog `yaml:"session_log"`
	// the usage of a continued session includes earlier runs
	UsageGrows bool `yaml:"usage_grows"`
	// outcomes of the agent's exit codes
	ExitCodes map[int]Outcome `yaml:"exit_codes"`
	// client whose [hooks](hooks.md) it has
	Hooks string `yaml:"hooks"`
	// its needs in a [sandbox](threat-model.md#sandbox): `home`, `hosts`, `vars`; `any_model`: also those of well-known services
	Sandbox Needs `yaml:"sandbox"`
	// how to install it
	Install string `yaml:"install"`
	// what to do when its service refuses
	Login string `yaml:"login"`
}

// Observed says how a program was tested.
type Observed struct {
	// version that was run, "" for none
	Version string `yaml:"version"`
	// what was run of it, as a phrase
	What string `yaml:"what"`
	// it passes `make e2e-agents`
	Supervised bool `yaml:"supervised"`
}

// StopSignals are the signals that end a program.
type StopSignals struct {
	// whether SIGTERM is sent
	Term *bool `yaml:"term"`
}

// Grace returns how to end the program: without SIGTERM if the preset says so, and as usual
// otherwise.
func (p Preset) Grace() runner.Grace {
	if p.Stop.Term != nil && !*p.Stop.Term {
		return runner.Grace{Terminate: -1}
	}
	return runner.Grace{}
}

// Needs is what a program needs to work in a sandbox.
type Needs struct {
	// its own files below the home folder, which it writes; a file is given as a copy, and a folder that ends in a slash is made where it does not exist
	Home []string `yaml:"home"`
	// hosts of its service
	Hosts []string `yaml:"hosts"`
	// patterns of the variables that hold its keys and settings
	Vars []string `yaml:"vars"`
	// its user chooses among services: those of the well-known ones are added
	AnyModel bool `yaml:"any_model"`
}

// The hosts and variables of programs that work with many services.
var (
	modelHosts = []string{"api.anthropic.com", "api.openai.com", "auth.openai.com", "generativelanguage.googleapis.com", "openrouter.ai", "api.mistral.ai", "api.deepseek.com", "api.groq.com", "api.x.ai"}
	modelVars  = []string{"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_API_KEY", "OPENROUTER_*", "MISTRAL_*", "DEEPSEEK_*", "GROQ_*", "XAI_*"}
)

// Needs returns what the program needs in a sandbox. The zero preset of an unknown program
// needs nothing.
func (p Preset) Needs() Needs {
	n := p.Sandbox
	if n.AnyModel {
		n.Hosts, n.Vars = slices.Concat(n.Hosts, modelHosts), slices.Concat(n.Vars, modelVars)
	}
	return n
}

// versionRE matches a version like v1.20.0-beta. The group has its numbers without trailing zeros, so
// that equal versions have equal groups.
var versionRE = regexp.MustCompile(`^v?(\d+(?:\.\d+)*?)(?:\.0+)*(?:-.*)?$`)

// IsTestedVersion reports whether a version is the tested one. It is true for versions that
// are unknown or cannot be compared.
func (p Preset) IsTestedVersion(version string) bool {
	numbers, tested := versionRE.FindStringSubmatch(version), versionRE.FindStringSubmatch(p.Observed.Version)
	return numbers == nil || tested == nil || numbers[1] == tested[1]
}

// placeholderRE matches placeholders in arguments, like {{model}}.
var placeholderRE = regexp.MustCompile(`\{\{\w*\}\}`)

// argumentList is a list of arguments in a preset, with the placeholders that may occur in it.
type argumentList struct {
	key     string // in the file
	args    []string
	allowed []string // placeholders
}

// argumentLists returns the lists of arguments of the preset.
func (p Preset) argumentLists() []argumentList {
	return []argumentList{
		{"arguments", p.Args, []string{"{{yolo}}", "{{model}}", "{{resume}}", "{{budget}}", "{{prompt}}"}},
		{"yolo", p.Yolo, nil},
		{"model", p.Model, []string{"{{model}}"}},
		{"resume", p.Resume, []string{"{{session}}"}},
		{"budget", p.Budget, []string{"{{budget}}"}},
		{"prompt", p.Prompt, []string{"{{prompt}}", "{{prompt_file}}"}},
		{"long_prompt", p.LongPrompt, []string{"{{prompt_file}}"}},
	}
}

// validate returns an error about the first invalid value.
func (p Preset) validate() error {
	for _, l := range p.argumentLists() {
		for _, found := range placeholderRE.FindAllString(strings.Join(l.args, "\\x00"), -1) {
			if !slices.Contains(l.allowed, found) {
				return yamlfile.InvalidValue(fmt.Sprintf("%s: %s has no meaning here; %s", l.key, found, placeholderHint(l.allowed)), l.key)
			}
		}
	}

	prompt := strings.Join(p.Prompt, " ")
	for _, c := range []struct {
		invalid   bool
		key, text string
	}{
		{!slices.Contains(p.Args, "{{prompt}}"), "arguments", "arguments must have the element {{prompt}}, which the arguments of prompt replace"},
		{strings.Contains(prompt, "{{prompt}}") == strings.Contains(prompt, "{{prompt_file}}"), "prompt", "prompt must have either {{prompt}} or {{prompt_file}}"},
		{slices.Contains(p.Programs, ""), "programs", "programs must be names, like [claude]"},
		{p.Observed.What == "", "observed", "observed.what must say how the program was tested, like 'by its documentation'"},
		{p.Install == "", "install", "install must say how to get the program"},
		{p.Login == "", "login", "login must say what helps when the service refuses"},
		{!p.NeverAsks && len(p.Yolo)+len(p.YoloEnv) == 0, "yolo", "set yolo or yolo_env, which make the program approve everything, or never_asks: true if it always does"},
	} {
		if c.invalid {
			return yamlfile.InvalidValue(c.text, c.key)
		}
	}

	for code, o := range p.ExitCodes {
		if !o.isReportable() {
			return yamlfile.InvalidValue(fmt.Sprintf("exit_codes: there is no outcome %s; the outcomes are %s", o, outcomeNames()), "exit_codes", fmt.Sprint(code))
		}
	}
	return cmp.Or(p.Log.validate(), p.validateRules())
}

// placeholderHint says which placeholders may occur in a list of arguments.
func placeholderHint(list []string) string {
	if len(list) == 0 {
		return "there are no placeholders"
	}
	return "the placeholders are " + strings.Join(list, ", ")
}
