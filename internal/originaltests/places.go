package originaltests

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/metric"
)

// maxDependencies bounds the files that tests depend on.
const maxDependencies = 50

// addDependencies records, for each restored file without tests, the results of the tests that
// depend on it.
func (r *trialRun) addDependencies(ctx context.Context) {
	withTests := r.filesWithTests()
	list := slices.DeleteFunc(slices.Clone(r.out.RestoredFiles), func(f string) bool { return withTests[f] })
	if len(list) == 0 || len(list) > maxDependencies || r.BaseTests == nil {
		return
	}
	base, ok := evidence.ReadTestDependencies(ctx, r.Store, r.Base)
	if !ok {
		return
	}
	for _, file := range list {
		r.out.Dependencies = append(r.out.Dependencies, r.dependencyResult(ctx, file, base))
	}
}

// dependencyResult returns the results of the tests that depend on a file: how many passed, or, if
// not all passed, why that proves nothing.
func (r *trialRun) dependencyResult(ctx context.Context, file string, base evidence.TestDependencies) detector.DependencyResult {
	out := detector.DependencyResult{File: file}
	tests, everyTest := r.dependentTests(file, base)
	for _, t := range tests {
		v, ran := r.verdicts[t.ID]
		switch {
		case v.outcome == detector.Passed:
			out.Passed++
		case ran:
			out.Why = t.ID.String() + ": " + v.outcome.String()
		case everyTest && (t.Flaky || r.Flaky[t.ID]): // many others are left
		default:
			out.Why = t.ID.String() + ": it was not run"
		}
	}
	switch {
	case out.Why != "" || ctx.Err() != nil:
		out.Passed = 0
	case out.Passed == 0:
		out.Why = "no test is known that depends on it"
	}
	return out
}

// dependentTests returns the tests that depend on a file, among those that ran before and do not
// fail now. everyTest means that all tests depend on it.
func (r *trialRun) dependentTests(file string, base evidence.TestDependencies) (tests []metric.Test, everyTest bool) {
	users, everyTest := base.TestFilesUsing(r.Evidence.OldPath(file))
	var defs []detector.TestSource
	for _, u := range users {
		defs = append(defs, evidence.TestsIn(u, base[u])...)
	}
	homes := detector.DefinitionsOf(r.BaseTests, defs)
	for _, t := range detector.TestsExpecting(file, r.BaseTests) {
		homes[t.ID] = detector.TestSource{}
	}
	for _, t := range r.BaseTests.Cases {
		if _, depends := homes[t.ID]; (everyTest || depends) && t.Status != metric.Skipped && !r.failsNow(t.ID) {
			tests = append(tests, t)
		}
	}
	return tests, everyTest
}
