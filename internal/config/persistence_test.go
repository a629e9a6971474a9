package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/internal/loop"
	"supervise/internal/prompt"

	"github.com/google/go-cmp/cmp"
)

// The example of the documents that this project came from, unchanged.
const example = `agent_persistence:
  enabled: true
  detection:
    mode: "standard" # off, minimal, standard, aggressive
    patterns_enabled:
      - test_deletion
      - feature_removal
      - coverage_regression
      - validation_bypass
  reinforcement:
    default_level: "MINIMAL"
    escalation_thresholds:
      iteration_3: "STANDARD"
      iteration_5: "AGGRESSIVE"
    quality_plateau_threshold: 0.05 # 5% delta
  recovery:
    max_retries: 3
    auto_escalate_on_critical: true
    human_gate_timeout_minutes: null # Block indefinitely
  best_output_selection:
    enabled: true
    quality_threshold: 70
    require_verification: false
  performance:
    detection_latency_budget_ms: 500
    max_integration_overhead_percentage: 10
`

func loaded(t *testing.T, text string) (Settings, loop.Settings) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path, true)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.LoopOptions(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s, o.Settings
}

func TestPersistenceExample(t *testing.T) {
	s, o := loaded(t, example)
	if s.Mode != "standard" || s.Limits.MaxRetries != 3 || s.ApprovalTimeout != 0 || s.Selection.Threshold != 70 || s.Selection.Mode != "highest_quality" {
		t.Errorf("%+v", s)
	}
	want := prompt.Escalation{{From: 1, Level: prompt.Minimal}, {From: 3, Level: prompt.Standard}, {From: 5, Level: prompt.Aggressive}}
	if diff := cmp.Diff(want, o.Escalation); diff != "" {
		t.Error(diff)
	}
	if len(o.Integrity.Enabled) != 4 || o.PlateauBelow != .05 || o.Recovery.AskLate || o.Budget != (loop.Budget{Latency: 500 * time.Millisecond, Percent: 10}) {
		t.Errorf("%+v", o)
	}
}

// Each key of it has an effect.
func TestPersistenceKeys(t *testing.T) {
	for _, tt := range []struct {
		line  string // below agent_persistence, with a slash for a line break
		holds func(Settings, loop.Settings) bool
	}{
		{"enabled: false", func(s Settings, o loop.Settings) bool { return s.Mode == "off" && *o.Level == prompt.Off }},
		{"detection: {mode: aggressive}", func(_ Settings, o loop.Settings) bool { return o.Rules.Mode == "aggressive" }},
		{"detection: {patterns_enabled: [harness]}", func(_ Settings, o loop.Settings) bool { return len(o.Integrity.Enabled) == 1 }},
		{"reinforcement: {default_level: STANDARD}", func(_ Settings, o loop.Settings) bool {
			l, _ := o.Escalation.LevelFor(prompt.Situation{Iteration: 1})
			return l == prompt.Standard
		}},
		{"reinforcement: {escalation_thresholds: {iteration_2: AGGRESSIVE}}", func(_ Settings, o loop.Settings) bool {
			l, _ := o.Escalation.LevelFor(prompt.Situation{Iteration: 2})
			return l == prompt.Aggressive
		}},
		{"reinforcement: {quality_plateau_threshold: 0.1}", func(_ Settings, o loop.Settings) bool { return o.PlateauBelow == .1 }},
		{"recovery: {max_retries: 1}", func(_ Settings, o loop.Settings) bool { return o.Recovery.MaxRetries == 1 }},
		{"recovery: {auto_escalate_on_critical: false}", func(_ Settings, o loop.Settings) bool { return o.Recovery.AskLate }},
		{"recovery: {human_gate_timeout_minutes: 5}", func(_ Settings, o loop.Settings) bool { return o.Approval.Timeout == 5*time.Minute }},
		{"best_output_selection: {enabled: false}", func(_ Settings, o loop.Settings) bool {
			return o.Select.Mode == "most_recent_above_threshold" && o.Select.Threshold == 0
		}},
		{"best_output_selection: {quality_threshold: 80}", func(_ Settings, o loop.Settings) bool { return o.Select.Threshold == .8 }},
		{"best_output_selection: {require_verification: true}", func(_ Settings, o loop.Settings) bool { return o.Select.Mode == "highest_quality_verified" }},
		{"performance: {detection_latency_budget_ms: 1}", func(_ Settings, o loop.Settings) bool {
			return o.Budget.Exceeded(2*time.Millisecond, time.Hour) != "" && o.Budget.Exceeded(time.Millisecond, time.Hour) == ""
		}},
		{"performance: {max_integration_overhead_percentage: 10}", func(_ Settings, o loop.Settings) bool {
			return o.Budget.Exceeded(11, 100) != "" && o.Budget.Exceeded(10, 100) == ""
		}},
	} {
		s, o := loaded(t, "agent_persistence:\n  "+tt.line+"\n")
		if !tt.holds(s, o) {
			t.Errorf("%s has no effect", tt.line)
		}
	}
	if s, _ := loaded(t, "mode: minimal\n"+example); s.Mode != "minimal" {
		t.Errorf("mode is %s; the key outside the section takes precedence", s.Mode)
	}
}

func TestPersistenceErrors(t *testing.T) {
	for text, want := range map[string]string{
		"agent_persistence: {recovery: {max_retrys: 3}}":                                 "did you mean max_retries?",
		"agent_persistence: {detection: {mode: strict}}":                                 "mode",
		"agent_persistence: {reinforcement: {default_level: LOUD}}":                      "unknown reinforcement level",
		"agent_persistence: {reinforcement: {escalation_thresholds: {third: STANDARD}}}": "iteration_3",
		"agent_persistence: {performance: {detection_latency_budget_ms: -1}}":            "must not be negative",
		"limit: {}":     "did you mean limits?",
		"chekcs: {}":    "did you mean checks?",
		"xyzzyplugh: 1": "docs/configuration.md",
	} {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path, true)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "[1:") {
			t.Errorf("%s: %v, want the line and %q", text, err, want)
		}
	}
}

// The section is read from the file of another tool, too; ours takes precedence.
func TestPersistenceOfANeighbour(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("aiwg.yml", "version: 3\nralph: {agents: many}\n"+strings.Replace(example, "max_retries: 3", "max_retries: 5", 1))
	s, err := Load(Path(dir), false)
	if err != nil || s.Limits.MaxRetries != 5 || s.Selection.Mode != "highest_quality" || len(s.Integrity.Enabled) != 4 || s.Persistence.Reinforcement.Plateau == nil {
		t.Errorf("%+v, %v", s, err)
	}
	put(FileName, "limits: {max_retries: 1}\n")
	if s, err := Load(Path(dir), false); err != nil || s.Limits.MaxRetries != 1 || s.Selection.Mode != "highest_quality" {
		t.Errorf("%+v, %v, want our own key to count", s.Limits, err)
	}
	if s, err := Load(Path(dir), true); err != nil || s.Selection.Mode == "highest_quality" {
		t.Errorf("%+v, %v, want only the file that is named", s.Selection, err)
	}
	for text, want := range map[string]string{
		"agent_persistence: {detekt: 1}\n":                     "detekt",
		"agent_persistence: {detection: {mode: brave}}\n":      "aiwg.yml: [1:",
		"agent_persistence: {recovery: {max_retries: many}}\n": "an integer",
		"agent_persistence: [\n":                               "aiwg.yml",
	} {
		put("aiwg.yml", text)
		if _, err := Load(Path(dir), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	put("aiwg.yml", "other: [1]\n")
	if _, err := Load(Path(dir), false); err != nil {
		t.Errorf("a file without the section: %v", err)
	}
}
