package mergegate

import (
	"context"
	"strings"

	"supervise/detector"
	"supervise/internal/review"
	"supervise/runner"
)

// reviewer returns the reviewer agent, nil if none is configured or it cannot run.
func (g *mergeGate) reviewer(ctx context.Context) *review.Reviewer {
	o := g.settings.Reviewer
	switch {
	case o.Agent == "":
		return nil
	case g.baseSnapshot == "":
		g.addNote("the reviewer was not asked: the files of the base are not here")
		return nil
	case runner.CheckLandlock() != nil:
		g.addNote("this system cannot keep the reviewer from writing to the working tree: %v", runner.CheckLandlock())
	}
	return &review.Reviewer{
		Options: o, Task: g.commitMessages(ctx), Env: g.Env, ProtectedDirs: []string{g.State}, Masker: g.mask().Masker,
	}
}

// commitMessages returns the commit messages of the change as the task for the reviewer, "" if
// there are none.
func (g *mergeGate) commitMessages(ctx context.Context) string {
	if g.base.Commit == "" {
		return ""
	}
	out, err := g.repo.git(ctx, nil, "log", "--format=%B", "--no-show-signature", "--max-count=50", g.base.Commit+"..HEAD", "--")
	if err != nil || strings.TrimSpace(out) == "" { // a shallow clone, or a change that is not committed
		return ""
	}
	return "The messages of the commits, by the author of the change:\n\n" + out
}

// reviewLocations returns the locations of a finding of the reviewer, nil for other findings.
func (g *mergeGate) reviewLocations(a detector.Alert) []Location {
	if g.verdict.Review == nil || !strings.HasPrefix(a.Rule, detector.ReviewPrefix) {
		return nil
	}
	for _, f := range g.verdict.Review.Findings {
		if (detector.ReviewFinding{File: f.File, Line: f.Line, Reason: f.Reason}).Text() == a.Values.Why {
			return []Location{{File: f.File, Line: f.Line, Removed: g.isRemoved(f.File)}}
		}
	}
	return nil
}
