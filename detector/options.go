package detector

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// RuleOptions overrides one rule. Zero fields keep the value of the rule.
type RuleOptions struct {
	Severity  Severity `json:"severity,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"` // at least 0, in the unit of the rule
	Action    Action   `json:"action,omitempty"`
	Off       bool     `json:"off,omitempty"`

	// Previous and Baseline replace the above in the comparison with the previous
	// iteration or with the baseline.
	Previous *RuleOptions `json:"previous,omitempty"`
	Baseline *RuleOptions `json:"baseline,omitempty"`
	// Paths are separate limits for parts of the tree, by pattern as in
	// [Acknowledgement.Path].
	Paths map[string]float64 `json:"paths,omitempty"`
}

// Mode says which rules apply.
type Mode string

// The modes. An empty one is ModeStandard. ModeAggressive adds the milder rules about
// integrity; its rules about metrics are those of ModeStandard.
const (
	ModeOff        Mode = "off"     // no rule
	ModeMinimal    Mode = "minimal" // findings that are CRITICAL
	ModeStandard   Mode = "standard"
	ModeAggressive Mode = "aggressive"
)

// Valid reports whether m is one of the modes, or empty.
func (m Mode) Valid() bool {
	return m == "" || m == ModeOff || m == ModeMinimal || m == ModeStandard || m == ModeAggressive
}

// applies reports whether an alert is raised in the mode.
func (m Mode) applies(a Alert) bool { return m != ModeMinimal || a.Severity == Critical }

// Options configure the rules and limits of a verdict. The zero value of a field means its
// default.
type Options struct {
	Rules  map[string]RuleOptions // by the name of the rule
	Mode   Mode                   `json:",omitempty"`
	Strict bool                   // no lost test is explained, counts are compared raw

	StallWindow int     // number of consecutive plateaus that make a stall; default 3
	StallRange  float64 // largest range of their scores; default .02
	CycleWindow int     // longest period of a cycle, in iterations; default 5
	CycleMin    int     // number of iterations after which a cycle is an infinite loop; default 10
	StuckCount  int     // number of equal consecutive errors that make a stuck loop; default 3

	PassRateDrop float64 // fall of the pass rate, in points, above which it is a regression; default 5
	PlateauRange float64 // largest change that does not count, in percent or points of a rate; default 2
	ScoreRange   float64 // largest change of the score that does not count; default .02
	BestMargin   float64 // a regression this far below the best score is rolled back; default .1

	RollbackTo RollbackTarget // default ToStart

	Acknowledged []Acknowledgement `json:",omitempty"` // findings that a person accepted

	Tests Intent `json:",omitempty"` // which changes to tests the user allows
	// MayChange are patterns, like those of AllowRemove, of tests and files whose expectations
	// may change whatever Tests says.
	MayChange []string `json:",omitempty"`
	// AllowRemove are patterns of tests and files whose removal is no finding: names
	// as those of [Acknowledgement.Tests], paths as [Acknowledgement.Path].
	AllowRemove []string `json:",omitempty"`
}

// DefaultOptions returns the options of a user who sets nothing.
func DefaultOptions() Options { return Options{}.WithDefaults() }

// WithDefaults returns o with the defaults where a field is zero.
func (o Options) WithDefaults() Options {
	o.StallWindow = cmp.Or(o.StallWindow, 3)
	o.StallRange = cmp.Or(o.StallRange, .02)
	o.CycleWindow = cmp.Or(o.CycleWindow, 5)
	o.CycleMin = cmp.Or(o.CycleMin, 10)
	o.StuckCount = cmp.Or(o.StuckCount, 3)
	o.PassRateDrop = cmp.Or(o.PassRateDrop, 5)
	o.PlateauRange = cmp.Or(o.PlateauRange, 2)
	o.ScoreRange = cmp.Or(o.ScoreRange, .02)
	o.BestMargin = cmp.Or(o.BestMargin, .1)
	o.RollbackTo = cmp.Or(o.RollbackTo, ToStart)
	return o
}

// A FieldError is an invalid option.
type FieldError struct {
	Field []string // its path in the configuration: "rules", "coverage_regression", "threshold"
	Text  string   // what is wrong, and what would be right
}

// Error names the field and the problem.
func (e *FieldError) Error() string { return strings.Join(e.Field, ".") + ": " + e.Text }

// newFieldError returns the error of the field with that path.
func newFieldError(text string, field ...string) *FieldError { return &FieldError{field, text} }

// Validate returns the first invalid override, as a [FieldError], or acknowledgement: an
// unknown rule, a negative threshold, a threshold of a rule that has none, or an action
// without an effect.
func (o Options) Validate() error {
	if !o.Mode.Valid() {
		return newFieldError(fmt.Sprintf("there is no mode %s; the modes are off, minimal, standard and aggressive", o.Mode), "mode")
	}
	if err := o.validateIntent(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Rules)) {
		r, known := FindRule(name)
		if !known {
			return newFieldError(fmt.Sprintf("there is no rule %s; the rules are %s", name, strings.Join(RuleNames(), ", ")), "rules", name)
		}
		if err := r.validate(o.Rules[name]); err != nil {
			err.Field = slices.Concat([]string{"rules", name}, err.Field)
			return err
		}
	}
	for _, a := range o.Acknowledged {
		if err := a.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// validate returns the first invalid override of the rule.
func (r Rule) validate(override RuleOptions) *FieldError {
	for _, pattern := range slices.Sorted(maps.Keys(override.Paths)) {
		limit := override.Paths[pattern]
		switch {
		case !r.Paths:
			return newFieldError("the rule has no limits for parts of the tree; coverage_regression has", "paths")
		case strings.Trim(pattern, "/.") == "":
			return newFieldError("the pattern is empty; for the entire tree, set threshold", "paths", pattern)
		case !isLimit(limit):
			return newFieldError(fmt.Sprintf("the limit is %v; give a number of at least 0", limit), "paths", pattern)
		}
	}

	for _, against := range []string{AgainstPrevious, AgainstBaseline} {
		part := override.partFor(against)
		switch {
		case part == nil:
			continue
		case against == AgainstBaseline && !r.Baseline:
			return newFieldError("the rule is not compared with the baseline", against)
		case part.Previous != nil || part.Baseline != nil || len(part.Paths) > 0:
			return newFieldError("severity, threshold, action and off can be given here, and nothing else", against)
		}
		if err := r.validateRow(override.overriddenBy(*part)); err != nil {
			err.Field = slices.Concat([]string{against}, err.Field)
			return err
		}
	}

	return r.validateRow(override)
}

// validateRow returns the first invalid field of an override for one comparison.
func (r Rule) validateRow(override RuleOptions) *FieldError {
	switch t := override.Threshold; {
	case t != nil && r.Unit == "":
		return newFieldError("the rule has no threshold"+r.thresholdHint(), "threshold")
	case t != nil && !isLimit(*t):
		return newFieldError(fmt.Sprintf("it is %v; give a number of at least 0", *t), "threshold")
	case override.Action != "" && !slices.Contains(Actions(), override.Action):
		return newFieldError(fmt.Sprintf("there is no action %s; the actions are %v", override.Action, Actions()), "action")
	case override.Action == AlertAndRollback && cmp.Or(override.Severity, r.Severity) != Critical:
		return newFieldError(string(AlertAndRollback)+" applies only to findings that are CRITICAL; set severity: critical as well", "action")
	}
	return nil
}

// thresholdHint names the settings of a rule without a threshold.
func (r Rule) thresholdHint() string {
	if r.scope == loopScope {
		return "; its numbers are cycle.window, cycle.after and stuck.errors"
	}
	return ""
}

// isLimit reports whether v can be a limit.
func isLimit(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// partFor returns the override for one comparison, or nil.
func (o RuleOptions) partFor(against string) *RuleOptions {
	if against == AgainstBaseline {
		return o.Baseline
	}
	return o.Previous
}

// overriddenBy returns the options in which the fields that part sets are replaced.
func (o RuleOptions) overriddenBy(part RuleOptions) RuleOptions {
	return RuleOptions{
		Severity: cmp.Or(part.Severity, o.Severity), Action: cmp.Or(part.Action, o.Action),
		Threshold: cmp.Or(part.Threshold, o.Threshold), Off: o.Off || part.Off, Paths: o.Paths,
	}
}

// appliedRule is a rule with its override for one comparison.
type appliedRule struct {
	Rule
	own RuleOptions // the override, with zero fields for what it does not change
}

// apply returns the rule with its override for the comparison with previous or baseline.
func (o Options) apply(r Rule, against string) appliedRule {
	override := o.Rules[r.Name]
	if part := override.partFor(against); part != nil {
		override = override.overriddenBy(*part)
	}
	return appliedRule{r, override}
}

// Limit returns the threshold of a rule against the previous iteration or the
// baseline, and whether the rule applies there at all.
func (o Options) Limit(r Rule, against string) (threshold float64, on bool) {
	applied := o.apply(r, against)
	return applied.threshold(), o.Mode != ModeOff && !applied.isOff()
}

// threshold returns the limit of the override, else that of the rule.
func (r appliedRule) threshold() float64 {
	if r.own.Threshold != nil {
		return *r.own.Threshold
	}
	return r.Threshold
}

// isOff reports whether the override switches the rule off.
func (r appliedRule) isOff() bool { return r.own.Off || r.own.Action == Off }

// severity returns the severity of a finding. variant is the severity that the finding sets, zero
// if it sets none. An override replaces the severity of the rule, but does not make a milder
// variant more severe.
func (r appliedRule) severity(variant Severity) Severity {
	switch override := r.own.Severity; {
	case override == 0:
		return cmp.Or(variant, r.Severity)
	case variant != 0 && variant < r.Severity:
		return min(variant, override)
	default:
		return override
	}
}

// action returns the action of a finding; variant is the action that the finding sets, or "".
func (r appliedRule) action(variant Action) Action { return cmp.Or(r.own.Action, variant, r.Action) }
