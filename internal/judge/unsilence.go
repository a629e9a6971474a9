package judge

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// revealSilenced runs the linters without the suppression comments that the change added.
// It reads the evidence and the lint section, and adds the findings that the comments
// hide: these count.
func revealSilenced(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	if v.Set.Lint == nil || !addsSuppressions(*v.Evidence) || c.isUnbuiltChange(v) {
		return v, nil
	}
	c.progress("running the linters without the new comments that silence them")
	out, err := c.remeasurement(v, v.Start, c.Tree.Changes).Lint(ctx)
	if out == nil || err != nil {
		return v, err
	}
	out.Why, out.Runs = c.Mask.String(out.Why), c.Mask.Checks(out.Runs)
	out.Findings = append([]metric.Finding{}, c.Mask.Findings(out.Findings)...)
	v.Silenced = out
	if len(out.Findings) == 0 {
		return v, nil
	}
	return v.withSet(unsilenceStage, v.Set, fmt.Sprintf("new comments hide %d lint findings", len(out.Findings))), nil
}

// addsSuppressions reports whether the change added comments that silence linters.
func addsSuppressions(e ledger.Evidence) bool {
	return slices.ContainsFunc(e.Tampering, func(t detector.Tampering) bool { return t.Type == "suppression_added" })
}
