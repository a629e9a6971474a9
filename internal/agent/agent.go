// Package agent knows coding agent programs: how each is started, how it is
// given its prompt, what it prints, and how its end is to be read. Everything it
// knows of a program is a file: the built-in ones are in the folder presets, and a
// user can add others. A command that it does not know works as well, read by its exit
// code and by what services say alike everywhere.
//
// Agents end with exit code 0 after failures, and with others after successes.
// What the last event on their output says counts first, therefore, and the exit
// code second.
package agent

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/yamlfile"
	"supervise/runner"
)

// Preset is what is known of one agent program: a file NAME.yaml.
//
// In Args, {{yolo}}, {{model}}, {{resume}}, {{budget}} and {{prompt}} that stand
// alone are replaced by the lists of the same name, or by nothing where they do
// not apply.
type Preset struct {
	Name string `yaml:"-"` // of the file
	From string `yaml:"-"` // path of the file of a user, "" for a built-in one
	Sum  string `yaml:"-"` // SHA-256 of that file, "" for a built-in one

	// built-in agent whose values are those of all keys that the file does not have
	Like string `yaml:"like"`
	// base names of the command; the first is the one that is started. The default is the agent's name
	Programs []string `yaml:"programs"`
	// what was really run
	Observed Observed `yaml:"observed"`
	// arguments, with the places of the lists below: `{{yolo}}`, `{{model}}`, `{{resume}}`, `{{budget}}`, `{{prompt}}`
	Args []string `yaml:"arguments"`
	// arguments by which the program approves everything; given only with `--yolo`
	Yolo []string `yaml:"yolo"`
	// environment variables that do the same
	YoloEnv map[string]string `yaml:"yolo_env"`
	// the program approves everything anyway
	Always bool `yaml:"never_asks"`
	// arguments with `{{model}}`
	Model []string `yaml:"model"`
	// arguments with `{{session}}` that continue a session; without them none can be continued
	Resume []string `yaml:"resume"`
	// arguments with `{{budget}}`, in US dollars: the program's own limit of its cost
	Budget []string `yaml:"budget"`
	// arguments with `{{prompt}}`, or with `{{prompt_file}}`, the path of a file
	Prompt []string `yaml:"prompt"`
	// the same where the text cannot be an argument. Without `{{prompt_file}}` it comes on standard input
	Large []string `yaml:"long_prompt"`
	// environment variables that are set, unless the user has set them
	Env map[string]string `yaml:"env"`
	// environment variables that are not inherited
	Unset []string `yaml:"unset"`
	// environment variable without which `yolo` is refused to the superuser
	Root string `yaml:"root_needs"`
	// signals that end it: `term: false` leaves out SIGTERM, for programs that go on after it
	Stop StopSignals `yaml:"stop"`
	// [what it prints](#events): a list of rules, or the name of a built-in agent whose events it prints
	Events Events `yaml:"events"`
	// [what its other lines mean](#events): a list of rules
	Lines []Rule `yaml:"lines"`
	// the usage of a continued session contains that of its earlier runs
	Grows bool `yaml:"usage_grows"`
	// outcomes of exit codes of its own
	Exits map[int]Outcome `yaml:"exit_codes"`
	// agent whose [hooks](hooks.md) it has
	Hooks string `yaml:"hooks"`
	// what it needs in a [sandbox](threat-model.md#sandbox)
	Sandbox Needs `yaml:"sandbox"`
	// how to install it
	Install string `yaml:"install"`
	// what helps when the service refuses
	Login string `yaml:"login"`
}

// Observed is what was really run of a program.
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

// Grace is how the program is stopped; what it started is ended in any case.
func (p Preset) Grace() runner.Grace {
	if p.Stop.Term != nil && !*p.Stop.Term {
		return runner.Grace{Terminate: -1}
	}
	return runner.Grace{}
}

// Needs is what a program needs of its user's machine to work in a sandbox.
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

// Those who let their user choose among services know the keys of many.
var (
	manyHosts = []string{"api.anthropic.com", "api.openai.com", "auth.openai.com", "generativelanguage.googleapis.com", "openrouter.ai", "api.mistral.ai", "api.deepseek.com", "api.groq.com", "api.x.ai"}
	manyVars  = []string{"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_API_KEY", "OPENROUTER_*", "MISTRAL_*", "DEEPSEEK_*", "GROQ_*", "XAI_*"}
)

// Needs returns what the program needs in a sandbox; nothing of one that is not known.
func (p Preset) Needs() Needs {
	n := p.Sandbox
	if n.AnyModel {
		n.Hosts, n.Vars = slices.Concat(n.Hosts, manyHosts), slices.Concat(n.Vars, manyVars)
	}
	return n
}

// Tried reports whether a version is the one that was run. One that is not known, or
// cannot be compared, is.
func (p Preset) Tried(version string) bool {
	if version == "" || p.Observed.Version == "" {
		return true
	}
	order, ok := compare(version, p.Observed.Version)
	return !ok || order == 0
}

// placeholder finds what is replaced in an argument.
var placeholder = regexp.MustCompile(`\{\{\w*\}\}`)

// places are the lists of arguments, and which placeholders each may have.
func (p Preset) places() []struct {
	key  string
	list []string
	may  []string
} {
	return []struct {
		key  string
		list []string
		may  []string
	}{
		{"arguments", p.Args, []string{"{{yolo}}", "{{model}}", "{{resume}}", "{{budget}}", "{{prompt}}"}},
		{"yolo", p.Yolo, nil},
		{"model", p.Model, []string{"{{model}}"}},
		{"resume", p.Resume, []string{"{{session}}"}},
		{"budget", p.Budget, []string{"{{budget}}"}},
		{"prompt", p.Prompt, []string{"{{prompt}}", "{{prompt_file}}"}},
		{"long_prompt", p.Large, []string{"{{prompt_file}}"}},
	}
}

// validate says what makes no sense.
func (p Preset) validate() error {
	for _, l := range p.places() {
		for _, arg := range l.list {
			for _, found := range placeholder.FindAllString(arg, -1) {
				if !slices.Contains(l.may, found) {
					return yamlfile.Invalid(fmt.Sprintf("%s: %s has no meaning here; %s", l.key, found, meaningful(l.may)), l.key)
				}
			}
		}
	}
	prompt := strings.Join(p.Prompt, " ")
	for _, c := range []struct {
		bad       bool
		key, text string
	}{
		{!slices.Contains(p.Args, "{{prompt}}"), "arguments", "arguments must have the element {{prompt}}, where the arguments of prompt come in"},
		{strings.Contains(prompt, "{{prompt}}") == strings.Contains(prompt, "{{prompt_file}}"), "prompt", "prompt must have either {{prompt}} or {{prompt_file}}"},
		{slices.Contains(p.Programs, ""), "programs", "programs must be names, like [claude]"},
		{p.Observed.What == "", "observed", "observed.what must say what was run of the program, like 'by its documentation'"},
		{p.Install == "", "install", "install must say how to get the program"},
		{p.Login == "", "login", "login must say what helps when the service refuses"},
		{!p.Always && len(p.Yolo)+len(p.YoloEnv) == 0, "yolo", "yolo or yolo_env must say how the program is told to approve everything, or never_asks: true that it does so anyway"},
	} {
		if c.bad {
			return yamlfile.Invalid(c.text, c.key)
		}
	}
	for code, o := range p.Exits {
		if !o.named() {
			return yamlfile.Invalid(fmt.Sprintf("exit_codes: there is no outcome %s; the outcomes are %s", o, outcomeNames()), "exit_codes", fmt.Sprint(code))
		}
	}
	return p.validateRules()
}

func meaningful(list []string) string {
	if len(list) == 0 {
		return "there are no placeholders"
	}
	return "the placeholders are " + strings.Join(list, ", ")
}
