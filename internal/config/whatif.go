package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/judge"
	"supervise/selector"

	"github.com/goccy/go-yaml"
)

// verdictKeys are the keys of the file that a verdict depends on. Each function copies the key
// from the settings of a file to those of a loop.
var verdictKeys = map[string]func(to *judge.Settings, s Settings){
	"strict":          func(to *judge.Settings, s Settings) { to.Rules.Strict = s.Strict },
	"quality_weights": func(to *judge.Settings, s Settings) { to.Weights = s.weights() },
	"selection": func(to *judge.Settings, s Settings) {
		to.Select.Mode, to.Select.Threshold = selector.Mode(s.Selection.Mode), s.Selection.Threshold/100
	},
	"mode":        func(to *judge.Settings, s Settings) { to.Rules.Mode = detector.Mode(s.Mode) },
	"rollback_to": func(to *judge.Settings, s Settings) { to.Rules.RollbackTo = detector.RollbackTarget(s.RollbackTo) },
	"stall": func(to *judge.Settings, s Settings) {
		to.Rules.StallWindow, to.Rules.StallRange = s.Stall.Iterations, s.Stall.Range
	},
	"cycle": func(to *judge.Settings, s Settings) {
		to.Rules.CycleWindow, to.Rules.CycleMin = s.Cycle.Window, s.Cycle.After
	},
	"stuck": func(to *judge.Settings, s Settings) { to.Rules.StuckCount = s.Stuck.Errors },
	"tests": func(to *judge.Settings, s Settings) {
		to.Rules.Tests, to.Rules.MayChange, _ = s.Tests.split() // valid: they were checked
	},
	"allow_remove": func(to *judge.Settings, s Settings) { to.Rules.AllowRemove = s.AllowRemove },
	"rules":        func(*judge.Settings, Settings) {}, // see overlayRules
}

// settingsFrom returns the settings of a file that are equivalent to those of a loop, except for
// the overrides of rules.
func settingsFrom(base judge.Settings) Settings {
	s, w, r := Default(), base.Weights, base.Rules.WithDefaults()
	s.Weights = Weights{w.Validation, w.Completeness, w.Correctness, w.Readability, w.Efficiency}
	s.Selection = Selection{Mode: string(base.Select.Mode), Threshold: 100 * base.Select.Threshold}
	s.Tests, s.AllowRemove = newIntents(r), r.AllowRemove
	s.Strict, s.Mode, s.RollbackTo = r.Strict, string(r.Mode), string(r.RollbackTo)
	s.Stall = Stall{Iterations: r.StallWindow, Range: r.StallRange}
	s.Cycle, s.Stuck = Cycle{Window: r.CycleWindow, After: r.CycleMin}, Stuck{Errors: r.StuckCount}
	return s
}

// WhatIf returns a copy of the settings of a loop with some keys changed. An assignment has the
// form "rules.coverage_regression.threshold=1". Keys that no verdict depends on are an error.
// Errors wrap [ErrInvalid].
func WhatIf(base judge.Settings, keys []string) (judge.Settings, error) {
	tree := map[string]any{}
	for _, k := range keys {
		if err := assignKey(tree, k); err != nil {
			return base, err
		}
	}

	text, err := yaml.Marshal(tree)
	if err != nil {
		return base, fmt.Errorf("%w: --what-if: %w", ErrInvalid, err)
	}

	s := settingsFrom(base)
	if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
		return base, fmt.Errorf("%w: --what-if: %s", ErrInvalid, yaml.FormatError(err, false, false))
	}
	if err := s.Validate(); err != nil {
		return base, fmt.Errorf("--what-if: %w", err)
	}

	for key := range tree {
		verdictKeys[key](&base, s)
	}

	rules, err := s.rules()
	if err == nil {
		base.Rules.Rules, err = overlayRules(base.Rules.Rules, rules.Rules, tree["rules"])
	}
	return base, err
}

// assignKey adds the key and value of an assignment to the tree of a file.
func assignKey(tree map[string]any, assignment string) error {
	path, text, ok := strings.Cut(assignment, "=")
	words := strings.SplitN(strings.TrimSpace(path), ".", 4)
	if _, known := verdictKeys[words[0]]; !ok || !known {
		return fmt.Errorf("%w: --what-if %s: give KEY=VALUE with a key of %s that a verdict depends on: %s; as in rules.coverage_regression.threshold=1",
			ErrInvalid, assignment, FileName, strings.Join(slices.Sorted(maps.Keys(verdictKeys)), ", "))
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("%w: --what-if %s: the value cannot be read: %w", ErrInvalid, assignment, err)
	}
	for _, word := range words[:len(words)-1] {
		child, ok := tree[word].(map[string]any)
		if !ok {
			child = map[string]any{}
			tree[word] = child
		}
		tree = child
	}
	tree[words[len(words)-1]] = value
	return nil
}

// overlayRules replaces in the rules of a loop exactly the keys that were given. Keys have the
// same names in the file and in the stored settings of a loop.
func overlayRules(base, tried map[string]detector.RuleOptions, given any) (map[string]detector.RuleOptions, error) {
	out := maps.Clone(base)
	named, ok := given.(map[string]any)
	if !ok {
		return out, nil
	}
	if out == nil {
		out = map[string]detector.RuleOptions{}
	}

	for name, keys := range named {
		var baseFields, triedFields map[string]json.RawMessage
		if err := errors.Join(convert(out[name], &baseFields), convert(tried[name], &triedFields)); err != nil {
			return nil, err
		}
		list, _ := keys.(map[string]any)
		for key := range list {
			delete(baseFields, key) // zero values are omitted in JSON
			if v, set := triedFields[key]; set {
				baseFields[key] = v
			}
		}
		var row detector.RuleOptions
		if err := convert(baseFields, &row); err != nil {
			return nil, err
		}
		out[name] = row
	}
	return out, nil
}

// convert copies a value to one of another type with the same JSON.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
