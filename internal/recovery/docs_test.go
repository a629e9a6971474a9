package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
)

// Causes lists the causes that have a strategy, for the tests of the package.
func Causes() []Cause { return slices.Collect(maps.Keys(responses)) }

// TestCausesAreDocumented compares the reference of causes, their evidence and what
// follows with the tables, in the order of the evidence.
func TestCausesAreDocumented(t *testing.T) {
	var order []Cause
	evidence := map[Cause][]string{Unknown: {fmt.Sprintf("none of these (%.2f)", unknownConfidence)}}
	for _, s := range indicators {
		if evidence[s.cause] == nil {
			order = append(order, s.cause)
		}
		evidence[s.cause] = append(evidence[s.cause], fmt.Sprintf("%s (%.2f)", s.description, s.confidence))
	}
	for cause := range responses {
		if evidence[cause] == nil {
			t.Errorf("cause %s has no evidence: add a row to signs in internal/recovery/diagnose.go", cause)
		}
	}
	var b strings.Builder
	b.WriteString("| cause | evidence (confidence) | strategy | the next prompt says |\n|---|---|---|---|\n")
	for _, cause := range append(order, Unknown) {
		plan, ok := responses[cause]
		if !ok {
			t.Errorf("cause %s has no strategy: add a row to plans in internal/recovery/diagnose.go", cause)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", cause, strings.Join(evidence[cause], "; "), plan.strategy, plan.advice)
	}
	docs.Block(t, "recovery.md", "causes and strategies", "./internal/recovery", b.String())
}
