package hook

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
)

// TestRulesAreDocumented compares the reference of risky calls with the table of
// rules, the most severe first.
func TestRulesAreDocumented(t *testing.T) {
	list := slices.SortedFunc(maps.Values(rules), func(a, b rule) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), strings.Compare(a.name, b.name))
	})
	var b strings.Builder
	b.WriteString("| rule | severity | the agent is told | and what to do instead |\n|---|---|---|---|\n")
	for _, r := range list {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.name, r.severity, r.why, r.instead)
	}
	docs.Block(t, "hooks.md", "risky calls", "./internal/hook", b.String())
}
