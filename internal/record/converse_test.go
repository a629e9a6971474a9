package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"supervise/internal/record"
)

// A message of a conversation is answered by one, and a baseline in it begins the loop.
func TestConversationIsAnsweredInItsShape(t *testing.T) {
	p := place(t)
	text := `{"role": "user", "content": "Check iteration 7", "timestamp": "2026-02-02T21:15:00Z", "sender": "ralph-orchestrator", "metadata": {
		"hook_name": "post_iteration", "loop_id": "l", "iteration": 7, "inputs": {
			"baseline": {"test_count": 150, "tests_passed": 148, "coverage_percentage": 85},
			"current": {"test_count": 148, "tests_passed": 148, "coverage_percentage": 84}}}}`
	out, err := p.Answer(context.Background(), "", message(t, text))
	if err != nil || len(out) != 2 {
		t.Fatalf("%d answers, %v", len(out), err)
	}
	c, ok := out[1].(record.Conversation)
	alert, _ := c.Metadata.(record.RegressionAlert)
	if !ok || c.Role != "assistant" || c.Content != "REGRESSION DETECTED: test_deletion" || alert.Verdict != "BLOCK" || *alert.Details.Baseline != 150 {
		t.Errorf("%+v", out[1])
	}
	if v, err := json.Marshal(c); err != nil || !strings.Contains(string(v), `"metadata":{"type":"RegressionAlert"`) {
		t.Errorf("%s, %v", v, err)
	}
	for text, want := range map[string]string{
		`{"role": "user", "metadata": {"hook_name": "pre_iteration"}}`:                                       `hook_name is "pre_iteration"`,
		`{"role": "user", "mood": "good", "metadata": {}}`:                                                   `unknown field "mood"`,
		`{"role": "user", "metadata": {"hook_name": "post_iteration", "inputs": {"current": {"bugs": 1}}}}`:  `unknown field "bugs"`,
		`{"role": "user", "metadata": {"hook_name": "post_iteration", "inputs": [1]}}`:                       "inputs",
		`{"role": "user", "metadata": {"hook_name": "post_iteration", "inputs": {"baseline": {"bugs": 1}}}}`: `unknown field "bugs"`,
		`{"test_count": 5, "testing": [1]}`:                                                                  "testing",
	} {
		if _, err := record.NewMessages(strings.NewReader(text)).Next(); !errors.Is(err, record.ErrInvalidMessage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestMetricsInYAML(t *testing.T) {
	m, err := record.ReadMetrics([]byte("iteration_metrics:\n  iteration: 0\n  classification: baseline\n  testing: {test_count: 8}\n  tests_passed: 5\nbaseline_stored: true\n"))
	if err != nil || *m.Testing.Count != 8 || *m.Testing.Passed != 5 {
		t.Errorf("%+v, %v", m.Testing, err)
	}
	for text, want := range map[string]string{
		"a: &x [1]\nb: *x\n":     "alias",
		"a: [":                   "neither JSON nor YAML",
		"---\na: 1\n---\nb: 2\n": "one document",
		"":                       "one document",
		"- 1\n":                  "cannot unmarshal",
	} {
		if _, err := record.ReadMetrics([]byte(text)); !errors.Is(err, record.ErrInvalidMessage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
