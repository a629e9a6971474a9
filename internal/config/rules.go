package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/yamlfile"
)

// Rule overrides the defaults of a rule. Previous and Baseline override it for one of the two
// comparisons; Paths are thresholds for parts of the tree.
type Rule struct {
	// severity of the finding; `NAME` is one of the [rules](rules.md)
	Severity string `yaml:"severity" zero:"the rule's" range:"info|low|medium|high|critical"`
	// threshold in the unit of the rule, for rules that have one
	Threshold *float64 `yaml:"threshold" zero:"the rule's" range:"≥ 0"`
	// what happens when the rule fires
	Action string `yaml:"action" zero:"the rule's" range:"actions"`
	// turn the rule off
	Off bool `yaml:"off"`
	// severity, threshold, action and off for the comparison with the tree that the iteration started from
	Previous *Rule `yaml:"previous"`
	// the same for the comparison with the baseline
	Baseline *Rule `yaml:"baseline"`
	// thresholds for parts of the tree, as pattern of files: threshold; only for `coverage_regression`
	Paths map[string]float64 `yaml:"paths"`
}

// Stall defines a stall: a number of consecutive plateaus whose scores are within a range in
// [0,1].
type Stall struct {
	// number of plateaus in a row that are a stall
	Iterations int `yaml:"iterations" range:"≥ 2"`
	// range in [0,1] that their scores lie within
	Range float64 `yaml:"range" range:"> 0, ≤ 1"`
}

// Cycle defines a cycle: its longest period, and the iteration after which it ends the loop.
type Cycle struct {
	// longest period to look for, in iterations
	Window int `yaml:"window" range:"≥ 2"`
	// iteration after which a confirmed cycle ends the loop
	After int `yaml:"after" range:"≥ 1"`
}

// Stuck is the number of equal errors in a row that make a loop stuck.
type Stuck struct {
	// number of equal errors in a row that make a loop stuck
	Errors int `yaml:"errors" range:"≥ 2"`
}

// rules turns the settings into the options of the detector.
func (s Settings) rules() (detector.Options, error) {
	intent, mayChange, err := s.Tests.split()
	if err != nil {
		return detector.Options{}, err
	}
	o := detector.Options{
		Mode: detector.Mode(s.Mode), Strict: s.Strict, RollbackTo: detector.RollbackTarget(s.RollbackTo),
		StallWindow: s.Stall.Iterations, StallRange: s.Stall.Range,
		CycleWindow: s.Cycle.Window, CycleMin: s.Cycle.After, StuckCount: s.Stuck.Errors,
		Tests: intent, MayChange: mayChange, AllowRemove: s.AllowRemove,
	}.WithDefaults()

	for _, name := range slices.Sorted(maps.Keys(s.Rules)) {
		rule := s.Rules[name]
		row, err := rule.options("rules", name)
		if err != nil {
			return o, err
		}
		if o.Rules == nil {
			o.Rules = map[string]detector.RuleOptions{}
		}
		o.Rules[name] = *row
	}
	if err := o.Validate(); err != nil {
		if field, ok := errors.AsType[*detector.FieldError](err); ok {
			return o, yamlfile.InvalidValue(err.Error(), field.Field...)
		}
		return o, yamlfile.InvalidValue(err.Error())
	}

	return o, nil
}

// options returns the override for the detector, nil for nil. keys are the keys of the rule in the
// file.
func (r *Rule) options(keys ...string) (_ *detector.RuleOptions, err error) {
	if r == nil {
		return nil, nil //nolint:nilnil // nothing is overridden
	}
	o := &detector.RuleOptions{Threshold: r.Threshold, Action: detector.Action(r.Action), Off: r.Off, Paths: r.Paths}
	if r.Severity != "" {
		if err := o.Severity.UnmarshalText([]byte(strings.ToUpper(r.Severity))); err != nil {
			keys = slices.Concat(keys, []string{"severity"})
			return nil, yamlfile.InvalidValue(fmt.Sprintf("%s: %v; the severities are info, low, medium, high and critical", strings.Join(keys, "."), err), keys...)
		}
	}
	if o.Previous, err = r.Previous.options(slices.Concat(keys, []string{detector.AgainstPrevious})...); err == nil {
		o.Baseline, err = r.Baseline.options(slices.Concat(keys, []string{detector.AgainstBaseline})...)
	}
	return o, err
}
