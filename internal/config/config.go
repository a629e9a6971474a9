// Package config reads the settings of a user: defaults, the file .supervise.yaml, and flags.
//
// [Load] reads the file. [Settings.LoopOptions] turns the settings into the options of the
// other packages, and [Settings.Plan] combines them with the detected checks of a project.
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
	"supervise/internal/guard"
	"supervise/internal/judge"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/mutationcheck"
	"supervise/internal/notify"
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

// ErrInvalid is wrapped by every error that the user can fix by changing flags or the file.
var ErrInvalid = yamlfile.ErrInvalid

// settingsFile returns the file of settings, for reading and for errors.
func settingsFile(path string, text []byte) yamlfile.File {
	return yamlfile.File{Path: path, Text: text, Reference: "docs/configuration.md"}
}

// locateError adds the file and the line to an error about a setting. The file may contain the
// setting under its name in another tool.
func locateError(err error, path string, text []byte) error {
	var otherKeys []string
	if field, ok := errors.AsType[*yamlfile.FieldError](err); ok {
		if name := otherNames[strings.Join(field.Keys, ".")]; name != "" {
			otherKeys = strings.Split(persistenceKey+name, ".")
		}
	}
	return settingsFile(path, text).Locate(err, otherKeys...)
}

// Default returns the default settings.
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
		MutationCheck: MutationCheck{MaxMutants: mutationcheck.DefaultMutants}, ChangeMutants: ChangeMutants{MaxMutants: guard.DefaultMutants},
		Hooks:     Hooks{Use: hooksOn, OnError: hooksOpen, Stop: hooksOff},
		Tests:     Intents{string(detector.TestsFree)},
		Limits:    Limits{MaxIterations: 10, MaxWait: agentrun.DefaultMaxWait, FirstWait: agentrun.DefaultFirstWait, MaxRetries: 3, CheckTimeout: measure.DefaultTimeout, TranscriptMB: runner.DefaultTranscriptLimit >> 20},
		Weights:   Weights(selector.DefaultWeights()),
		Selection: Selection{Mode: string(selector.HighestQualityVerified), Threshold: 70},
		Snapshot:  Snapshot{MaxFileMB: 50, MaxIgnoredMB: snapshot.DefaultMaxIgnored >> 20, MaxStoreMB: 4096, Precious: snapshot.DefaultPrecious()},
	}
}

// Load reads the file at path over the defaults. A missing file is an error only if the user
// named it.
func Load(path string, named bool) (Settings, error) {
	return LoadFrom(path, named, filepath.Dir(path))
}

// LoadFrom reads a file as if it were in the folder home: relative paths outside the project are
// relative to home. It is for the configuration of a base, which is in a temporary checkout.
func LoadFrom(path string, named bool, home string) (Settings, error) {
	s := Default()
	read := projectfile.Read
	if named {
		read = projectfile.ReadNamed
	} else if err := s.loadOtherTool(filepath.Dir(path)); err != nil {
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

	s.applyPersistence(text)
	if err := settingsFile(path, text).Decode(&s); err != nil {
		return s, err
	}
	if err := s.Validate(); err != nil {
		return s, locateError(err, path, text)
	}
	if err := s.Integrity.load(filepath.Dir(path)); err != nil {
		return s, locateError(err, path, text)
	}
	if dir := s.HiddenTests.Dir; dir != "" && !filepath.IsAbs(dir) {
		s.HiddenTests.Dir = filepath.Join(home, filepath.FromSlash(dir))
	}
	return s, nil
}

// withoutComments removes the lines that are comments.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Validate checks the values of all settings.
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
		if c.violated {
			return yamlfile.InvalidValue(c.text, strings.Split(c.key, ".")...)
		}
	}
	return nil
}

// condition is a condition for a setting, with the error if it is violated.
type condition struct {
	violated  bool
	key, text string
}

// conditions returns the conditions for most settings.
func (s Settings) conditions() []condition {
	return []condition{
		{s.Limits.MaxIterations < 1, "limits.max_iterations", "max_iterations must be at least 1"},
		{s.Confirm.MaxTests < 1, "confirm.max_tests", "confirm.max_tests must be at least 1; reruns: 0 turns running tests again off"},
		{s.EvidenceTokens < 0, "evidence_tokens", "evidence_tokens must not be negative; 0 means no evidence"},
		{s.Confirm.Reruns < 0, "confirm.reruns", "confirm.reruns must not be negative"},
		{s.GoalTests.Run != always && s.GoalTests.Run != never, "goal_tests.run", "goal_tests.run must be always or never, not " + s.GoalTests.Run},
		{s.GoalTests.Timeout < 0, "goal_tests.timeout", "goal_tests.timeout must not be negative"},
		{s.HiddenTests.Timeout < 0, "hidden_tests.timeout", "hidden_tests.timeout must not be negative"},
		{s.HiddenTests.Seal < 0 || s.HiddenTests.Seal >= 1, "hidden_tests.seal", "hidden_tests.seal must be a share of the failing tests, at least 0 and less than 1"},
		{s.HiddenTests.Seal > 0 && (s.HiddenTests.Dir != "" || len(s.HiddenTests.Command) > 0), "hidden_tests.seal", "hidden_tests.seal takes tests of the tree: give it without a folder of hidden tests and without a command"},
		{s.HiddenTests.When != onIteration && s.HiddenTests.When != atEnd, "hidden_tests.when", "hidden_tests.when must be iteration or end, not " + s.HiddenTests.When},
		{len(s.HiddenTests.Reports) > 0 && len(s.HiddenTests.Command) == 0, "hidden_tests.reports", "hidden_tests.reports are those of hidden_tests.command: give the command as well"},
		{s.MutationCheck.MaxMutants < 1, "mutation_check.max_mutants", "mutation_check.max_mutants must be at least 1; off: true turns it off"},
		{s.MutationCheck.Budget < 0, "mutation_check.budget", "mutation_check.budget must not be negative"},
		{s.ChangeMutants.MaxMutants < 1, "change_mutants.max_mutants", "change_mutants.max_mutants must be at least 1; off: true turns it off"},
		{s.Limits.MaxRetries < 0, "limits.max_retries", "max_retries must not be negative"},
		{s.Limits.MaxTime < 0, "limits.max_time", "limits.max_time must not be negative"},
		{s.Limits.IdleTimeout == invalidTimeout, "limits.idle_timeout", "limits.idle_timeout is not a duration like 30m, 0 for no limit, or auto"},
		{s.Limits.FirstOutput == invalidTimeout, "limits.first_output_timeout", "limits.first_output_timeout is not a duration like 10m, 0 for no limit, or auto"},
		{s.Limits.IterationTimeout < 0, "limits.iteration_timeout", "limits.iteration_timeout must not be negative"},
		{s.Limits.CheckTimeout < 0, "limits.check_timeout", "limits.check_timeout must not be negative"},
		{s.Limits.MaxLoops < 0, "limits.max_loops", "limits.max_loops must not be negative; 0 allows any number"},
		{s.Limits.TranscriptMB < 1, "limits.transcript_mb", "limits.transcript_mb must be at least 1"},
		{!agentrun.PtyMode(s.Pty).Valid(), "pty", "pty must be auto, always or never, not " + s.Pty},
		{s.Snapshot.MaxFileMB < 1, "snapshot.max_file_mb", "snapshot.max_file_mb must be at least 1"},
		{s.Snapshot.MaxIgnoredMB < 0, "snapshot.max_ignored_mb", "snapshot.max_ignored_mb must not be negative"},
		{s.Snapshot.MaxStoreMB < 0, "snapshot.max_store_mb", "snapshot.max_store_mb must not be negative"},
		{s.Snapshot.MinFreeMB < 0, "snapshot.min_free_mb", "snapshot.min_free_mb must not be negative"},
		{!s.hasValidErrorCount(), "error_count", fmt.Sprintf("error_count must name one or more of %v, each once", metric.ErrorFields())},
		{s.hasUnknownUntil(), "until", "until must be auto, green, guarded, idle, never, quality, or a command; there is no command " + s.Until},
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

// hasValidErrorCount reports whether error_count names known metrics, each once.
func (s Settings) hasValidErrorCount() bool {
	unknown := slices.ContainsFunc(s.ErrorCount, func(f metric.Field) bool { return !slices.Contains(metric.ErrorFields(), f) })
	distinct := slices.Compact(slices.Sorted(slices.Values(s.ErrorCount)))
	return !unknown && len(distinct) > 0 && len(distinct) == len(s.ErrorCount)
}

// errorFields returns the metrics of error_count for a plan, nil if all of them count.
func (s Settings) errorFields() []metric.Field {
	if len(s.ErrorCount) == len(metric.ErrorFields()) {
		return nil
	}
	return slices.Sorted(slices.Values(s.ErrorCount))
}

// weights returns the weights of the score.
func (s Settings) weights() selector.Weights { return selector.Weights(s.Weights) }

// LoopOptions turns the settings into the options of a loop in root. The caller adds the agent's
// command, the terminal and the printers.
func (s Settings) LoopOptions(root string) (loop.Options, error) {
	if err := s.Validate(); err != nil {
		return loop.Options{}, err
	}

	rules, err := s.rules()
	if err != nil {
		return loop.Options{}, err
	}

	o := loop.Options{Settings: loop.Settings{
		Setup: s.setup(root), Until: s.criterion(), MaxIterations: s.Limits.MaxIterations,
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

	o.Approval = loop.Approval{Policy: approval.Policy(s.Approval), Unattended: s.Unattended, Timeout: s.ApprovalTimeout}
	o.Notify = notify.Settings(s.Notify)
	o.EvidenceTokens = s.EvidenceTokens
	if level, err := prompt.ParseLevel(s.Reinforcement); err == nil {
		o.Level = &level
	}
	if err := s.Persistence.fillOptions(&o.Settings); err != nil {
		return loop.Options{}, err
	}

	o.GoalTests = originaltests.Options{Never: s.GoalTests.Run == never, Timeout: s.GoalTests.Timeout}
	o.Product, o.MinChangeCoverage = s.Product, float64(s.MinChangeCoverage)
	o.MutationCheck = mutationcheck.Options{Off: s.MutationCheck.Off, MaxMutants: s.MutationCheck.MaxMutants, Budget: s.MutationCheck.Budget}
	o.ChangeMutants = guard.Options(s.ChangeMutants)
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

// setup returns how the agent runs.
func (s Settings) setup(root string) agentrun.Setup {
	l := s.Limits
	setup := agentrun.Setup{ // a MaxWait of 0 would mean the default, and -1 means no waiting
		Root: root, Alarms: agentrun.AlarmAction(s.Alarm.Action), Pty: agentrun.PtyMode(s.Pty), Transcript: l.TranscriptMB << 20,
		Hooks:   agentrun.Hooks{Disabled: s.Hooks.Disabled(), FailClosed: s.Hooks.OnError == hooksClosed, Stop: s.Hooks.Stop == hooksMeasure},
		MaxCost: l.MaxCost, MaxTokens: l.MaxTokens, MaxWindow: float64(l.MaxWindow), MaxTime: l.MaxTime, MaxWait: cmp.Or(l.MaxWait, -1), FirstWait: l.FirstWait,
		IterationTimeout: l.IterationTimeout, IdleTimeout: l.IdleTimeout.limit(), FirstOutputTimeout: l.FirstOutput.limit(),
	}
	if programs := s.programs(); len(programs) > 0 {
		setup = setup.WithProgram(programs[0])
		setup.Fallback = programs[1:]
	}
	return setup
}

// hasUnknownUntil reports whether the criterion is a single word that is neither a keyword nor a
// program. That is probably a typing error, with which a loop would run to its limit.
func (s Settings) hasUnknownUntil() bool {
	if s.criterion().Kind != criterion.Command || strings.ContainsAny(s.Until, " \t/$;|&()<>'\"") {
		return false
	}
	_, err := exec.LookPath(s.Until)
	return err != nil
}

// Plan combines the checks of the settings with those that are detected in root. A configured
// check replaces all detected ones of its kind. The notes say what is missing.
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
	configured := map[measure.Kind]List{measure.Build: s.Checks.Build, measure.Test: s.Checks.Test, measure.Lint: s.Checks.Lint}
	for _, kind := range []measure.Kind{measure.Build, measure.Test, measure.Lint} {
		for i, c := range configured[kind] {
			plan.Checks = append(plan.Checks, s.configuredCheck(kind, i, c))
		}
		if len(configured[kind]) > 0 {
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

// configuredCheck returns check i of a kind for a plan, with a report if its framework can write one.
func (s Settings) configuredCheck(kind measure.Kind, i int, c Check) measure.Check {
	name := string(kind)
	if i > 0 {
		name = fmt.Sprintf("%s %d", kind, i+1)
	}
	return detectedplan.AddReport(measure.Check{
		Kind: kind, Name: cmp.Or(c.Name, name), Dir: c.Dir, Command: c.Command, Env: c.Env, Files: c.Files, Reports: c.Reports, Stderr: c.Stderr,
		Coverage: c.Coverage, Runner: c.Runner, Inventory: c.Inventory, Timeout: cmp.Or(c.Timeout, s.Limits.CheckTimeout),
	})
}

// IsProject reports whether dir contains a project: a configuration, or the files of a known
// build tool.
func IsProject(dir string) bool {
	_, err := os.Stat(Path(dir))
	return err == nil || project.IsProject(dir)
}

// Path returns the configuration file of a project.
func Path(root string) string { return filepath.Join(root, FileName) }
