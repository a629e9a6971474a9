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
	out.Why, out.Runs = s.masker.String(out.Why), s.masker.Checks(out.Runs)
	out.Findings = append([]metric.Finding{}, s.masker.Findings(out.Findings)...)
	return out, nil
}

// Silences reports whether comments came that silence linters.
func Silences(e ledger.Evidence) bool { return slices.ContainsFunc(e.Tampering, isSilencing) }

func isSilencing(t detector.Tampering) bool { return t.Type == silencing }
