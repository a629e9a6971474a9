package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// TestRunnerChanged is the rule about tests that another runner runs than before.
const TestRunnerChanged = "test_runner_changed"

// testRunnerChanged makes a finding of a runner that is gone. What its tests noticed
// decides how much that says.
func testRunnerChanged(j *judge, c comparison, _ row) []finding {
	if c.against != AgainstPrevious || c.before.Tests == nil || c.now.Tests == nil {
		return nil
	}
	was, is := c.before.Tests.Runner, c.now.Tests.Runner
	now := strings.Split(is, "+")
	gone := slices.ContainsFunc(strings.Split(was, "+"), func(name string) bool { return !slices.Contains(now, name) })
	if was == "" || is == "" || !gone {
		return nil
	}
	f := finding{values: Values{Why: fmt.Sprintf("%s, and were by %s: ", is, was)}}
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
		f.values.Why += cmp.Or(unknown, "nothing shows whether they notice as much") + "; they can be compared while " + was + " is installed"
	case unknown != "":
		f.severity, f.action = Medium, AlertAndReview
		f.values.Why += "not all could be compared: " + unknown
	default:
		f.severity, f.action = Info, Note
		f.values.Why += compared(j.in.Mutations)
	}
	return one(f)
}

// compared says what groups of tests notice, all together.
func compared(list []MutationResult) string {
	if len(list) == 1 {
		return list[0].String()
	}
	kept := 0
	for _, p := range list {
		if p.KilledBefore == 0 || p.KilledAfter >= p.KilledBefore {
			kept++
		}
	}
	return fmt.Sprintf("in %d of %d groups of files they notice as many mutants of the code as before", kept, len(list))
}
