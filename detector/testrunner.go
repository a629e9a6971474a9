package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// TestRunnerChanged is the rule about tests that are run by another test runner.
const TestRunnerChanged = "test_runner_changed"

// testRunnerChanged makes a finding if a test runner is gone. The mutation check of its
// tests decides the severity.
func testRunnerChanged(j *judge, c comparison, _ appliedRule) []finding {
	if c.before.Tests == nil || c.now.Tests == nil {
		return nil
	}

	old, current := c.before.Tests.Runner, c.now.Tests.Runner
	now := strings.Split(current, "+")
	lostRunner := slices.ContainsFunc(strings.Split(old, "+"), func(name string) bool { return !slices.Contains(now, name) })
	if old == "" || current == "" || !lostRunner {
		return nil
	}

	f := finding{values: Values{Why: fmt.Sprintf("%s, and were by %s: ", current, old)}}
	known, unknown := 0, ""
	for _, p := range j.in.Mutations {
		if p.IsKnown() {
			known++
		} else if p.Why != "" {
			unknown = cmp.Or(unknown, p.String())
		}
		f.files = append(f.files, p.Files...)
	}

	slices.Sort(f.files)
	f.files = slices.Compact(f.files)
	switch {
	case known == 0:
		f.values.Why += cmp.Or(unknown, "nothing shows whether they notice as much") + "; they can be compared while " + old + " is installed"
	case unknown != "":
		f.severity, f.action = Medium, AlertAndReview
		f.values.Why += "not all could be compared: " + unknown
	default:
		f.severity, f.action = Info, Note
		f.values.Why += comparedText(j.in.Mutations)
	}
	return single(f)
}

// comparedText summarizes the mutation results of all groups.
func comparedText(list []MutationResult) string {
	if len(list) == 1 {
		return list[0].String()
	}
	keptGroups := 0
	for _, p := range list {
		if p.KilledBefore == 0 || p.KilledAfter >= p.KilledBefore {
			keptGroups++
		}
	}
	return fmt.Sprintf("in %d of %d groups of files they notice as many mutants of the code as before", keptGroups, len(list))
}
