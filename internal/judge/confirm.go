package judge

import (
	"context"
	"fmt"

	"supervise/internal/ledger"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// confirmFailures runs the tests again that passed before and fail now. It reads the set and
// that of the tree before, and adds which of the tests are flaky: those count as passed.
func confirmFailures(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	found, err := c.Meter.Confirm(ctx, c.History.Previous.Set, v.Set)
	if err != nil || len(found.Suspects) == 0 {
		return v, err
	}
	v.Confirmation = &ledger.Confirmation{
		Suspects: found.Suspects, Flaky: found.Flaky, Runs: c.Mask.Checks(treecopy.CheckRuns(found.Runs)), NotRunReason: c.Mask.String(found.Refused),
	}
	if len(found.Flaky) == 0 {
		return v, nil
	}
	return v.withSet(confirmStage, CountFlakyAsPassed(v.Set, found.Flaky), fmt.Sprintf("%d failing tests passed when run again", len(found.Flaky))), nil
}

// CountFlakyAsPassed returns the set in which flaky tests count as passed.
func CountFlakyAsPassed(set metric.Set, flaky []metric.ID) metric.Set {
	for _, id := range flaky {
		if t, ok := set.Tests.Lookup(id); ok {
			t.Status, t.Flaky = metric.Passed, true
			set.Tests = set.Tests.WithTest(t)
		}
	}
	return set
}
