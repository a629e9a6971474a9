// Package detectedplan converts the checks that are detected in a checkout into those of a plan. It
// also finds out whether a version of the tree has moved its tests to another framework, and then
// returns the plan for that version.
package detectedplan

import (
	"maps"
	"slices"
	"time"

	"supervise/internal/measure"
	"supervise/internal/project"
)

// PlanCheck converts a detected check into one of a plan, with a time limit.
func PlanCheck(c project.Check, limit time.Duration) measure.Check {
	return measure.Check{
		Kind: measure.Kind(c.Kind), Name: c.Name, Dir: c.Dir, Command: c.Command, Env: c.Env, Files: c.Files, Reports: c.Reports, Stderr: c.Stderr,
		Coverage: c.Coverage, Runner: c.Runner, Inventory: c.Inventory, CoveredByBuild: c.Implied, Timeout: limit,
	}
}

// PlanFor returns the plan for the tree at root, which is another version of the tree of a plan. It
// has the same checks, unless they were detected and the tree has other test runners in a folder:
// then moved is true, and the tests of the folder are those detected in it. look is that of
// [project.Detect].
func PlanFor(root string, plan measure.Plan, look func(string) (string, error)) (out measure.Plan, moved bool) {
	out = plan
	out.Root = root
	if !plan.Recognised {
		return out, false
	}
	found, err := project.Detect(root, look)
	if err != nil {
		return out, false
	}
	var detected []measure.Check
	for _, c := range found.Checks {
		if c.Kind == project.Test {
			detected = append(detected, PlanCheck(c, testTimeout(plan)))
		}
	}
	dirs := movedFolders(plan.Checks, detected)
	if len(dirs) == 0 {
		return out, false
	}
	isReplaced := func(c measure.Check) bool { return c.Kind == measure.Test && dirs[c.Dir] }
	added := slices.DeleteFunc(detected, func(c measure.Check) bool { return !dirs[c.Dir] })
	out.Checks = append(slices.DeleteFunc(slices.Clone(plan.Checks), isReplaced), added...)
	return out, true
}

// movedFolders are the folders whose tests have other runners than before, all of them known.
func movedFolders(before, now []measure.Check) map[string]bool {
	out := map[string]bool{}
	runnersNow := runnersByFolder(now)
	for dir, old := range runnersByFolder(before) {
		current := runnersNow[dir]
		hasUnknown := old[""] || current[""]
		if len(current) > 0 && !hasUnknown && !maps.Equal(old, current) {
			out[dir] = true
		}
	}
	return out
}

// runnersByFolder are the test runners by folder.
func runnersByFolder(list []measure.Check) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, c := range list {
		if c.Kind != measure.Test {
			continue
		}
		if out[c.Dir] == nil {
			out[c.Dir] = map[string]bool{}
		}
		out[c.Dir][c.Runner] = true
	}
	return out
}

// testTimeout is the time limit of the first test check of a plan.
func testTimeout(p measure.Plan) time.Duration {
	for _, c := range p.Checks {
		if c.Kind == measure.Test {
			return c.Timeout
		}
	}
	return 0
}
