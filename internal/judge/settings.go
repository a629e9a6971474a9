package judge

import (
	"maps"
	"time"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/guard"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/mutationcheck"
	"supervise/internal/originaltests"
	"supervise/internal/recovery"
	"supervise/internal/review"
	"supervise/metric"
	"supervise/selector"
)

// Settings are what verdicts depend on, and what follows from them. They are stored with
// a loop: one that is resumed or judged again goes by them.
type Settings struct {
	Plan measure.Plan `json:"plan"`

	// IdleAfter is how long the agent of a watched session has to be silent to count as
	// resting; 0: supervise runs the agent, once per iteration. Nothing follows from the
	// verdicts on a watched session.
	IdleAfter time.Duration `json:"idle_ns,omitempty"`

	AllowUntested bool `json:"allow_untested,omitempty"` // judge although no test could be measured

	GoalTests     originaltests.Options       `json:"goal_tests,omitzero"`     // whether the original tests are run on the new code
	Product       []string                    `json:"product,omitempty"`       // patterns of files that are product code, see [cleanroom.Trial]
	MutationCheck mutationcheck.Options       `json:"mutation_check,omitzero"` // how changed tests are run on mutants
	ChangeMutants guard.Options               `json:"change_mutants,omitzero"` // how tests are run on mutants of the change
	Hidden        originaltests.HiddenOptions `json:"hidden,omitzero"`         // tests that the agent does not see

	// MinChangeCoverage is the share of the changed lines that tests have to execute, in percent; 0: none.
	MinChangeCoverage float64 `json:"min_change_coverage,omitempty"`

	Reviewer review.Options `json:"reviewer,omitzero"` // who is asked for a second opinion

	Confirm *measure.Reruns `json:"confirm,omitempty"` // how failures are confirmed; nil: the default of measure

	Recovery recovery.Options `json:"recovery"`
	Rules    detector.Options `json:"rules"`
	// Integrity selects the rules that read the texts of the change.
	Integrity integrity.Options `json:"integrity,omitzero"`
	Weights   selector.Weights  `json:"quality_weights"`
	Select    selector.Options  `json:"selection"`
}

// IsWatching reports whether the session is the user's own.
func (s Settings) IsWatching() bool { return s.IdleAfter > 0 }

// UnusedSettings explains which settings have no effect, or cannot be met, with the measurements of the
// baseline.
func (s Settings) UnusedSettings(set metric.Set) []string {
	out := s.Rules.UnmatchedPaths(set)
	why := evidence.CoverageChange{Before: set.Coverage, Now: set.Coverage}.UnknownLines()
	if s.MinChangeCoverage > 0 && why != "" {
		out = append(out, "min_change_coverage: it cannot be reached: "+why)
	}
	return out
}

// TrackingConfig describes the selection in the tracker file.
func (s Settings) TrackingConfig() ledger.TrackingConfig {
	return ledger.TrackingConfig{
		KeepAll: true, Weights: s.Weights,
		Selection: ledger.SelectionConfig{
			Mode: s.Select.Mode, Threshold: 100 * s.Select.Threshold,
			Verify: s.Select.Mode == selector.HighestQualityVerified,
		},
	}
}

// WithoutTests are the settings for a project without tests: the rule that misses them
// is off.
func (s Settings) WithoutTests() Settings {
	rules := map[string]detector.RuleOptions{}
	maps.Copy(rules, s.Rules.Rules)
	rules["suite_did_not_run"] = detector.RuleOptions{Off: true}
	s.Rules.Rules = rules
	return s
}
