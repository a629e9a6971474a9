package config_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/internal/config"
	"supervise/internal/judge"
	"supervise/selector"
)

func judging() judge.Settings {
	three := 3.0
	o := detector.DefaultOptions()
	o.Rules = map[string]detector.RuleOptions{"coverage_regression": {Severity: detector.Critical, Threshold: &three}, "file_deletion": {Off: true}}
	return judge.Settings{Rules: o, Weights: selector.Weights{Validation: .5, Correctness: .5}, Select: selector.Options{Mode: selector.HighestQuality, Threshold: .6}}
}

func TestWhatIf(t *testing.T) {
	one := 1.0
	for _, test := range []struct {
		name string
		keys []string
		want func(*judge.Settings)
	}{
		{"nothing", nil, func(*judge.Settings) {}},
		{"a threshold, and the severity stays", []string{"rules.coverage_regression.threshold=1"}, func(s *judge.Settings) {
			s.Rules.Rules["coverage_regression"] = detector.RuleOptions{Severity: detector.Critical, Threshold: &one}
		}},
		{"a rule that was off", []string{"rules.file_deletion.off=false", "rules.file_deletion.severity=high"}, func(s *judge.Settings) {
			s.Rules.Rules["file_deletion"] = detector.RuleOptions{Severity: detector.High}
		}},
		{"a rule that was as the table has it", []string{"rules.build_broken.action=note"}, func(s *judge.Settings) {
			s.Rules.Rules["build_broken"] = detector.RuleOptions{Action: detector.Note}
		}},
		{"a whole rule", []string{"rules.build_broken={severity: low, action: note}"}, func(s *judge.Settings) {
			s.Rules.Rules["build_broken"] = detector.RuleOptions{Severity: detector.Low, Action: detector.Note}
		}},
		{"against the baseline alone", []string{"rules.coverage_regression.baseline.threshold=1"}, func(s *judge.Settings) {
			row := s.Rules.Rules["coverage_regression"]
			row.Baseline = &detector.RuleOptions{Threshold: &one}
			s.Rules.Rules["coverage_regression"] = row
		}},
		{"strict, mode", []string{"strict=true", "mode=minimal"}, func(s *judge.Settings) {
			s.Rules.Strict, s.Rules.Mode = true, detector.ModeMinimal
		}},
		{"intent", []string{"tests=frozen", "allow_remove=[a_test.go]"}, func(s *judge.Settings) {
			s.Rules.Tests, s.Rules.AllowRemove = detector.TestsFrozen, []string{"a_test.go"}
		}},
		{"patterns", []string{"tests=[append, change=TestA]"}, func(s *judge.Settings) {
			s.Rules.Tests, s.Rules.MayChange = detector.TestsAppend, []string{"TestA"}
		}},
		{"another intent", []string{"tests=change"}, func(s *judge.Settings) { s.Rules.Tests = detector.TestsChange }},
		{"one of the weights", []string{"quality_weights.efficiency=0.25"}, func(s *judge.Settings) { s.Weights.Efficiency = .25 }},
		{"one of the selection", []string{"selection.threshold=90"}, func(s *judge.Settings) { s.Select.Threshold = .9 }},
		{"one of the stall", []string{"stall.iterations=5"}, func(s *judge.Settings) { s.Rules.StallWindow = 5 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, want := judging(), judging()
			test.want(&want)
			got, err := config.WhatIf(base, test.keys)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if !reflect.DeepEqual(base, judging()) {
				t.Errorf("the settings that were given changed: %+v", base)
			}
		})
	}
}

func TestWhatIfRefuses(t *testing.T) {
	for keys, want := range map[string]string{
		"rules.coverage_regression.threshold":    "give KEY=VALUE",
		"limits.max_time=1h":                     "a key of .supervise.yaml that a verdict depends on: allow_remove, cycle, mode, ",
		"rules.coverage.threshold=1":             "there is no rule coverage",
		"rules.coverage_regression.limit=1":      "limit",
		"rules.coverage_regression.threshold=-1": "threshold",
		"rules.coverage_regression.threshold=[":  "the value cannot be read",
		"quality_weights.validation=-1":          "quality_weights",
		"strict=perhaps":                         "Settings.Strict",
	} {
		_, err := config.WhatIf(judging(), []string{keys})
		if !errors.Is(err, config.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ErrInvalid with %q", keys, err, want)
		}
	}
}
