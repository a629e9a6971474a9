package mergegate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/recount"
	"supervise/internal/report"
	"supervise/metric"
)

// recount counts what the linters find, and what is covered, without what came in the
// change and keeps it from them.
func (g *gate) recount(ctx context.Context) error {
	set := &g.now.set
	lint, cover := set.Lint != nil && loop.Silences(g.change), set.Coverage != nil && loop.Excludes(g.change)
	if build := set.Build; !lint && !cover || build != nil && build.Status == metric.BuildFailure {
		return nil
	}
	changes, err := g.store.Changes(ctx, g.was, g.is)
	if err != nil {
		return err
	}
	r := recount.Recount{
		Workspace: g.workspace(), Was: g.was, Is: g.is, Changes: changes, Rules: g.settings.Integrity, Measured: set.Coverage, Before: g.before.Coverage,
	}
	if lint {
		g.OnProgress("running the linters without the new comments that silence them")
		if g.now.silenced, err = r.Lint(ctx); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		if q := g.now.silenced; q != nil {
			q.Findings = g.mask().Findings(q.Findings)
			g.noteSilenced(q)
		}
	}
	if cover {
		g.OnProgress("running the tests without what takes code out of the coverage")
		undone, err := r.Exclusions(ctx)
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		if undone.None() {
			return nil
		}
		x := undone.Record(set.Coverage)
		counted, err := r.Coverage(ctx, undone, x)
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		loop.Price(g.change.Tampering, x, counted)
		g.noteExcluded(x, counted)
		g.now.excluded, set.Coverage = x, counted
	}
	return nil
}

func (g *gate) noteSilenced(q *ledger.Silenced) {
	switch {
	case q.Why != "":
		g.note("new comments silence linters in %s; what they hide is not known: %s", names(q.Files), q.Why)
	case len(q.Findings) > 0:
		g.note("new comments silence linters in %s and hide %s, which count", names(q.Files), report.Count(len(q.Findings), "finding", "findings"))
	}
}

func (g *gate) noteExcluded(x *ledger.Excluded, counted *metric.Coverage) {
	with, _ := x.Measured.Percent()
	without, _ := counted.Percent()
	switch {
	case x.Why != "":
		g.note("%s takes code out of the coverage; what it is without is not known, so that it counts as no better than that of the base (%.1f %%, measured %.1f %%): %s", names(x.Files), without, with, x.Why)
	case without < with:
		g.note("%s takes code out of the coverage, which counts as %.1f %%, as it is without, and not as %.1f %%", names(x.Files), without, with)
	}
}

// maskAll masks the secrets in the output of checks and in the reasons.
func (g *gate) maskAll() {
	m := g.mask()
	g.now.runs = m.Checks(g.now.runs)
	if q := g.now.silenced; q != nil {
		q.Why = m.String(q.Why)
		q.Runs = m.Checks(q.Runs)
	}
	if x := g.now.excluded; x != nil {
		x.Why = m.String(x.Why)
		x.Runs = m.Checks(x.Runs)
	}
	if h := g.now.heldOut; h != nil {
		h.Refused = m.String(h.Refused)
		h.Runs = m.Checks(h.Runs)
		for i, r := range h.Results {
			h.Results[i].Why = m.String(r.Why)
		}
	}
	for i, n := range g.notes {
		g.notes[i] = m.String(n)
	}
}

// names lists a few files.
func names(files []string) string {
	if len(files) > maxPlaces {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:maxPlaces], ", "), len(files)-maxPlaces)
	}
	return strings.Join(files, ", ")
}
