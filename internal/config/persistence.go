package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/loop"
	"supervise/internal/projectfile"
	"supervise/internal/prompt"
	"supervise/internal/yamlfile"
	"supervise/selector"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Persistence is the section agent_persistence of the specification that this project
// implements. Its keys are alternative names of other keys, which take precedence: see
// docs/configuration.md. A missing key, or null, changes nothing.
type Persistence struct {
	// false: `mode: off` and `reinforcement: off`
	Enabled   *bool `yaml:"enabled"`
	Detection struct {
		// `mode`
		Mode *string `yaml:"mode" range:"off|minimal|standard|aggressive"`
		// `integrity.patterns_enabled`
		Patterns []string `yaml:"patterns_enabled"`
	} `yaml:"detection"`
	Reinforcement struct {
		// level of the [reminder](recovery.md#prompts) in the first iterations; events can raise it
		Default *string `yaml:"default_level" range:"off|minimal|standard|aggressive"`
		// how the level rises with the iteration: `iteration_3: STANDARD`
		Thresholds map[string]string `yaml:"escalation_thresholds"`
		// change of the score, in [0,1], below which the last iteration is a plateau for the level
		Plateau *float64 `yaml:"quality_plateau_threshold" range:"≥ 0"`
	} `yaml:"reinforcement"`
	Recovery struct {
		// `limits.max_retries`
		MaxRetries *int `yaml:"max_retries" range:"≥ 0"`
		// false: ask for approval after the last retry, not at once
		AutoEscalate *bool `yaml:"auto_escalate_on_critical"`
		// `approval_timeout`; null: wait forever
		GateTimeout *float64 `yaml:"human_gate_timeout_minutes" range:"≥ 0"`
	} `yaml:"recovery"`
	Selection struct {
		// false: restore the last acceptable iteration
		Enabled *bool `yaml:"enabled"`
		// `selection.threshold`
		Threshold *float64 `yaml:"quality_threshold" range:"0–100"`
		// `selection.mode`: `highest_quality_verified`, or `highest_quality`
		Verify *bool `yaml:"require_verification"`
	} `yaml:"best_output_selection"`
	Performance struct {
		// warn when the work of supervise in an iteration takes longer, in ms
		LatencyMS *float64 `yaml:"detection_latency_budget_ms" range:"≥ 0"`
		// the same, in percent of the iteration's time
		Overhead *float64 `yaml:"max_integration_overhead_percentage" range:"≥ 0"`
	} `yaml:"performance"`
}

// persistenceKey is the prefix of the keys of the section.
const persistenceKey = "agent_persistence."

// otherNames maps keys to their alternative names in agent_persistence.
var otherNames = map[string]string{
	"mode":                       "detection.mode",
	"integrity.patterns_enabled": "detection.patterns_enabled",
	"limits.max_retries":         "recovery.max_retries",
	"approval_timeout":           "recovery.human_gate_timeout_minutes",
	"selection.threshold":        "best_output_selection.quality_threshold",
}

// applyPersistence applies the section of a file to the settings. Other keys of the file, which
// are read later, take precedence.
func (s *Settings) applyPersistence(text []byte) {
	var file struct {
		Persistence Persistence `yaml:"agent_persistence"`
	}
	if yaml.Unmarshal(text, &file) != nil {
		return // the strict reading that follows reports the error
	}
	s.applyKeys(file.Persistence)
}

// applyKeys sets the keys that the section has alternative names for.
func (s *Settings) applyKeys(p Persistence) {
	setIfGiven(&s.Mode, p.Detection.Mode)
	if p.Enabled != nil && !*p.Enabled {
		s.Mode, s.Reinforcement = "off", "off"
	}
	if p.Detection.Patterns != nil {
		s.Integrity.Enabled = p.Detection.Patterns
	}
	setIfGiven(&s.Limits.MaxRetries, p.Recovery.MaxRetries)
	if minutes := p.Recovery.GateTimeout; minutes != nil {
		s.ApprovalTimeout = time.Duration(*minutes * float64(time.Minute))
	}
	setIfGiven(&s.Selection.Threshold, p.Selection.Threshold)
	if v := p.Selection.Verify; v != nil {
		s.Selection.Mode = string(selector.HighestQuality)
		if *v {
			s.Selection.Mode = string(selector.HighestQualityVerified)
		}
	}
	if v := p.Selection.Enabled; v != nil && !*v { // the last iteration is the result
		s.Selection.Mode, s.Selection.Threshold = string(selector.MostRecentAboveThreshold), 0
	}
}

// otherToolFiles are files of another tool that may contain the section.
var otherToolFiles = []string{"aiwg.yml", "aiwg.yaml"}

// loadOtherTool applies the section in the file of another tool in dir. Other parts of that file
// are ignored, and the configuration of supervise takes precedence.
func (s *Settings) loadOtherTool(dir string) error {
	for _, name := range otherToolFiles {
		path := filepath.Join(dir, name)
		text, err := projectfile.Read(path, projectfile.Settings)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var file struct {
			Persistence ast.Node `yaml:"agent_persistence"`
		}
		if err == nil {
			err = yaml.Unmarshal(text, &file)
		}
		if err == nil && file.Persistence != nil {
			err = yaml.NodeToValue(file.Persistence, &s.Persistence, yaml.Strict())
		}
		if err != nil {
			return settingsFile(path, text).DescribeError(err, s)
		}
		s.applyKeys(s.Persistence)
		if err := s.Validate(); err != nil {
			return locateError(err, path, text)
		}
		return nil
	}

	return nil
}

// setIfGiven copies a value unless it is nil.
func setIfGiven[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// iterationPrefix is the prefix of the names of thresholds.
const iterationPrefix = "iteration_"

// escalation returns how the level rises, nil if the section does not set it.
func (p Persistence) escalation() (prompt.Escalation, error) {
	r := p.Reinforcement
	if r.Default == nil && r.Thresholds == nil {
		return nil, nil
	}

	var out prompt.Escalation
	add := func(from int, name string, path ...string) error {
		level, err := prompt.ParseLevel(name)
		if err != nil {
			return yamlfile.InvalidValue(err.Error(), append([]string{"agent_persistence", "reinforcement"}, path...)...)
		}
		out = append(out, prompt.Threshold{From: from, Level: level})
		return nil
	}

	first := "minimal"
	setIfGiven(&first, r.Default)
	if err := add(1, first, "default_level"); err != nil {
		return nil, err
	}
	if r.Thresholds == nil { // the defaults
		r.Thresholds = map[string]string{"iteration_3": "standard", "iteration_5": "aggressive"}
	}

	for key, name := range r.Thresholds {
		number, ok := strings.CutPrefix(key, iterationPrefix)
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 1 {
			return nil, yamlfile.InvalidValue(fmt.Sprintf("escalation_thresholds: %q is not an iteration: write iteration_N, like iteration_3", key), "agent_persistence", "reinforcement", "escalation_thresholds", key)
		}
		if err := add(n, name, "escalation_thresholds", key); err != nil {
			return nil, err
		}
	}

	slices.SortStableFunc(out, func(a, b prompt.Threshold) int { return a.From - b.From })
	return out, nil
}

// fillOptions sets the options that have no other key.
func (p Persistence) fillOptions(o *loop.Settings) (err error) {
	if o.Escalation, err = p.escalation(); err != nil {
		return err
	}
	setIfGiven(&o.PlateauBelow, p.Reinforcement.Plateau)
	o.Recovery.AskLate = p.Recovery.AutoEscalate != nil && !*p.Recovery.AutoEscalate
	if ms := p.Performance.LatencyMS; ms != nil {
		o.Budget.Latency = time.Duration(*ms * float64(time.Millisecond))
	}
	setIfGiven(&o.Budget.Percent, p.Performance.Overhead)
	return nil
}

// validate checks the values that have no other key.
func (p Persistence) validate() error {
	if _, err := p.escalation(); err != nil {
		return err
	}
	for _, c := range []struct {
		value *float64
		key   string
	}{
		{p.Reinforcement.Plateau, "reinforcement.quality_plateau_threshold"},
		{p.Recovery.GateTimeout, "recovery.human_gate_timeout_minutes"},
		{p.Performance.LatencyMS, "performance.detection_latency_budget_ms"},
		{p.Performance.Overhead, "performance.max_integration_overhead_percentage"},
	} {
		if c.value != nil && *c.value < 0 {
			return yamlfile.InvalidValue(c.key+" must not be negative", strings.Split(persistenceKey+c.key, ".")...)
		}
	}
	return nil
}
