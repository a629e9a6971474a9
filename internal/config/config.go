// Package config reads what a user wants, from defaults, the file
// .supervise.yaml and flags, and turns it into the options of each package.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/gate"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/project"
	"supervise/internal/prompt"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"

	"github.com/goccy/go-yaml"
)

// FileName is the configuration in the root of a project.
const FileName = ".supervise.yaml"

// ErrInvalid is wrapped by every error that a change of flags or file mends.
var ErrInvalid = errors.New("invalid configuration")

// Settings are everything a user can set. The zero value of a field that is a
// limit means that there is none.
type Settings struct {
	Persistence   Persistence     `yaml:"agent_persistence"` // other names of other keys, which stand over it
	Checks        Checks          `yaml:"checks"`
	Parallel      Parallel        `yaml:"checks_parallel"` // auto, or how many checks run at the same time
	Confirm       Confirm         `yaml:"confirm"`
	HoldOut       HoldOut         `yaml:"holdout"`
	Hooks         Hooks           `yaml:"hooks"`
	Protect       Protect         `yaml:"protect"`
	Limits        Limits          `yaml:"limits"`
	Agent         string          `yaml:"agent"`   // a known agent program; "": the command behind --
	Model         string          `yaml:"model"`   // of the agent; "": its own choice
	Session       string          `yaml:"session"` // fresh or continue
	Yolo          bool            `yaml:"yolo"`    // the user agrees that the agent asks for no approval
	Until         string          `yaml:"until"`   // auto, green, idle, never, quality, or a command
	Promise       string          `yaml:"completion_promise"`
	QualityTarget float64         `yaml:"quality_target"` // in [0,100]; 0: none
	OnStall       string          `yaml:"on_stall"`       // stop, ask or continue
	Diminishing   bool            `yaml:"stop_on_diminishing"`
	Pty           string          `yaml:"pty"` // auto, always or never
	Reinforcement string          `yaml:"reinforcement"`
	Mode          string          `yaml:"mode"` // off, minimal, standard or aggressive
	Strict        bool            `yaml:"strict"`
	Tests         string          `yaml:"tests"`        // free, append or frozen
	AllowRemove   []string        `yaml:"allow_remove"` // tests and files whose removal is no finding
	RollbackTo    string          `yaml:"rollback_to"`  // started or best
	Stall         Stall           `yaml:"stall"`
	Cycle         Cycle           `yaml:"cycle"`
	Stuck         Stuck           `yaml:"stuck"`
	Rules         map[string]Rule `yaml:"rules"`
	Integrity     Integrity       `yaml:"integrity"`
	Weights       Weights         `yaml:"quality_weights"`
	Selection     Selection       `yaml:"selection"`
	Snapshot      Snapshot        `yaml:"snapshot"`
	AllowUntested bool            `yaml:"allow_untested"`
	ErrorCount    []metric.Field  `yaml:"error_count"` // what counts as an error

	Gate        string        `yaml:"gate"`         // reject, abort or wait
	GateTimeout time.Duration `yaml:"gate_timeout"` // after which a question counts as rejected
	Unattended  bool          `yaml:"unattended"`   // nobody is asked at the terminal
	Notify      Notify        `yaml:"notify"`
	Watch       Watch         `yaml:"watch"`
}

// Checks are the commands of the project. What is not given is recognised.
type Checks struct {
	Build List `yaml:"build"`
	Test  List `yaml:"test"`
	Lint  List `yaml:"lint"`
}

// Check is one command. In the file it is a string for the shell, or a mapping.
type Check struct {
	Name      string            `yaml:"name"`
	Dir       string            `yaml:"dir"` // of the project below the root; the command runs there
	Command   Argv              `yaml:"command"`
	Env       []string          `yaml:"env"`   // NAME=value
	Files     map[string]string `yaml:"files"` // written into the private folder before the command runs
	Reports   []string          `yaml:"reports"`
	Stderr    bool              `yaml:"stderr"` // standard error belongs to the report
	Coverage  bool              `yaml:"coverage"`
	Runner    string            `yaml:"runner"`    // the test framework: failing tests can be run again alone
	Inventory Argv              `yaml:"inventory"` // lists the tests without running them
	Timeout   time.Duration     `yaml:"timeout"`
}

// Confirm is how failures of tests that passed before are confirmed.
type Confirm struct {
	MaxTests int `yaml:"max_tests"` // with more of them nothing is run again
	Reruns   int `yaml:"reruns"`    // how often a test is run again, at most; 0: never
}

// HoldOut is when tests that findings name are run as they were before the
// iteration, and which tests the agent does not see.
type HoldOut struct {
	Run     string        `yaml:"run"`     // on-finding or never
	Timeout time.Duration `yaml:"timeout"` // of all of it; 0: the limits of the checks

	Dir     string   `yaml:"dir"`     // of the hidden tests, outside the tree; "": there are none
	Command Argv     `yaml:"command"` // that runs them; none: the test checks
	Reports []string `yaml:"reports"` // of the command
	When    string   `yaml:"when"`    // iteration or end
}

// The values of [HoldOut].Run and [HoldOut].When.
const (
	onFinding   = "on-finding"
	never       = "never"
	onIteration = "iteration"
	atEnd       = "end"
)

// Limits bound a loop.
type Limits struct {
	MaxIterations    int           `yaml:"max_iterations"`
	MaxTime          time.Duration `yaml:"max_time"`
	IterationTimeout time.Duration `yaml:"iteration_timeout"`
	IdleTimeout      time.Duration `yaml:"idle_timeout"`
	FirstOutput      time.Duration `yaml:"first_output_timeout"`
	TranscriptMB     int64         `yaml:"transcript_mb"`
	MaxCost          float64       `yaml:"max_cost"`   // in US dollars
	MaxTokens        int64         `yaml:"max_tokens"` // of all kinds
	MaxWait          time.Duration `yaml:"max_wait"`   // for the agent's service; 0: it is not waited for
	FirstWait        time.Duration `yaml:"first_wait"` // where the service does not say how long
	MaxRetries       int           `yaml:"max_retries"`
	MaxLoops         int           `yaml:"max_loops"` // that run at the same time on this machine, in whatever tree; 0: any
	CheckTimeout     time.Duration `yaml:"check_timeout"`
}

// Weights are those of the quality score.
type Weights struct {
	Validation   float64 `yaml:"validation"`
	Completeness float64 `yaml:"completeness"`
	Correctness  float64 `yaml:"correctness"`
	Readability  float64 `yaml:"readability"`
	Efficiency   float64 `yaml:"efficiency"`
}

// Selection is how the best iteration is chosen. Threshold is in [0,100].
type Selection struct {
	Mode      string  `yaml:"mode"`
	Threshold float64 `yaml:"threshold"`
}

// Snapshot bounds what is kept of the tree.
type Snapshot struct {
	MaxFileMB  int64    `yaml:"max_file_mb"`
	MaxStoreMB int64    `yaml:"max_store_mb"` // over it old snapshots are dropped; 0: never
	MinFreeMB  int64    `yaml:"min_free_mb"`  // that a snapshot leaves free of the disk; 0: 512, at least 2 % of the disk
	Precious   []string `yaml:"precious"`     // ignored files that are kept all the same
}

// Default returns the settings of a user who sets nothing.
func Default() Settings {
	w, rules := selector.DefaultWeights(), detector.DefaultOptions()
	return Settings{
		ErrorCount: metric.ErrorFields(),
		Mode:       string(detector.ModeStandard), RollbackTo: string(detector.ToStart),
		Stall: Stall{rules.StallWindow, rules.StallRange}, Cycle: Cycle{rules.CycleWindow, rules.CycleMin}, Stuck: Stuck{rules.StuckCount},
		Session: sessionFresh, Until: "auto", OnStall: "stop", Reinforcement: "adaptive", Pty: string(loop.PtyAuto),
		Gate:      string(gate.PolicyReject),
		Watch:     Watch{Action: string(loop.WatchWarn)},
		Confirm:   Confirm{measure.DefaultMaxTests, measure.DefaultReruns},
		HoldOut:   HoldOut{Run: onFinding, When: onIteration},
		Hooks:     Hooks{Use: hooksOn, OnError: hooksOpen, Stop: hooksOff},
		Tests:     string(detector.TestsFree),
		Limits:    Limits{MaxIterations: 10, MaxWait: loop.DefaultMaxWait, FirstWait: loop.DefaultFirstWait, MaxRetries: 3, CheckTimeout: measure.DefaultTimeout, TranscriptMB: runner.DefaultTranscriptLimit >> 20},
		Weights:   Weights{w.Validation, w.Completeness, w.Correctness, w.Readability, w.Efficiency},
		Selection: Selection{Mode: string(selector.HighestQualityVerified), Threshold: 70},
		Snapshot:  Snapshot{MaxFileMB: 50, MaxStoreMB: 4096},
	}
}

// Load reads the file at path over the defaults. A file that is not there is no
// error unless it was named.
func Load(path string, named bool) (Settings, error) {
	s := Default()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && !named {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("%w: read %s: %w", ErrInvalid, path, err)
	}
	if strings.TrimSpace(withoutComments(string(text))) == "" {
		return s, nil
	}
	s.under(text)
	if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
		return s, fmt.Errorf("%w: %s: %s%s", ErrInvalid, path, yaml.FormatError(err, false, true), suggestion(err))
	}
	if err := s.Validate(); err != nil {
		return s, locate(err, path, text)
	}
	if err := s.Integrity.load(filepath.Dir(path)); err != nil {
		return s, locate(err, path, text)
	}
	if dir := s.HoldOut.Dir; dir != "" && !filepath.IsAbs(dir) {
		s.HoldOut.Dir = filepath.Join(filepath.Dir(path), filepath.FromSlash(dir))
	}
	return s, nil
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Validate checks what the types alone do not say.
func (s Settings) Validate() error {
	if _, err := prompt.ParseLevel(s.Reinforcement); err != nil && !strings.EqualFold(s.Reinforcement, "adaptive") {
		return invalid(fmt.Sprintf("reinforcement: %v, or adaptive", err), "reinforcement")
	}
	if err := s.weights().Validate(); err != nil {
		return invalid(fmt.Sprintf("quality_weights: %v", err), "quality_weights")
	}
	if _, err := s.rules(); err != nil {
		return err
	}
	if err := s.Integrity.validate(); err != nil {
		return err
	}
	if err := s.Protect.validate(); err != nil {
		return err
	}
	if err := s.Persistence.validate(); err != nil {
		return err
	}
	if c, bad := s.Checks.Test.unknownRunner(); bad {
		return invalid(fmt.Sprintf("checks.test: there is no runner %s; the runners are %s; without one failing tests are run again with the whole command", c.Runner, strings.Join(measure.Runners(), ", ")), "checks", "test")
	}
	for _, c := range slices.Concat(s.conditions(), s.agentConditions(), s.gateConditions(), s.Hooks.conditions()) {
		if c.bad {
			return invalid(c.text, strings.Split(c.key, ".")...)
		}
	}
	return nil
}

// condition is what a setting must not be.
type condition struct {
	bad       bool
	key, text string
}

func (s Settings) conditions() []condition {
	return []condition{
		{s.Limits.MaxIterations < 1, "limits.max_iterations", "max_iterations must be at least 1"},
		{s.Confirm.MaxTests < 1, "confirm.max_tests", "confirm.max_tests must be at least 1; reruns: 0 turns running tests again off"},
		{s.Confirm.Reruns < 0, "confirm.reruns", "confirm.reruns must not be negative"},
		{s.HoldOut.Run != onFinding && s.HoldOut.Run != never, "holdout.run", "holdout.run must be on-finding or never, not " + s.HoldOut.Run},
		{s.HoldOut.Timeout < 0, "holdout.timeout", "holdout.timeout must not be negative"},
		{s.HoldOut.When != onIteration && s.HoldOut.When != atEnd, "holdout.when", "holdout.when must be iteration or end, not " + s.HoldOut.When},
		{len(s.HoldOut.Reports) > 0 && len(s.HoldOut.Command) == 0, "holdout.reports", "holdout.reports are those of holdout.command: give the command as well"},
		{s.Limits.MaxRetries < 0, "limits.max_retries", "max_retries must not be negative"},
		{s.Limits.MaxTime < 0, "limits.max_time", "limits.max_time must not be negative"},
		{s.Limits.IterationTimeout < 0, "limits.iteration_timeout", "limits.iteration_timeout must not be negative"},
		{s.Limits.IdleTimeout < 0, "limits.idle_timeout", "limits.idle_timeout must not be negative"},
		{s.Limits.FirstOutput < 0, "limits.first_output_timeout", "limits.first_output_timeout must not be negative"},
		{s.Limits.CheckTimeout < 0, "limits.check_timeout", "limits.check_timeout must not be negative"},
		{s.Limits.TranscriptMB < 1, "limits.transcript_mb", "limits.transcript_mb must be at least 1"},
		{!loop.PtyMode(s.Pty).Valid(), "pty", "pty must be auto, always or never, not " + s.Pty},
		{s.Snapshot.MaxFileMB < 0, "snapshot.max_file_mb", "snapshot.max_file_mb must not be negative"},
		{s.Snapshot.MaxStoreMB < 0, "snapshot.max_store_mb", "snapshot.max_store_mb must not be negative"},
		{s.Snapshot.MinFreeMB < 0, "snapshot.min_free_mb", "snapshot.min_free_mb must not be negative"},
		{!s.countsErrors(), "error_count", fmt.Sprintf("error_count must name one or more of %v, each once", metric.ErrorFields())},
		{s.unknownUntil(), "until", "until must be auto, green, idle, never, quality, or a command; there is no command " + s.Until},
		{!slices.Contains([]string{"stop", "ask", "continue"}, s.OnStall), "on_stall", "on_stall must be stop, ask or continue, not " + s.OnStall},
		{s.Stall.Iterations < 2, "stall.iterations", "stall.iterations must be at least 2"},
		{!(s.Stall.Range > 0 && s.Stall.Range <= 1), "stall.range", "stall.range must be above 0 and at most 1, like 0.02"},
		{s.Cycle.Window < 2, "cycle.window", "cycle.window must be at least 2"},
		{s.Cycle.After < 1, "cycle.after", "cycle.after must be at least 1"},
		{s.Stuck.Errors < 2, "stuck.errors", "stuck.errors must be at least 2"},
		{s.RollbackTo != string(detector.ToStart) && s.RollbackTo != string(detector.ToBest), "rollback_to", "rollback_to must be started or best, not " + s.RollbackTo},
		{!(s.Selection.Threshold >= 0 && s.Selection.Threshold <= 100), "selection.threshold", "selection.threshold must be between 0 and 100"},
		{!selector.Mode(s.Selection.Mode).Valid(), "selection.mode", "selection.mode must be highest_quality, highest_quality_verified or most_recent_above_threshold, not " + s.Selection.Mode},
	}
}

func (s Settings) countsErrors() bool {
	seen := map[metric.Field]bool{}
	for _, f := range s.ErrorCount {
		if seen[f] || !slices.Contains(metric.ErrorFields(), f) {
			return false
		}
		seen[f] = true
	}
	return len(seen) > 0
}

// errorFields are those of a plan: none where everything counts, as it did before
// there was a choice.
func (s Settings) errorFields() []metric.Field {
	if len(s.ErrorCount) == len(metric.ErrorFields()) {
		return nil
	}
	return slices.Sorted(slices.Values(s.ErrorCount))
}

func (s Settings) weights() selector.Weights {
	w := s.Weights
	return selector.Weights{
		Validation: w.Validation, Completeness: w.Completeness, Correctness: w.Correctness,
		Readability: w.Readability, Efficiency: w.Efficiency,
	}
}

// Loop turns the settings into the options of a loop in root. What only the
// caller knows (agent, terminal, printers) is left to be filled in.
func (s Settings) Loop(root string) (loop.Options, error) {
	if err := s.Validate(); err != nil {
		return loop.Options{}, err
	}
	rules, err := s.rules()
	if err != nil {
		return loop.Options{}, err
	}
	o := loop.Options{Settings: loop.Settings{
		Root: root, Until: s.until(), Program: s.program(), MaxCost: s.Limits.MaxCost, MaxTokens: s.Limits.MaxTokens,
		MaxWait: s.Limits.maxWait(), FirstWait: s.Limits.FirstWait,
		MaxIterations: s.Limits.MaxIterations, MaxTime: s.Limits.MaxTime,
		IterationTimeout: s.Limits.IterationTimeout, IdleTimeout: s.Limits.IdleTimeout, FirstOutputTimeout: s.Limits.FirstOutput,
		Pty: loop.PtyMode(s.Pty), Transcript: s.Limits.TranscriptMB << 20,
		Recovery: recovery.Options{MaxRetries: s.Limits.MaxRetries, StopOnStall: s.OnStall == "stop", AskOnStall: s.OnStall == "ask"}, StopOnDiminishing: s.Diminishing,
		Rules: rules, Integrity: s.Integrity.Options(), Weights: s.weights(), AllowUntested: s.AllowUntested,
		Select:   selector.Options{Mode: selector.Mode(s.Selection.Mode), Threshold: s.Selection.Threshold / 100},
		Snapshot: snapshot.Options{MaxFile: s.Snapshot.MaxFileMB << 20, Precious: s.Snapshot.Precious, MinFree: s.Snapshot.MinFreeMB << 20},
		MaxStore: s.Snapshot.MaxStoreMB << 20, Plan: measure.Plan{ErrorFields: s.errorFields()},
	}}
	o.Gate, o.Notify = s.asking()
	o.Watch = loop.WatchAction(s.Watch.Action)
	if level, err := prompt.ParseLevel(s.Reinforcement); err == nil {
		o.Level = &level
	}
	o.Hooks = s.hooks()
	if err := s.Persistence.fill(&o.Settings); err != nil {
		return loop.Options{}, err
	}
	o.HoldOut = loop.HoldOut{Never: s.HoldOut.Run == never, Timeout: s.HoldOut.Timeout}
	if o.Protect, err = s.Protect.options(); err != nil {
		return loop.Options{}, err
	}
	if o.Hidden, err = s.HoldOut.hidden(root, s.Limits.CheckTimeout); err != nil {
		return loop.Options{}, err
	}
	if s.Confirm != Default().Confirm {
		o.Confirm = &measure.Reruns{MaxTests: s.Confirm.MaxTests, Reruns: s.Confirm.Reruns}
	}
	return o, nil
}

// unknownUntil reports whether the criterion is a single word that is neither a
// known one nor a program: most likely a typing error, and one that would let a
// loop run to its limit.
func (s Settings) unknownUntil() bool {
	if s.until().Kind != loop.Command || strings.ContainsAny(s.Until, " \t/$;|&()<>'\"") {
		return false
	}
	_, err := exec.LookPath(s.Until)
	return err != nil
}

// Plan joins the checks of the settings with those that are recognised in root.
// A kind of check that is given replaces all recognised ones of that kind. The
// notes say what is missing.
func (s Settings) Plan(root string, look func(string) (string, error)) (measure.Plan, []string, error) {
	found, err := project.Detect(root, look)
	if err != nil && (!errors.Is(err, project.ErrUnknown) || len(s.Checks.Test) == 0) {
		return measure.Plan{}, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	plan := measure.Plan{Root: root, Language: found.Language, Parallel: int(s.Parallel), ErrorFields: s.errorFields()}
	given := map[measure.Kind]List{measure.Build: s.Checks.Build, measure.Test: s.Checks.Test, measure.Lint: s.Checks.Lint}
	for _, kind := range []measure.Kind{measure.Build, measure.Test, measure.Lint} {
		for i, c := range given[kind] {
			plan.Checks = append(plan.Checks, s.given(kind, i, c))
		}
		if len(given[kind]) > 0 {
			continue
		}
		for _, c := range found.Checks {
			if measure.Kind(c.Kind) == kind {
				plan.Checks = append(plan.Checks, measure.Check{
					Kind: kind, Name: c.Name, Dir: c.Dir, Command: c.Command, Env: c.Env, Files: c.Files, Reports: c.Reports, Stderr: c.Stderr,
					Coverage: c.Coverage, Runner: c.Runner, Inventory: c.Inventory, Timeout: s.Limits.CheckTimeout,
				})
			}
		}
	}
	return plan, found.Notes, nil
}

func (s Settings) given(kind measure.Kind, i int, c Check) measure.Check {
	name := string(kind)
	if i > 0 {
		name = fmt.Sprintf("%s %d", kind, i+1)
	}
	out := measure.Check{
		Kind: kind, Name: cmp.Or(c.Name, name), Dir: c.Dir, Command: c.Command, Env: c.Env, Files: c.Files, Reports: c.Reports, Stderr: c.Stderr,
		Coverage: c.Coverage, Runner: c.Runner, Inventory: c.Inventory, Timeout: c.Timeout,
	}
	if out.Timeout == 0 {
		out.Timeout = s.Limits.CheckTimeout
	}
	return out
}

// Is reports whether a project stands in dir: a configuration, or files by
// which one is recognised.
func Is(dir string) bool {
	_, err := os.Stat(Path(dir))
	return err == nil || project.Is(dir)
}

// Path returns the configuration file of a project.
func Path(root string) string { return filepath.Join(root, FileName) }
