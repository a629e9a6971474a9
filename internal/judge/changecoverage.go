package judge

import (
	"context"
	"fmt"

	"supervise/internal/evidence"
	"supervise/internal/ledger"
)

// coverChange finds the lines of product code that changed since the base, and those of them that tests
// execute.
func coverChange(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	v.ChangeCoverage = nil
	base, before := c.measuredBase(v)
	switch {
	case v.Snapshot == "", c.isUnbuiltChange(v):
		return v, nil
	case base == "" && c.Subject == Change:
		v.ChangeCoverage = &ledger.ChangeCoverage{Unknown: "the files of the base are missing", Min: c.MinChangeCoverage}
		return v, nil
	case base == "":
		return v, nil
	}
	change := evidence.CoverageChange{
		Before: before.Coverage, Now: v.Set.Coverage, Changes: c.Tree.Changes, Read: evidence.NewSnapshotReader(ctx, c.Store, base, v.Snapshot),
		Base: evidence.ProjectTree(ctx, c.Store, base),
	}
	var err error
	if base != v.Start {
		change.Changes, err = c.Store.Changes(ctx, base, v.Snapshot)
	}
	if err != nil {
		return v, fmt.Errorf("compare with the base: %w", err)
	}
	files, err := change.ChangedLines()
	v.ChangeCoverage = ledger.NewChangeCoverage(files, change.UnknownLines(), c.MinChangeCoverage)
	return v, err
}
