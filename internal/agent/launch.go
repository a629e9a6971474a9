package agent

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// EvidenceEnv is the agent's variable with the folder of all measurements.
const EvidenceEnv = "SUPERVISE_EVIDENCE"

// NotesEnv is the agent's variable with the path of its notes for later iterations.
const NotesEnv = "SUPERVISE_NOTES"

// MaxArgument is the longest argument that Linux passes to a program, in bytes.
const MaxArgument = 131071

// Launch has the parameters of one run.
type Launch struct {
	Prompt  string
	File    string   // the prompt as a file, absolute
	Model   string   // "": the agent's default
	Session string   // the session to continue; "": a new one
	Budget  float64  // in US dollars; 0: none
	Yolo    bool     // the user allows everything without approval
	Extra   []string // more arguments of the user, before the prompt
}

// Invocation is the command line of a run.
type Invocation struct {
	Args  []string
	Stdin string // what is written to standard input before it is closed
}

// Command returns the command line of a run, which no shell interprets. It replaces each
// placeholder in the arguments of the preset by its list, or removes it if the list does not
// apply.
func (p Preset) Command(l Launch) Invocation {
	prompt, stdin := p.promptArgs(l)
	inv := Invocation{Args: []string{p.Programs[0]}, Stdin: stdin}
	lists := map[string][]string{
		"{{yolo}}":   listIf(p.Yolo, l.Yolo),
		"{{model}}":  listIf(p.Model, l.Model != ""),
		"{{resume}}": listIf(p.Resume, l.Session != ""),
		"{{budget}}": listIf(p.Budget, l.Budget > 0),
		"{{prompt}}": append(slices.Clone(l.Extra), replaceAll(prompt, "{{prompt}}", l.Prompt, "{{prompt_file}}", l.File)...),
	}

	for _, arg := range p.Args {
		list, special := lists[arg]
		switch {
		case !special:
			inv.Args = append(inv.Args, arg)
		case arg == "{{prompt}}":
			inv.Args = append(inv.Args, list...) // placeholders in the user's text are not replaced
		default:
			inv.Args = append(inv.Args, replaceAll(list, "{{model}}", l.Model, "{{session}}", l.Session, "{{budget}}", strconv.FormatFloat(l.Budget, 'f', -1, 64))...)
		}
	}
	return inv
}

// promptArgs chooses how to pass the prompt, as an argument, a file or on standard input. It returns
// the arguments for that, and the text for standard input. A prompt that is empty, is too long, looks
// like a flag, or contains a zero byte cannot be an argument.
func (p Preset) promptArgs(l Launch) (args []string, stdin string) {
	fitsArgument := l.Prompt != "" && len(l.Prompt) <= MaxArgument
	isPlain := !strings.ContainsRune(l.Prompt, 0) && !strings.HasPrefix(l.Prompt, "-")
	switch {
	case !slices.Contains(p.Prompt, "{{prompt}}"), fitsArgument && isPlain:
		return p.Prompt, ""
	case len(p.LongPrompt) > 0 && strings.Contains(strings.Join(p.LongPrompt, " "), "{{prompt_file}}"):
		return p.LongPrompt, ""
	}
	return p.LongPrompt, l.Prompt
}

// listIf returns the list if it applies, and nil otherwise.
func listIf(list []string, applies bool) []string {
	if !applies {
		return nil
	}
	return list
}

// replaceAll returns a copy of the list with placeholders replaced. pairs are placeholders and
// their values, alternating.
func replaceAll(list []string, pairs ...string) []string {
	r := strings.NewReplacer(pairs...)
	out := make([]string, len(list))
	for i, arg := range list {
		out[i] = r.Replace(arg)
	}
	return out
}

// Environ returns the environment of a run: env without the variables that the preset removes,
// and with its defaults for variables that env does not have.
func (p Preset) Environ(env []string, yolo bool) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return slices.Contains(p.Unset, varName(entry)) })
	defaults := map[string]string{}
	maps.Copy(defaults, p.Env)
	if yolo {
		maps.Copy(defaults, p.YoloEnv)
	}
	for _, variable := range slices.Sorted(maps.Keys(defaults)) {
		if !slices.ContainsFunc(out, func(have string) bool { return varName(have) == variable }) {
			out = append(out, variable+"="+defaults[variable])
		}
	}
	return out
}

// varName returns the name in an entry NAME=VALUE.
func varName(entry string) string {
	before, _, _ := strings.Cut(entry, "=")
	return before
}

// CheckRoot returns an error if the agent would refuse to start because it runs as root.
func (p Preset) CheckRoot(env []string, yolo bool) error {
	isSet := slices.ContainsFunc(env, func(entry string) bool { return varName(entry) == p.RootVar })
	if p.RootVar == "" || !yolo || os.Geteuid() != 0 || isSet {
		return nil
	}
	return fmt.Errorf("%s does not run with %s as root: run supervise as another user, or set %s=1 if this machine is a sandbox", p.Name, strings.Join(p.Yolo, " "), p.RootVar)
}
