package loop

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// silencing is the type of the finding that comments came which silence linters.
const silencing = "suppression_added"

// unsilenced counts what the linters find without the comments that came in the
// iteration and silence them: in a tree of its own, where their words are crossed
// out. It is nil where none came, or no linter was read.
func (s *session) unsilenced(ctx context.Context, w *work) (*ledger.Silenced, error) {
	if w.it.Set.Lint == nil || !Silences(*w.it.Evidence) {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	out, err := s.recount(w.start.ID, w).Lint(ctx)
	if out == nil || err != nil {
		return nil, err
	}
	out.Why = s.masker.String(out.Why)
	MaskRuns(s.masker, out.Runs)
	out.Findings = append([]metric.Finding{}, s.maskedSet(metric.Set{Lint: &metric.Lint{Findings: out.Findings}}).Lint.Findings...)
	return out, nil
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

// Silences reports whether comments came that silence linters.
func Silences(e ledger.Evidence) bool { return slices.ContainsFunc(e.Tampering, isSilencing) }

func isSilencing(t detector.Tampering) bool { return t.Type == silencing }
