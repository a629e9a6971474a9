package judge

import (
	"fmt"
	"strings"

	"supervise/internal/ledger"
	"supervise/metric"
)

// proofOf returns what the runs on the selected tree of iteration it prove. again is the second
// measurement, v has the results of original and hidden tests, and s is the change since the
// baseline, empty if it was not read.
func (j Judge) proofOf(h *History, it ledger.Iteration, again metric.Set, v ledger.Verification, s baseChange) *ledger.Proof {
	p := &ledger.Proof{Iteration: it.Number}
	twice, once := passesOf(it.Set.Tests, again.Tests)
	where := "twice on this tree"
	if v.CleanCopy != nil && len(v.CleanCopy.Differences) == 0 {
		where = "on this tree and in a clean copy of it"
		p.AddProven(once, "test", "passed in a clean copy of this tree (verification)")
	} else {
		p.AddProven(once, "test", "passed once on this tree (verification)")
	}
	p.AddProven(twice, "test", fmt.Sprintf("passed %s (iteration %d, verification)", where, it.Number))
	switch {
	case v.Goals != nil && v.Goals.NotRunReason == "":
		p.AddProven(v.Goals.Passed, "test", "passed as before the loop (original tests)")
	case s.evidence != nil && !s.evidence.TouchesTests():
		p.Proven = append(p.Proven, "no test changed")
	case s.evidence != nil:
		p.Trusted = append(p.Trusted, "changed tests, whose originals were not run")
	}
	if it.Number > 0 {
		addCleanCopy(p, it.CleanRoom)
	}
	if v.Hidden != nil && v.Hidden.Tests != nil {
		p.AddProven(v.Hidden.Tests.Counts().Passed, v.Hidden.Kind()+" test", "passed")
	}

	p.Trusted = append(p.Trusted, unmeasuredText(again)...)
	if where := it.ChangeCoverage.Untested(); where != "" {
		p.Trusted = append(p.Trusted, "changed lines that no test executes ("+where+")")
	}
	if s.evidence != nil && len(s.evidence.RunnerFiles) > 0 {
		p.Trusted = append(p.Trusted, "changed test configuration ("+strings.Join(s.evidence.RunnerFiles, ", ")+")")
	}
	flaky := again.Tests.Select(func(t metric.Test) bool { return h.Flaky[t.ID] })
	if len(flaky) > 0 {
		p.Trusted = append(p.Trusted, fmt.Sprintf("flaky tests (%d)", len(flaky)))
	}
	p.Trusted = append(p.Trusted, "the build settings and everything outside the tree")
	return p
}

// addCleanCopy adds what a clean copy of the base showed.
func addCleanCopy(p *ledger.Proof, r *ledger.CleanRoom) {
	if r == nil || r.NotRunReason != "" {
		return
	}
	tests, criterion := r.Tests, r.Criterion != ""
	for _, x := range r.Reliances {
		tests -= len(x.Tests)
		criterion = criterion && x.Criterion == ""
		p.Trusted = append(p.Trusted, x.String())
	}
	p.AddProven(tests, "test", "that failed before passed in a clean copy by product code alone")
	if criterion {
		p.Proven = append(p.Proven, "the criterion was met in a clean copy by product code alone")
	}
}

// passesOf returns how many tests passed in both runs on a tree, and how many in the second one only.
// A cached result is no run.
func passesOf(first, second *metric.Tests) (twice, once int) {
	if second == nil {
		return 0, 0
	}
	for _, t := range second.Cases {
		before, _ := first.Lookup(t.ID)
		switch {
		case t.Status != metric.Passed || t.Cached:
		case before.Status == metric.Passed && !before.Cached:
			twice++
		default:
			once++
		}
	}
	return twice, once
}

// unmeasuredText says what the checks do not measure, none if they measure everything.
func unmeasuredText(s metric.Set) []string {
	var missing []string
	if s.Build == nil {
		missing = append(missing, "build")
	}
	if s.Coverage == nil {
		missing = append(missing, "coverage")
	}
	if _, ok := s.Value(metric.ErrorCount); !ok {
		missing = append(missing, "errors")
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{strings.Join(missing, " and ") + " (not measured)"}
}
