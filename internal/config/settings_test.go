package config_test

import (
	"encoding/json"
	"testing"
	"time"

	"supervise/internal/config"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/snapshot"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A loop that is resumed follows the settings in its folder, so nothing of them
// may be lost when written as JSON.
func TestSettingsSurviveJSON(t *testing.T) {
	s := config.Default()
	zero := 0.0
	s.Rules = map[string]config.Rule{
		"file_deletion": {Severity: "low", Threshold: &zero}, "error_increase": {Off: true},
		"coverage_regression": {Baseline: &config.Rule{Threshold: &zero}, Paths: map[string]float64{"a/**": 1}},
	}
	s.Mode, s.RollbackTo = "aggressive", "best"
	s.Reinforcement, s.Until, s.Strict = "off", "test -f done", true
	s.Confirm.Reruns = 0
	s.Limits.MaxTime, s.Snapshot.Precious = time.Hour, []string{"*.secret"}
	o, err := s.LoopOptions("/project")
	if err != nil {
		t.Fatal(err)
	}
	o.Args, o.Task = []string{"agent", "{{prompt}}"}, "do it"
	o.Plan = measure.Plan{Root: "/project", Language: "go", Checks: []measure.Check{{
		Kind: measure.Test, Name: "t", Command: []string{"go", "test"}, Env: []string{"A=b"}, Files: map[string]string{"a": "b"},
		Reports: []string{"*.xml"}, Stderr: true, Coverage: true, Runner: "go", Inventory: []string{"list"}, Timeout: time.Minute,
	}}}
	text, err := json.Marshal(o.Settings)
	if err != nil {
		t.Fatal(err)
	}
	var got loop.Settings
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o.Settings, got, cmpopts.IgnoreUnexported(snapshot.Options{})); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}
