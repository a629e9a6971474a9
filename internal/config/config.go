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

	"supervise/detector"
	"supervise/internal/agentrun"
	"supervise/internal/approval"
	"supervise/internal/criterion"
	"supervise/internal/detectedplan"
	"supervise/internal/git"
	"supervise/internal/judge"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/mutationcheck"
	"supervise/internal/originaltests"
	"supervise/internal/project"
	"supervise/internal/projectfile"
	"supervise/internal/prompt"
	"supervise/internal/protect"
	"supervise/internal/recovery"
	"supervise/internal/review"
	"supervise/internal/yamlfile"
	"supervise/metric"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
)

// FileName is the configuration in the root of a project.
const FileName = ".supervise.yaml"

// ErrInvalid is wrapped by every error that a change of flags or file mends.
var ErrInvalid = yamlfile.ErrInvalid

// settingsFile is a text with settings.
func settingsFile(path string, text []byte) yamlfile.File {
	return yamlfile.File{Path: path, Text: text, Reference: "docs/configuration.md"}
}

// locate adds the file and the line to an error about a setting, which may be there by its
// name in another tool.
func locate(err error, path string, text []byte) error {
	var others []string
	if field, ok := errors.AsType[*yamlfile.FieldError](err); ok {
		if other := otherNames[strings.Join(field.Keys, ".")]; other != "" {
			others = strings.Split(persistenceKey+other, ".")
		}
	}
	return settingsFile(path, text).Locate(err, others...)
}

// Default returns the settings of a user who sets nothing.
func Default() Settings {
	rules := detector.DefaultOptions()
	return Settings{
		ErrorCount: metric.ErrorFields(),
		Mode:       string(detector.ModeStandard), RollbackTo: string(detector.ToStart),
		Stall: Stall{rules.StallWindow, rules.StallRange}, Cycle: Cycle{rules.CycleWindow, rules.CycleMin}, Stuck: Stuck{rules.StuckCount},
		Session: sessionFresh, Until: "auto", OnStall: "auto", Reinforcement: "adaptive", EvidenceTokens: prompt.DefaultEvidenceTokens, Pty: string(agentrun.PtyAuto), Protect: Protect{State: protect.StateProtected},
		Approval:  string(approval.PolicyReject),
		Alarm:     Alarm{Action: string(agentrun.AlarmWarn)},
		Confirm:   Confirm{measure.DefaultMaxTests, measure.DefaultReruns},
		GoalTests: GoalTests{Run: always}, HiddenTests: HiddenTests{When: onIteration},
		Reviewer:      Reviewer{Timeout: review.DefaultTimeout},
		MutationCheck: MutationCheck{MaxMutants: mutationcheck.DefaultMutants},
		Hooks:         Hooks{Use: hooksOn, OnError: hooksOpen, Stop: hooksOff},
		Tests:         string(detector.TestsFree),
		Limits:        Limits{MaxIterations: 10, MaxWait: agentrun.DefaultMaxWait, FirstWait: agentrun.DefaultFirstWait, MaxRetries: 3, CheckTimeout: measure.DefaultTimeout, TranscriptMB: runner.DefaultTranscriptLimit >> 20},
		Weights:       Weights(selector.DefaultWeights()),
		Selection:     Selection{Mode: string(selector.HighestQualityVerified), Threshold: 70},
		Snapshot:      Snapshot{MaxFileMB: 50, MaxIgnoredMB: snapshot.DefaultMaxIgnored >> 20, MaxStoreMB: 4096, Precious: snapshot.DefaultPrecious()},
	}
}

// Load reads the file at path over the defaults. A file that is not there is no
// error unless it was named.
func Load(path string, named bool) (Settings, error) {
	return LoadFrom(path, named, filepath.Dir(path))
}

// LoadFrom reads a file as if it were in the folder home: what it names outside of the
// project is relative to that. The configuration of a base is read from a checkout
// elsewhere.
func LoadFrom(path string, named bool, home string) (Settings, error) {
	s := Default()
	read := projectfile.Read
	if named {
		read = projectfile.ReadNamed
	} else if err := s.neighbour(filepath.Dir(path)); err != nil {
		return s, err
	}
	text, err := read(path, projectfile.Settings)
	if errors.Is(err, os.ErrNotExist) && !named {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if strings.TrimSpace(withoutComments(string(text))) == "" {
		return s, nil
	}
	s.under(text)
	if err := settingsFile(path, text).Decode(&s); err != nil {
		return s, err
	}
	if err := s.Validate(); err != nil {
		return s, locate(err, path, text)
	}
	if err := s.Integrity.load(filepath.Dir(path)); err != nil {
		return s, locate(err, path, text)
	}
	if dir := s.HiddenTests.Dir; dir != "" && !filepath.IsAbs(dir) {
		s.HiddenTests.Dir = filepath.Join(home, filepath.FromSlash(dir))
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
		return yamlfile.InvalidValue(fmt.Sprintf("reinforcement: %v, or adaptive", err), "reinforcement")
	}
	if err := s.weights().Validate(); err != nil {
		return yamlfile.InvalidValue(fmt.Sprintf("quality_weights: %v", err), "quality_weights")
	}
	if _, err := s.rules(); err != nil {
		return err
	}
	if err := cmp.Or(s.Integrity.validate(), s.Protect.validate(), s.Persistence.validate(), s.Checks.validate()); err != nil {
		return err
	}
	for _, c := range slices.Concat(s.conditions(), s.agentConditions(), s.approvalConditions(), s.Hooks.conditions(), s.Reviewer.conditions()) {
		if c.bad {
			return yamlfile.InvalidValue(c.text, strings.Split(c.key, ".")...)
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
		{s.EvidenceTokens < 0, "evidence_tokens", "evidence_tokens must not be negative; 0 tells nothing"},
		{s.Confirm.Reruns < 0, "confirm.reruns", "confirm.reruns must not be negative"},
		{s.GoalTests.Run != always && s.GoalTests.Run != never, "goal_tests.run", "goal_tests.run must be always or never, not " + s.GoalTests.Run},
		{s.GoalTests.Timeout < 0, "goal_tests.timeout", "goal_tests.timeout must not be negative"},
		{s.HiddenTests.Timeout < 0, "hidden_tests.timeout", "hidden_tests.timeout must not be negative"},
		{s.HiddenTests.When != onIteration && s.HiddenTests.When != atEnd, "hidden_tests.when", "hidden_tests.when must be iteration or end, not " + s.HiddenTests.When},
		{len(s.HiddenTests.Reports) > 0 && len(s.HiddenTests.Command) == 0, "hidden_tests.reports", "hidden_tests.reports are those of hidden_tests.command: give the command as well"},
		{s.MutationCheck.MaxMutants < 1, "mutation_check.max_mutants", "mutation_check.max_mutants must be at least 1; off: true turns it off"},
		{s.MutationCheck.Budget < 0, "mutation_check.budget", "mutation_check.budget must not be negative"},
		{s.Limits.MaxRetries < 0, "limits.max_retries", "max_retries must not be negative"},
		{s.Limits.MaxTime < 0, "limits.max_time", "limits.max_time must not be negative"},
		{s.Limits.IdleTimeout == unread, "limits.idle_timeout", "limits.idle_timeout is no duration like 30m, nor 0 for no limit, nor auto"},
		{s.Limits.FirstOutput == unread, "limits.first_output_timeout", "limits.first_output_timeout is no duration like 10m, nor 0 for no limit, nor auto"},
		{s.Limits.IterationTimeout < 0, "limits.iteration_timeout", "limits.iteration_timeout must not be negative"},
		{s.Limits.CheckTimeout < 0, "limits.check_timeout", "limits.check_timeout must not be negative"},
		{s.Limits.MaxLoops < 0, "limits.max_loops", "limits.max_loops must not be negative; 0 allows any number"},
		{s.Limits.TranscriptMB < 1, "limits.transcript_mb", "limits.transcript_mb must be at least 1"},
		{!agentrun.PtyMode(s.Pty).Valid(), "pty", "pty must be auto, always or never, not " + s.Pty},
		{s.Snapshot.MaxFileMB < 1, "snapshot.max_file_mb", "snapshot.max_file_mb must be at least 1"},
		{s.Snapshot.MaxIgnoredMB < 0, "snapshot.max_ignored_mb", "snapshot.max_ignored_mb must not be negative"},
		{s.Snapshot.MaxStoreMB < 0, "snapshot.max_store_mb", "snapshot.max_store_mb must not be negative"},
		{s.Snapshot.MinFreeMB < 0, "snapshot.min_free_mb", "snapshot.min_free_mb must not be negative"},
		{!s.countsErrors(), "error_count", fmt.Sprintf("error_count must name one or more of %v, each once", metric.ErrorFields())},
		{s.unknownUntil(), "until", "until must be auto, green, idle, never, quality, or a command; there is no command " + s.Until},
		{!slices.Contains([]string{"auto", "stop", "ask", "continue"}, s.OnStall), "on_stall", "on_stall must be auto, stop, ask or continue, not " + s.OnStall},
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
	return selector.Weights(s.Weights)
}

// LoopOptions turns the settings into the options of a loop in root. What only the
// caller knows (agent, terminal, printers) is left to be filled in.
func (s Settings) LoopOptions(root string) (loop.Options, error) {
	if err := s.Validate(); err != nil {
		return loop.Options{}, err
	}
	rules, err := s.rules()
	if err != nil {
		return loop.Options{}, err
	}
	o := loop.Options{Settings: loop.Settings{
		Setup: s.setup(root), Until: s.until(), MaxIterations: s.Limits.MaxIterations,
		StopOnDiminishing: s.Diminishing,
		Settings: judge.Settings{
			Recovery: recovery.Options{MaxRetries: s.Limits.MaxRetries, StopOnStall: s.OnStall == "stop" || s.OnStall == "auto", AskOnStall: s.OnStall == "ask", StopOnCycle: s.OnStall == "stop"},
			Rules:    rules, Integrity: s.Integrity.Options(), Weights: s.weights(), AllowUntested: s.AllowUntested,
			Select: selector.Options{Mode: selector.Mode(s.Selection.Mode), Threshold: s.Selection.Threshold / 100},
			Plan:   measure.Plan{ErrorFields: s.errorFields()},
		},
		Snapshot: snapshot.Options{MaxFile: s.Snapshot.MaxFileMB << 20, MaxIgnored: cmp.Or(s.Snapshot.MaxIgnoredMB<<20, -1), Precious: s.Snapshot.Precious, MinFree: s.Snapshot.MinFreeMB << 20},
		MaxStore: s.Snapshot.MaxStoreMB << 20,
	}}
	o.Approval, o.Notify = s.asking()
	o.EvidenceTokens = s.EvidenceTokens
	if level, err := prompt.ParseLevel(s.Reinforcement); err == nil {
		o.Level = &level
	}
	if err := s.Persistence.fill(&o.Settings); err != nil {
		return loop.Options{}, err
	}
	o.GoalTests = originaltests.Options{Never: s.GoalTests.Run == never, Timeout: s.GoalTests.Timeout}
	o.MutationCheck = mutationcheck.Options{Off: s.MutationCheck.Off, MaxMutants: s.MutationCheck.MaxMutants, Budget: s.MutationCheck.Budget}
	if o.Protect, err = s.Protect.options(); err != nil {
		return loop.Options{}, err
	}
	o.Reviewer = s.Reviewer.options(o.Protect)
	if o.Hidden, err = s.HiddenTests.options(root, s.Limits.CheckTimeout); err != nil {
		return loop.Options{}, err
	}
	if s.Confirm != Default().Confirm {
		o.Confirm = &measure.Reruns{MaxTests: s.Confirm.MaxTests, Reruns: s.Confirm.Reruns}
	}
	return o, nil
}

// setup says how the agent is run.
func (s Settings) setup(root string) agentrun.Setup {
	l := s.Limits
	return agentrun.Setup{
		Root: root, Program: s.program(), Fallback: s.fallback(), Hooks: s.hooks(), Alarms: agentrun.AlarmAction(s.Alarm.Action),
		MaxCost: l.MaxCost, MaxTokens: l.MaxTokens, MaxWindow: float64(l.MaxWindow), MaxTime: l.MaxTime, MaxWait: l.maxWait(), FirstWait: l.FirstWait,
		IterationTimeout: l.IterationTimeout, IdleTimeout: l.IdleTimeout.given(), FirstOutputTimeout: l.FirstOutput.given(),
		Pty: agentrun.PtyMode(s.Pty), Transcript: l.TranscriptMB << 20,
	}
}

// unknownUntil reports whether the criterion is a single word that is neither a
// known one nor a program: most likely a typing error, and one that would let a
// loop run to its limit.
func (s Settings) unknownUntil() bool {
	if s.until().Kind != criterion.Command || strings.ContainsAny(s.Until, " \t/$;|&()<>'\"") {
		return false
	}
	_, err := exec.LookPath(s.Until)
	return err != nil
}

// Plan joins the checks of the settings with those that are recognised in root.
// A kind of check that is given replaces all recognised ones of that kind. The
// notes say what is missing.
func (s Settings) Plan(root string, look func(string) (string, error)) (measure.Plan, []string, error) {
	if err := git.CheckFiles(root, "status"); err != nil {
		return measure.Plan{}, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	found, err := project.Detect(root, look)
	if found.Blocked != nil {
		return measure.Plan{}, nil, fmt.Errorf("%w: %w", ErrInvalid, found.Blocked)
	}
	if err != nil && (!errors.Is(err, project.ErrUnknown) || len(s.Checks.Test) == 0) {
		return measure.Plan{}, found.Notes, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	plan := measure.Plan{Root: root, Language: found.Language, Parallel: int(s.Parallel), ErrorFields: s.errorFields(), Recognised: len(s.Checks.Test) == 0}
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
				plan.Checks = append(plan.Checks, detectedplan.PlanCheck(c, s.Limits.CheckTimeout))
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
	return measure.Check{
		Kind: kind, Name: cmp.Or(c.Name, name), Dir: c.Dir, Command: c.Command, Env: c.Env, Files: c.Files, Reports: c.Reports, Stderr: c.Stderr,
		Coverage: c.Coverage, Runner: c.Runner, Inventory: c.Inventory, Timeout: cmp.Or(c.Timeout, s.Limits.CheckTimeout),
	}
}

// IsProject reports whether dir holds a project: a configuration, or files by
// which one is recognised.
func IsProject(dir string) bool {
	_, err := os.Stat(Path(dir))
	return err == nil || project.IsProject(dir)
}

// Path returns the configuration file of a project.
func Path(root string) string { return filepath.Join(root, FileName) }
