package agentrun

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"supervise/internal/agent"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/protect"
)

// Setup is the configuration of a loop's agent, with its limits. It is a part of the settings
// of the loop.
type Setup struct {
	Root string `json:"root"`          // the working tree, absolute
	Dir  string `json:"dir,omitempty"` // where the agent runs; "" is Root
	// Task is what the agent should do; "" if its command says so.
	Task string `json:"task,omitempty"`
	// Args is the agent's command. If Program is set, it has more arguments for that program.
	Args []string `json:"agent,omitempty"`
	// Program is the known agent program to start; its zero value means that Args is a
	// complete command.
	Program Program `json:"program,omitzero"`
	// Fallback are the programs that continue, in this order, when the quota of an earlier
	// one is used up.
	Fallback []Program `json:"fallback,omitempty"`
	RawTask  []byte    `json:"task_bytes,omitempty"` // Task, if it is not valid UTF-8

	MaxTime          time.Duration `json:"max_time_ns,omitempty"`          // of the loop; 0: none
	IterationTimeout time.Duration `json:"iteration_timeout_ns,omitempty"` // 0: none
	IdleTimeout      time.Duration `json:"idle_timeout_ns,omitempty"`      // 0: none
	// FirstOutputTimeout is how long the agent may take to print anything; 0: none.
	FirstOutputTimeout time.Duration `json:"first_output_timeout_ns,omitempty"`
	// MaxCost is the limit of the loop's usage, in US dollars; 0: none.
	MaxCost float64 `json:"max_cost_usd,omitempty"`
	// MaxTokens is the same limit in tokens of all kinds; 0: none.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// MaxWindow is how much of a window of the agent's service may be used, in percent; 0:
	// all.
	MaxWindow float64 `json:"max_window_percent,omitempty"`
	// MaxWait limits the total wait for the agent's service without a break, and FirstWait
	// is the first wait if the service does not name one. 0: the default; a negative
	// MaxWait: no wait.
	MaxWait    time.Duration `json:"max_wait_ns,omitempty"`
	FirstWait  time.Duration `json:"first_wait_ns,omitempty"`
	Pty        PtyMode       `json:"pty,omitempty"`
	Transcript int64         `json:"transcript_bytes,omitempty"` // limit of the transcript of one iteration; 0: the default

	Hooks   Hooks            `json:"hooks,omitzero"`   // what the agent's own hooks are used for
	Protect protect.Settings `json:"protect,omitzero"` // what the agent and the checks must not access
	Alarms  AlarmAction      `json:"alarm,omitempty"`  // what is done when tests vanish while the agent works
}

// Program is a known agent program that supervise starts by its preset.
type Program struct {
	Name     string `json:"name"`            // of the preset
	Model    string `json:"model,omitempty"` // "": the program's own choice
	Continue bool   `json:"continue,omitempty"`
	// Yolo is the user's consent that the agent works without approvals.
	Yolo bool `json:"yolo,omitempty"`
	// Checksum is the SHA-256 of the user's file about it, "" for a built-in preset.
	Checksum string `json:"file_sha256,omitempty"`
}

// Hooks say how an agent's own hooks are used.
type Hooks struct {
	Disabled   bool `json:"off,omitempty"`
	FailClosed bool `json:"fail_closed,omitempty"` // an error of a hook denies the call
	// Stop measures the tree when the agent wants to stop, and makes it continue if the
	// criterion is not met.
	Stop bool `json:"stop,omitempty"`
	// Client says whose hooks are installed for each run; "" for none. Hooks that the user
	// has installed are answered in any case.
	Client hook.Client `json:"client,omitempty"`
}

// AlarmAction is what is done when tests vanish while the agent works.
type AlarmAction string

// The actions. The work of a stopped agent is measured and judged as usual.
const (
	AlarmOff  AlarmAction = "off"
	AlarmWarn AlarmAction = "warn"
	AlarmStop AlarmAction = "stop"
)

// Valid reports whether a is one of the actions; empty is AlarmWarn.
func (a AlarmAction) Valid() bool {
	return slices.Contains([]AlarmAction{"", AlarmOff, AlarmWarn, AlarmStop}, a)
}

// PtyMode is whether the agent gets a pseudo-terminal.
type PtyMode string

// The modes. Many programs buffer their output to a pipe, which delays progress. Therefore
// PtyAuto uses a pseudo-terminal whenever the system has one.
const (
	PtyAuto   PtyMode = "auto"
	PtyAlways PtyMode = "always" // an error if there is none
	PtyNever  PtyMode = "never"
)

// Valid reports whether m is one of the modes; empty is PtyAuto.
func (m PtyMode) Valid() bool { return m == "" || m == PtyAuto || m == PtyAlways || m == PtyNever }

// Preset returns the preset of the named program, or of the program in the user's command;
// known is false if there is none.
func (s Setup) Preset() (p agent.Preset, known bool) {
	if s.Program.Name != "" {
		p, err := agent.ByName(s.Program.Name)
		return p, err == nil
	}
	return agent.Recognize(s.Args)
}

// CheckPresets returns an error if a user's preset has changed since the loop started: the
// agent may have written it.
func (s Setup) CheckPresets() error {
	for _, x := range s.Programs() {
		p, err := agent.ByName(x.Name)
		if err == nil && p.Checksum != x.Checksum {
			err = fmt.Errorf("the agent's file %s %w: put it back, or start a new loop", filepath.Join(agent.UserDir(), x.Name+".yaml"), ledger.ErrChanged)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CommandLine returns the agent's command for display, without a prompt.
func (s Setup) CommandLine() []string {
	p, known := s.Preset()
	if !known || s.Program.Name == "" {
		return s.Args
	}
	return p.Command(agent.Launch{Prompt: promptText, File: promptFile, Model: s.Program.Model, Yolo: s.Program.Yolo, Extra: s.Args}).Args
}

// WorkDir returns the folder in which the agent runs.
func (s Setup) WorkDir() string { return cmp.Or(s.Dir, s.Root) }

// ForJSON returns the setup in a form that JSON can represent.
func (s Setup) ForJSON() Setup {
	if !utf8.ValidString(s.Task) {
		s.RawTask = []byte(s.Task)
	}
	return s
}

// FromJSON reverses [Setup.ForJSON].
func (s Setup) FromJSON() Setup {
	if s.RawTask != nil {
		s.Task = string(s.RawTask)
	}
	return s
}

// environ returns the environment of the agent. A user's command gets env without defaults of
// a preset.
func (s Setup) environ(env []string) []string {
	env = s.allowedEnv(env)
	if s.Program.Name == "" {
		return env
	}
	p, _ := s.Preset()
	return p.Environ(env, s.Program.Yolo)
}

// allowedEnv returns the variables of env that the agent may get.
func (s Setup) allowedEnv(env []string) []string {
	p, _ := s.Preset()
	return slices.Clone(s.Protect.ForAgent(env, p.Needs().Vars))
}

// SandboxSite returns the parameters of the agent's sandbox that follow from its command.
func (s Setup) SandboxSite(env []string) protect.Site {
	p, _ := s.Preset()
	n := p.Needs()
	for _, x := range s.Fallback {
		other, _ := agent.ByName(x.Name) // the zero one needs nothing
		more := other.Needs()
		n.Home, n.Hosts, n.Vars = slices.Concat(n.Home, more.Home), slices.Concat(n.Hosts, more.Hosts), slices.Concat(n.Vars, more.Vars)
	}
	return protect.Site{Root: s.Root, Args: s.CommandLine(), Env: s.environ(env), Needs: protect.Needs{Home: n.Home, Hosts: n.Hosts, Vars: n.Vars}}
}
