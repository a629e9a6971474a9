package agent

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// EvidenceEnv is the variable that names to the agent the folder with all that was measured.
const EvidenceEnv = "SUPERVISE_EVIDENCE"

// NotesEnv is the variable that names to the agent its file of notes for later iterations.
const NotesEnv = "SUPERVISE_NOTES"

// MaxArgument is the longest argument that Linux passes to a program, in bytes.
const MaxArgument = 131071

// Launch is what one run of an agent is to be.
type Launch struct {
	Prompt  string
	File    string   // the prompt as a file, absolute
	Model   string   // "": the agent's own choice
	Session string   // that is to be continued; "": a fresh one
	Budget  float64  // in US dollars; 0: none
	Yolo    bool     // the user agrees that nothing is asked
	Extra   []string // further arguments of the user, before the prompt
}

// Invocation is how a run is started.
type Invocation struct {
	Args     []string
	Stdin    string // what is fed to standard input, which is closed behind it
	Delivery Delivery
}

// Delivery is the way of a prompt to the agent.
type Delivery string

// The deliveries.
const (
	ByArgument Delivery = "argument"
	ByStdin    Delivery = "stdin"
	ByFile     Delivery = "file"
)

// Command puts the command line of a run together. Nothing in it is seen by a
// shell.
func (p Preset) Command(l Launch) Invocation {
	inv := Invocation{Args: []string{p.Programs[0]}}
	prompt, by := p.delivery(l)
	inv.Delivery = by
	if by == ByStdin {
		inv.Stdin = l.Prompt
	}
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
			inv.Args = append(inv.Args, list...) // what the user wrote is never filled in again
		default:
			inv.Args = append(inv.Args, replaceAll(list, "{{model}}", l.Model, "{{session}}", l.Session, "{{budget}}", strconv.FormatFloat(l.Budget, 'f', -1, 64))...)
		}
	}
	return inv
}

// delivery chooses how the prompt is passed. What is too long for an argument, or
// holds a byte that none can hold, goes another way; so does what looks like a
// flag.
func (p Preset) delivery(l Launch) ([]string, Delivery) {
	switch {
	case !slices.Contains(p.Prompt, "{{prompt}}"):
		return p.Prompt, ByFile
	case len(l.Prompt) <= MaxArgument && !strings.ContainsRune(l.Prompt, 0) && !strings.HasPrefix(l.Prompt, "-") && l.Prompt != "":
		return p.Prompt, ByArgument
	case len(p.LongPrompt) > 0 && strings.Contains(strings.Join(p.LongPrompt, " "), "{{prompt_file}}"):
		return p.LongPrompt, ByFile
	}
	return p.LongPrompt, ByStdin
}

func listIf(list []string, applies bool) []string {
	if !applies {
		return nil
	}
	return list
}

func replaceAll(list []string, pairs ...string) []string {
	r := strings.NewReplacer(pairs...)
	out := make([]string, len(list))
	for i, arg := range list {
		out[i] = r.Replace(arg)
	}
	return out
}

// Environ returns the environment of a run from that of the user: what the user
// has set stays as it is.
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

func varName(entry string) string {
	before, _, _ := strings.Cut(entry, "=")
	return before
}

// CheckRoot says why the agent would refuse to start at once, and what helps; nil
// when it would not.
func (p Preset) CheckRoot(env []string, yolo bool) error {
	if p.RootVar == "" || !yolo || os.Geteuid() != 0 {
		return nil
	}
	if slices.ContainsFunc(env, func(entry string) bool { return varName(entry) == p.RootVar }) {
		return nil
	}
	return fmt.Errorf("%s does not run with %s as root: run supervise as another user, or set %s=1 where this machine is a sandbox", p.Name, strings.Join(p.Yolo, " "), p.RootVar)
}

// compareVersions compares two versions number by number, and false where one is none.
func compareVersions(a, b string) (int, bool) {
	x, y := parseVersion(a), parseVersion(b)
	if len(x) == 0 || len(y) == 0 {
		return 0, false
	}
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(numberAt(x, i), numberAt(y, i)); c != 0 {
			return c, true
		}
	}
	return 0, true
}

func numberAt(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func parseVersion(version string) []int {
	var out []int
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
