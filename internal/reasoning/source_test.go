package reasoning_test

import (
	"strings"
	"testing"

	"supervise/internal/reasoning"
)

func TestSource(t *testing.T) {
	for rule, page := range map[string]string{
		"test_count_decreased": "docs/rules.md", "infinite_loop": "ZenML", "tests_weakened": "docs/integrity.md",
		"tamper:unconditional_skip": "catalogue of tampering", "review:gaming": "docs/review.md",
	} {
		if got := reasoning.Source(rule); !strings.Contains(got, page) {
			t.Errorf("%s comes from %q, want %q", rule, got, page)
		}
	}
}
