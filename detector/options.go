package detector

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// RuleOptions overrides one rule. What is zero stays as the rule has it.
type RuleOptions struct {
	Severity  Severity `json:"severity,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"` // at least 0, in the unit of the rule
	Action    Action   `json:"action,omitempty"`
	Off       bool     `json:"off,omitempty"`
}

// Options are the numbers of the verdict. The zero value of a field means its
// default.
type Options struct {
	Rules  map[string]RuleOptions // by the name of the rule
	Strict bool                   // no lost test is explained, counts are compared raw

	StallWindow int     // plateaus in a row that make a stall, 3
	StallRange  float64 // their scores lie within this, .02
	CycleWindow int     // longest period of a cycle, in iterations, 5
	CycleMin    int     // a cycle is an infinite loop after this many iterations, 10
	StuckCount  int     // equal errors in a row that make a stuck loop, 3

	PassRateDrop float64 // points of pass rate below which it is a regression, 5
	PlateauRange float64 // per cent, or points of a rate, that are no change, 2
	ScoreRange   float64 // change in score that decides nothing, .02
	BestMargin   float64 // a regression this far below the best score is undone, .1

	RollbackTo RollbackTarget // ToStart
}

// DefaultOptions returns the options of a user who sets nothing.
func DefaultOptions() Options { return Options{}.withDefaults() }

func (o Options) withDefaults() Options {
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

// Validate reports the first override that makes no sense: an unknown rule or a
// negative threshold.
func (o Options) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(o.Rules)) {
		if !Known(name) {
			return fmt.Errorf("rule %s does not exist; the rules are %v", name, RuleNames())
		}
		if t := o.Rules[name].Threshold; t != nil && *t < 0 {
			return fmt.Errorf("threshold of rule %s is %v; give a number of at least 0", name, *t)
		}
	}
	return nil
}

// threshold returns the threshold of a rule of the table.
func (o Options) threshold(r Rule) float64 {
	if t := o.Rules[r.Name].Threshold; t != nil {
		return *t
	}
	return r.Threshold
}

func (o Options) off(r Rule) bool {
	own := o.Rules[r.Name]
	return own.Off || own.Action == Off
}

// severity returns how grave a finding of r is. variant is what the finding
// itself calls for, zero when it is nothing special. An override replaces the
// severity of the rule; it does not make a milder variant graver.
func (o Options) severity(r Rule, variant Severity) Severity {
	own := o.Rules[r.Name].Severity
	switch {
	case own == 0:
		return cmp.Or(variant, r.Severity)
	case variant != 0 && variant < r.Severity:
		return min(variant, own)
	default:
		return own
	}
}

func (o Options) action(r Rule) Action {
	return cmp.Or(o.Rules[r.Name].Action, r.Action)
}
