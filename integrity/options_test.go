package integrity

import (
	"slices"
	"strings"
	"testing"

	"supervise/internal/framework"
)

// effectRules are the rules about commands, by the effect of an option.
var effectRules = map[framework.Effect]string{
	framework.Focus: "focus_in_configuration", framework.Exclude: "discovery_narrowed_by_command", framework.StopEarly: "stops_at_first_failure",
	framework.RunNone: "test_command_runs_nothing", framework.Update: "expectations_rewritten_by_command", framework.Loosen: "retries_in_command",
	framework.Mask: "failure_ignored", framework.HideCode: "coverage_excluded_by_command",
}

// Each option of each framework gives the same finding as the others with its effect.
func TestEveryOptionIsFound(t *testing.T) {
	for _, f := range framework.All() {
		if len(f.Programs) == 0 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			for e, rule := range effectRules {
				for _, spelling := range f.Options.Spellings(e) {
					before, after := makeTest(f.Programs[0]), makeTest(f.Programs[0]+" "+written(spelling))
					got := Audit([]File{oneFile("Makefile", before, after)}, Options{})
					if !slices.ContainsFunc(got, func(x Finding) bool { return x.Type == rule }) {
						t.Errorf("%s: got %+v, want %s", strings.TrimSpace(after[len("test:"):]), got, rule)
					}
				}
			}
		})
	}
}

// written is an option of the table as a command has it.
func written(spelling string) string {
	name := strings.TrimSuffix(spelling, "[=]")
	switch {
	case name != spelling:
		return name
	case strings.HasSuffix(name, "="):
		return strings.TrimSuffix(name, "=") + " zz"
	case strings.HasSuffix(name, ":"):
		return name + "zz"
	}
	return strings.TrimSuffix(name, "*")
}
