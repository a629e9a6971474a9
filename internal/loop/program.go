package loop

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"supervise/internal/agent"
	"supervise/runner"
)

// Program is a known agent program that supervise starts in its own way.
type Program struct {
	Name     string `json:"name"`            // of the preset
	Model    string `json:"model,omitempty"` // "": the program's own choice
	Continue bool   `json:"continue,omitempty"`
	// Yolo is the consent of the user that the agent is asked for no approval.
	Yolo bool `json:"yolo,omitempty"`
}

// errNoTask is the error of a known program that is told nothing.
var errNoTask = errors.New("a known agent needs a task: give it with -p or -P")

// program is what is known of the agent's program: the one that was named, or the
// one that the user's command starts.
func (o Settings) program() (agent.Preset, bool) {
	if o.Program.Name != "" {
		p, err := agent.ByName(o.Program.Name)
		return p, err == nil
	}
	return agent.Recognise(o.Args)
}

// CommandLine is the agent's command for people, without a prompt.
func (o Settings) CommandLine() []string {
	p, known := o.program()
	if !known || o.Program.Name == "" {
		return o.Args
	}
	return p.Command(agent.Launch{Prompt: promptText, File: promptFile, Model: o.Program.Model, Yolo: o.Program.Yolo, Extra: o.Args}).Args
}

// format is how the agent's output is to be read, and whether it was told to
// print that.
func (o Settings) format() (f agent.Format, told bool) {
	p, _ := o.program()
	return p.Format, o.Program.Name != "" && p.Format != ""
}

// programEnv is the environment of the agent. A command of the user's own gets it
// as it is.
func (o Options) programEnv() []string {
	env := slices.Clone(o.Protect.ForAgent(o.Env))
	if o.Program.Name == "" {
		return env
	}
	p, _ := o.program()
	return p.Environ(env, o.Program.Yolo)
}

// launch completes the command of a known program.
func (s *session) launch(cmd *runner.Command, text, path string) error {
	p, err := agent.ByName(s.opts.Program.Name)
	if err != nil {
		return err
	}
	if s.opts.Task == "" {
		return errNoTask
	}
	l := agent.Launch{Prompt: text, File: path, Model: s.opts.Program.Model, Yolo: s.opts.Program.Yolo, Extra: append(slices.Clone(s.hooks.args()), s.opts.Args...)}
	if s.opts.Program.Continue {
		l.Session = s.chat.id
	}
	if s.opts.MaxCost > 0 {
		l.Budget = max(s.opts.MaxCost-s.spentCost(), minBudget)
	}
	inv := p.Command(l)
	cmd.Args, cmd.Stdin = inv.Args, strings.NewReader(inv.Stdin)
	if cmd.Grace == (runner.Grace{}) {
		cmd.Grace = p.Grace
	}
	s.chat.asked = l.Session
	return nil
}

// minBudget is the least that a program is told as its own limit, in US dollars.
const minBudget = .0001

// chat is the session of the agent that the next run may continue.
type chat struct {
	id    string
	asked string      // that the present run was told to continue
	total agent.Usage // of the whole session so far, where its numbers grow
}

// task is what the agent is told, byte for byte.
func (o Settings) task() string {
	if o.RawTask != nil {
		return string(o.RawTask)
	}
	return o.Task
}

// kept are the settings as they can be written down.
func (o Settings) kept() Settings {
	if !utf8.ValidString(o.Task) {
		o.RawTask = []byte(o.Task)
	}
	return o
}
