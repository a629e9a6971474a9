package loop

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// silencing is the type of the finding that comments came which silence linters.
const silencing = "suppression_added"

// unsilenced counts what the linters find without the comments that came in the
// iteration and silence them: in a tree of its own, where their words are crossed
// out. It is nil where none came, or no linter was read.
func (s *session) unsilenced(ctx context.Context, w *work) (*ledger.Silenced, error) {
	if w.it.Set.Lint == nil || !slices.ContainsFunc(w.it.Evidence.Tampering, isSilencing) {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	files, err := s.changedFiles(ctx, w.start.ID, w.it.Snapshot, w.changes)
	if err != nil {
		return nil, err
	}
	texts := integrity.Unsilenced(files)
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	out, err := s.lintWithout(ctx, w.it.Snapshot, texts)
	if err != nil {
		return nil, fmt.Errorf("lint without new comments that silence: %w", err)
	}
	out.Why = s.masker.String(out.Why)
	for i, r := range out.Runs {
		out.Runs[i].Output, out.Runs[i].Why = s.masker.String(r.Output), s.masker.String(r.Why)
	}
	out.Findings = append([]metric.Finding{}, s.maskedSet(metric.Set{Lint: &metric.Lint{Findings: out.Findings}}).Lint.Findings...)
	return out, nil
}

// lintWithout runs the linters over a tree with other texts of some files. Where
// they find anything, they run once more over the tree as it is, in the same place:
// what they find there as well is not due to the texts.
func (s *session) lintWithout(ctx context.Context, id snapshot.ID, texts map[string][]byte) (*ledger.Silenced, error) {
	out := &ledger.Silenced{Files: slices.Sorted(maps.Keys(texts))}
	return out, s.inCopy(ctx, id, texts, func(c copied) error {
		without, err := s.lintIn(ctx, c.trialTree, out)
		if err != nil || without == nil || len(without.Findings) == 0 {
			return err
		}
		if err := c.asIs(ctx); err != nil {
			return err
		}
		with, err := s.lintIn(ctx, c.trialTree, out)
		if err == nil && out.Why == "" {
			out.Findings = appeared(without, with)
		}
		return err
	})
}

// lintIn runs the linters in the tree.
func (s *session) lintIn(ctx context.Context, tree trialTree, out *ledger.Silenced) (*metric.Lint, error) {
	found, err := s.meter.LintElsewhere(ctx, tree.project())
	out.Runs = append(out.Runs, Runs(found.Runs)...)
	out.Why = found.Why
	return found.Lint, err
}

// appeared returns the findings that are not among others. The lines are the same
// in both.
func appeared(without, with *metric.Lint) []metric.Finding {
	type place struct {
		tool, rule, file string
		level            metric.Level
		line             int
	}
	at := func(f metric.Finding) place { return place{f.Tool, f.Rule, f.File, f.Level, f.Line} }
	count := map[place]int{}
	if with != nil {
		for _, f := range with.Findings {
			count[at(f)]++
		}
	}
	var out []metric.Finding
	for _, f := range without.Findings {
		if count[at(f)]--; count[at(f)] < 0 {
			out = append(out, f)
		}
	}
	return out
}

func isSilencing(t detector.Tampering) bool { return t.Type == silencing }
