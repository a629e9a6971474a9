package detector

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// RuleOptions overrides one rule. What is zero stays as the rule has it.
type RuleOptions struct {
	Severity  Severity `json:"severity,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"` // at least 0, in the unit of the rule
	Action    Action   `json:"action,omitempty"`
	Off       bool     `json:"off,omitempty"`

	// Previous and Baseline replace the above where the rule compares with the
	// previous iteration or with the baseline.
	Previous *RuleOptions `json:"previous,omitempty"`
	Baseline *RuleOptions `json:"baseline,omitempty"`
	// Paths are limits of their own for parts of the tree, by pattern; as those of
	// [Acknowledgement.Path].
	Paths map[string]float64 `json:"paths,omitempty"`
}

// Mode says which rules apply.
type Mode string

// The modes. An empty one is ModeStandard. What ModeAggressive adds are the
// milder rules about integrity; about metrics it has no other than ModeStandard.
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

// Options are the numbers of the verdict. The zero value of a field means its
// default.
type Options struct {
	Rules  map[string]RuleOptions // by the name of the rule
	Mode   Mode                   `json:",omitempty"`
	Strict bool                   // no lost test is explained, counts are compared raw

	StallWindow int     // plateaus in a row that make a stall, 3
	StallRange  float64 // their scores lie within this, .02
	CycleWindow int     // longest period of a cycle, in iterations, 5
	CycleMin    int     // a cycle is an infinite loop after this many iterations, 10
	StuckCount  int     // equal errors in a row that make a stuck loop, 3

	PassRateDrop float64 // points of pass rate below which it is a regression, 5
	PlateauRange float64 // per cent, or points of a rate, that are no change, 2
	ScoreRange   float64 // change in score that decides nothing, .02
	BestMargin   float64 // a regression this far below the best score is rolled back, .1

	RollbackTo RollbackTarget // ToStart

	Acknowledged []Acknowledgement `json:",omitempty"` // findings that a person accepted

	Tests Intent `json:",omitempty"` // what the user lets the agent do to the tests
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

// A FieldError is an option that makes no sense.
type FieldError struct {
	Field []string // as mode, or rules, coverage_regression, previous, threshold
	Text  string   // what is wrong, and what would be right
}

// Error names the field and the problem.
func (e *FieldError) Error() string { return strings.Join(e.Field, ".") + ": " + e.Text }

func wrong(text string, field ...string) *FieldError { return &FieldError{field, text} }

// Validate reports the first override or acknowledgement that makes no sense, as
// a [FieldError]: an unknown rule, a threshold below zero or of a rule that has
// none, an action without an effect.
func (o Options) Validate() error {
	if !o.Mode.Valid() {
		return wrong(fmt.Sprintf("there is no mode %s; the modes are off, minimal, standard and aggressive", o.Mode), "mode")
	}
	if err := o.checkIntent(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Rules)) {
		r, known := FindRule(name)
		if !known {
			return wrong(fmt.Sprintf("there is no rule %s; the rules are %s", name, strings.Join(RuleNames(), ", ")), "rules", name)
		}
		if err := r.check(o.Rules[name]); err != nil {
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

// check reports the first override of the rule that makes no sense.
func (r Rule) check(own RuleOptions) *FieldError {
	for _, pattern := range slices.Sorted(maps.Keys(own.Paths)) {
		limit := own.Paths[pattern]
		switch {
		case !r.Paths:
			return wrong("the rule has no limits for parts of the tree; coverage_regression has", "paths")
		case strings.Trim(pattern, "/.") == "":
			return wrong("the pattern is empty; for the entire tree, set threshold", "paths", pattern)
		case !isLimit(limit):
			return wrong(fmt.Sprintf("the limit is %v; give a number of at least 0", limit), "paths", pattern)
		}
	}
	for _, against := range []string{AgainstPrevious, AgainstBaseline} {
		part := own.of(against)
		switch {
		case part == nil:
			continue
		case against == AgainstBaseline && !r.Baseline:
			return wrong("the rule is not compared with the baseline", against)
		case part.Previous != nil || part.Baseline != nil || len(part.Paths) > 0:
			return wrong("severity, threshold, action and off can stand here, and nothing else", against)
		}
		if err := r.checkRow(own.over(*part)); err != nil {
			err.Field = slices.Concat([]string{against}, err.Field)
			return err
		}
	}
	return r.checkRow(own)
}

func (r Rule) checkRow(own RuleOptions) *FieldError {
	switch t := own.Threshold; {
	case t != nil && r.Unit == "":
		return wrong("the rule has no threshold"+r.hint(), "threshold")
	case t != nil && !isLimit(*t):
		return wrong(fmt.Sprintf("it is %v; give a number of at least 0", *t), "threshold")
	case own.Action != "" && !slices.Contains(Actions(), own.Action):
		return wrong(fmt.Sprintf("there is no action %s; the actions are %v", own.Action, Actions()), "action")
	case own.Action == AlertAndRollback && cmp.Or(own.Severity, r.Severity) != Critical:
		return wrong(string(AlertAndRollback)+" undoes findings that are CRITICAL, and no others; set severity: critical as well", "action")
	}
	return nil
}

// hint says where the numbers of a rule without a threshold are set.
func (r Rule) hint() string {
	if r.scope == ofLoop {
		return "; its numbers are cycle.window, cycle.after and stuck.errors"
	}
	return ""
}

// isLimit reports whether v can be a limit.
func isLimit(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// of returns the part of the override for one comparison.
func (own RuleOptions) of(against string) *RuleOptions {
	if against == AgainstBaseline {
		return own.Baseline
	}
	return own.Previous
}

// over returns own with what part says in its place.
func (own RuleOptions) over(part RuleOptions) RuleOptions {
	return RuleOptions{
		Severity: cmp.Or(part.Severity, own.Severity), Action: cmp.Or(part.Action, own.Action),
		Threshold: cmp.Or(part.Threshold, own.Threshold), Off: own.Off || part.Off, Paths: own.Paths,
	}
}

// row is a rule as it is applied to one comparison.
type row struct {
	Rule
	own RuleOptions
}

// row returns what holds for a rule in the comparison with previous or baseline.
func (o Options) row(r Rule, against string) row {
	own := o.Rules[r.Name]
	if part := own.of(against); part != nil {
		own = own.over(*part)
	}
	return row{r, own}
}

// Limit returns the threshold of a rule against the previous iteration or the
// baseline, and whether the rule applies there at all.
func (o Options) Limit(r Rule, against string) (threshold float64, on bool) {
	applied := o.row(r, against)
	return applied.threshold(), o.Mode != ModeOff && !applied.off()
}

func (r row) threshold() float64 {
	if r.own.Threshold != nil {
		return *r.own.Threshold
	}
	return r.Threshold
}

func (r row) off() bool { return r.own.Off || r.own.Action == Off }

// severity returns the severity of a finding. variant is that of the finding itself,
// zero where it has none. An override replaces the severity of the rule; it does not
// make a milder variant more severe.
func (r row) severity(variant Severity) Severity {
	switch own := r.own.Severity; {
	case own == 0:
		return cmp.Or(variant, r.Severity)
	case variant != 0 && variant < r.Severity:
		return min(variant, own)
	default:
		return own
	}
}

// action returns what a finding asks for; variant as with severity.
func (r row) action(variant Action) Action { return cmp.Or(r.own.Action, variant, r.Action) }
