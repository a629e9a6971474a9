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

// Setup is what a loop was asked to do with its agent, and within which limits. It
// is a part of the settings of the loop.
type Setup struct {
	Root string   `json:"root"`            // the working tree, absolute
	Dir  string   `json:"dir,omitempty"`   // where the agent runs; "" is Root
	Task string   `json:"task,omitempty"`  // what the agent is to do; "" when it knows
	Args []string `json:"agent,omitempty"` // its command; behind a known program's own arguments where Program names one
	// Program is how a known agent program is started; its zero value is a command
	// that the user has put together.
	Program Program `json:"program,omitzero"`
	// Fallback are the programs that go on, in this order, where one before them has used
	// up what its service gives.
	Fallback []Program `json:"fallback,omitempty"`
	RawTask  []byte    `json:"task_bytes,omitempty"` // Task, where it is no text that JSON can hold

	MaxTime          time.Duration `json:"max_time_ns,omitempty"`          // of the whole loop; 0: none
	IterationTimeout time.Duration `json:"iteration_timeout_ns,omitempty"` // 0: none
	IdleTimeout      time.Duration `json:"idle_timeout_ns,omitempty"`      // 0: none
	// FirstOutputTimeout is how long the agent may take to print anything; 0: none.
	FirstOutputTimeout time.Duration `json:"first_output_timeout_ns,omitempty"`
	MaxCost            float64       `json:"max_cost_usd,omitempty"`       // of the agent in the whole loop, in US dollars; 0: none
	MaxTokens          int64         `json:"max_tokens,omitempty"`         // the same in tokens of all kinds; 0: none
	MaxWindow          float64       `json:"max_window_percent,omitempty"` // of a window of the agent's service, that may be used; 0: all
	// MaxWait is how long a loop waits for the agent's service without a break, and
	// FirstWait how long the first time, where the service does not say. 0: the
	// default; a negative MaxWait: not at all.
	MaxWait    time.Duration `json:"max_wait_ns,omitempty"`
	FirstWait  time.Duration `json:"first_wait_ns,omitempty"`
	Pty        PtyMode       `json:"pty,omitempty"`
	Transcript int64         `json:"transcript_bytes,omitempty"` // limit of the transcript of one iteration; 0: the default

	Hooks   Hooks            `json:"hooks,omitzero"`   // what the agent's own hooks are used for
	Protect protect.Settings `json:"protect,omitzero"` // what keeps agent and checks from what is none of theirs
	Alarms  AlarmAction      `json:"alarm,omitempty"`  // what is done when tests vanish while the agent works
}

// Program is a known agent program that supervise starts in its own way.
type Program struct {
	Name     string `json:"name"`            // of the preset
	Model    string `json:"model,omitempty"` // "": the program's own choice
	Continue bool   `json:"continue,omitempty"`
	// Yolo is the consent of the user that the agent is asked for no approval.
	Yolo bool `json:"yolo,omitempty"`
	// Checksum is the SHA-256 of the user's file about it, "" for a built-in preset.
	Checksum string `json:"file_sha256,omitempty"`
}

// Hooks say how an agent's own hooks are used.
type Hooks struct {
	Disabled   bool `json:"off,omitempty"`
	FailClosed bool `json:"fail_closed,omitempty"` // an error of a hook denies the call
	// Stop has the tree measured when the agent wants to stop, and sends it back
	// where the criterion is not met.
	Stop bool `json:"stop,omitempty"`
	// Client is whose hooks are installed for each run; "" is none: hooks that the
	// user installed are answered all the same.
	Client hook.Client `json:"client,omitempty"`
}

// AlarmAction is what is done when tests vanish while the agent works.
type AlarmAction string

// The actions. An agent that is stopped is measured and judged as any other.
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

// The modes. Programs that print to a pipe keep back what they print until a
// buffer is full, so that nobody sees them work: therefore PtyAuto gives one
// wherever the system has one, also when nobody looks.
const (
	PtyAuto   PtyMode = "auto"
	PtyAlways PtyMode = "always" // an error where there is none
	PtyNever  PtyMode = "never"
)

// Valid reports whether m is one of the modes; empty is PtyAuto.
func (m PtyMode) Valid() bool { return m == "" || m == PtyAuto || m == PtyAlways || m == PtyNever }

// Preset is what is known of the agent's program: the one that was named, or the
// one that the user's command starts.
func (s Setup) Preset() (p agent.Preset, known bool) {
	if s.Program.Name != "" {
		p, err := agent.ByName(s.Program.Name)
		return p, err == nil
	}
	return agent.Recognize(s.Args)
}

// CheckPresets returns an error where the file about the agent is another one than when the
// loop began: the agent may have written it.
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

// CommandLine is the agent's command for people, without a prompt.
func (s Setup) CommandLine() []string {
	p, known := s.Preset()
	if !known || s.Program.Name == "" {
		return s.Args
	}
	return p.Command(agent.Launch{Prompt: promptText, File: promptFile, Model: s.Program.Model, Yolo: s.Program.Yolo, Extra: s.Args}).Args
}

// WorkDir is where the agent runs.
func (s Setup) WorkDir() string { return cmp.Or(s.Dir, s.Root) }

// ForJSON returns the setup as it can be written down.
func (s Setup) ForJSON() Setup {
	if !utf8.ValidString(s.Task) {
		s.RawTask = []byte(s.Task)
	}
	return s
}

// FromJSON returns the setup as it was before [Setup.ForJSON].
func (s Setup) FromJSON() Setup {
	if s.RawTask != nil {
		s.Task = string(s.RawTask)
	}
	return s
}

// environ is the environment of the agent. A command of the user's own gets env as it
// is.
func (s Setup) environ(env []string) []string {
	env = s.allowedEnv(env)
	if s.Program.Name == "" {
		return env
	}
	p, _ := s.Preset()
	return p.Environ(env, s.Program.Yolo)
}

// allowedEnv is what of an environment the agent gets.
func (s Setup) allowedEnv(env []string) []string {
	p, _ := s.Preset()
	return slices.Clone(s.Protect.ForAgent(env, p.Needs().Vars))
}

// SandboxSite is where a sandbox of the agent is made, as far as its command says that.
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
