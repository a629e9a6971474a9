package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/detector"
)

// Rule overrides a row of the rules. Previous and Baseline stand over the rest
// for one of the two comparisons; Paths are limits for parts of the tree.
type Rule struct {
	// how grave it is; `NAME` is one of the [rules](rules.md)
	Severity string `yaml:"severity" zero:"the rule's" range:"info|low|medium|high|critical"`
	// in the unit of the rule; for rules that have one
	Threshold *float64 `yaml:"threshold" zero:"the rule's" range:"≥ 0"`
	// what follows
	Action string `yaml:"action" zero:"the rule's" range:"actions"`
	// the rule does not apply
	Off bool `yaml:"off"`
	// severity, threshold, action and off for the comparison with the tree that the iteration started from
	Previous *Rule `yaml:"previous"`
	// the same for the comparison with the baseline
	Baseline *Rule `yaml:"baseline"`
	// pattern of files: threshold, for parts of the tree; `coverage_regression` alone has them
	Paths map[string]float64 `yaml:"paths"`
}

// Stall is when iterations without progress are a stall: so many plateaus in a
// row, whose scores lie within a range in [0,1].
type Stall struct {
	// so many plateaus in a row are a stall
	Iterations int `yaml:"iterations" range:"≥ 2"`
	// when their scores, in [0,1], lie within it
	Range float64 `yaml:"range" range:"> 0, ≤ 1"`
}

// Cycle is what is looked for as a cycle: periods up to Window iterations, which
// end the loop after so many iterations.
type Cycle struct {
	// the longest period that is looked for, in iterations
	Window int `yaml:"window" range:"≥ 2"`
	// the iteration after which a confirmed cycle ends the loop
	After int `yaml:"after" range:"≥ 1"`
}

// Stuck is how many equal errors in a row make a loop stuck.
type Stuck struct {
	// so many equal errors in a row make a loop stuck
	Errors int `yaml:"errors" range:"≥ 2"`
}

// rules turns the settings into the options of the detector.
func (s Settings) rules() (detector.Options, error) {
	o := detector.Options{
		Mode: detector.Mode(s.Mode), Strict: s.Strict, RollbackTo: detector.RollbackTarget(s.RollbackTo),
		StallWindow: s.Stall.Iterations, StallRange: s.Stall.Range,
		CycleWindow: s.Cycle.Window, CycleMin: s.Cycle.After, StuckCount: s.Stuck.Errors,
		Tests: detector.Intent(s.Tests), AllowRemove: s.AllowRemove,
	}.WithDefaults()
	for _, name := range slices.Sorted(maps.Keys(s.Rules)) {
		row, err := s.Rules[name].options("rules", name)
		if err != nil {
			return o, err
		}
		if o.Rules == nil {
			o.Rules = map[string]detector.RuleOptions{}
		}
		o.Rules[name] = row
	}
	if err := o.Validate(); err != nil {
		var field *detector.FieldError
		if errors.As(err, &field) {
			return o, invalid(err.Error(), field.Field...)
		}
		return o, invalid(err.Error())
	}
	return o, nil
}

// options turns an override into that of the detector. at says where it stands.
func (r Rule) options(at ...string) (detector.RuleOptions, error) {
	o := detector.RuleOptions{Threshold: r.Threshold, Action: detector.Action(r.Action), Off: r.Off, Paths: r.Paths}
	if r.Severity != "" {
		if err := o.Severity.UnmarshalText([]byte(strings.ToUpper(r.Severity))); err != nil {
			at = slices.Concat(at, []string{"severity"})
			return o, invalid(fmt.Sprintf("%s: %v; the severities are info, low, medium, high and critical", strings.Join(at, "."), err), at...)
		}
	}
	for _, part := range []struct {
		name string
		from *Rule
		to   **detector.RuleOptions
	}{{detector.AgainstPrevious, r.Previous, &o.Previous}, {detector.AgainstBaseline, r.Baseline, &o.Baseline}} {
		if part.from == nil {
			continue
		}
		own, err := part.from.options(slices.Concat(at, []string{part.name})...)
		if err != nil {
			return o, err
		}
		*part.to = &own
	}
	return o, nil
}
