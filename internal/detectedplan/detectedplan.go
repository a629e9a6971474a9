// Package detectedplan turns what a checkout declares into the checks of a plan, and finds
// out whether a tree declares other test runners than those of a plan: the project moved
// its tests to another framework.
package detectedplan

import (
	"maps"
	"slices"
	"time"

	"supervise/internal/measure"
	"supervise/internal/project"
)

// PlanCheck returns a recognised check for a plan, with a time limit.
func PlanCheck(c project.Check, limit time.Duration) measure.Check {
	return measure.Check{
		Kind: measure.Kind(c.Kind), Name: c.Name, Dir: c.Dir, Command: c.Command, Env: c.Env, Files: c.Files, Reports: c.Reports, Stderr: c.Stderr,
		Coverage: c.Coverage, Runner: c.Runner, Inventory: c.Inventory, CoveredByBuild: c.Implied, Timeout: limit,
	}
}

// PlanFor returns the plan by which the tree at root is measured, which is a version of that of
// a plan. It is the same plan, unless its tests were recognised and the tree declares
// other runners in a folder: then moved is true, and the plan has the tests that are
// recognised in the folder. look is that of [project.Detect].
func PlanFor(root string, was measure.Plan, look func(string) (string, error)) (is measure.Plan, moved bool) {
	is = was
	is.Root = root
	if !was.Recognised {
		return is, false
	}
	found, err := project.Detect(root, look)
	if err != nil {
		return is, false
	}
	var now []measure.Check
	for _, c := range found.Checks {
		if c.Kind == project.Test {
			now = append(now, PlanCheck(c, limitOf(was)))
		}
	}
	dirs := changed(was.Checks, now)
	if len(dirs) == 0 {
		return is, false
	}
	is.Checks = slices.DeleteFunc(slices.Clone(was.Checks), func(c measure.Check) bool { return c.Kind == measure.Test && dirs[c.Dir] })
	for _, c := range now {
		if dirs[c.Dir] {
			is.Checks = append(is.Checks, c)
		}
	}
	return is, true
}

// changed are the folders whose tests have other runners. All of them are known.
func changed(was, is []measure.Check) map[string]bool {
	out := map[string]bool{}
	now := runners(is)
	for dir, before := range runners(was) {
		if len(now[dir]) > 0 && !maps.Equal(before, now[dir]) && !before[""] && !now[dir][""] {
			out[dir] = true
		}
	}
	return out
}

// runners are the test runners by folder.
func runners(list []measure.Check) map[string]map[string]bool {
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

// limitOf is the time limit of recognised tests.
func limitOf(p measure.Plan) time.Duration {
	for _, c := range p.Checks {
		if c.Kind == measure.Test {
			return c.Timeout
		}
	}
	return 0
}
