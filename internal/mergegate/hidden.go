package mergegate

import (
	"context"
	"fmt"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/selector"
)

// HiddenResults is how the hidden tests ended on the tree: their names, and nothing of their
// text, for the author of the change reads it.
type HiddenResults struct {
	Count   int      `json:"count"`
	Passed  int      `json:"passed"`
	Failing []string `json:"failing,omitempty"` // or did not run
	NotRun  string   `json:"not_run,omitempty"` // why none of them ran
	Reused  bool     `json:"reused,omitempty"`  // only tests changed: the results are those of the base
}

func hiddenOf(h *ledger.Hidden) *HiddenResults {
	if h == nil {
		return nil
	}
	out := &HiddenResults{NotRun: h.NotRunReason, Reused: h.Reused}
	if h.Tests == nil {
		return out
	}
	counts := h.Tests.Counts()
	out.Count, out.Passed = counts.Count, counts.Passed
	for _, c := range h.Tests.Cases {
		if c.Failed() {
			out.Failing = append(out.Failing, c.ID.String())
		}
	}
	return out
}

// String describes the result in one line.
func (h HiddenResults) String() string {
	switch {
	case h.NotRun != "":
		return "not run: " + h.NotRun
	case h.Count == 0:
		return "none could be read"
	}
	text := fmt.Sprintf("%d of %d pass", h.Passed, h.Count)
	if len(h.Failing) > 0 {
		text += "; not " + names(h.Failing)
	}
	if h.Reused {
		text += " (as on the base: only tests changed)"
	}
	return text
}

// past is the history of a change: the base, as if it were the baseline of a loop.
func (g *gate) past(ctx context.Context, j judge.Judge) (*judge.History, error) {
	base := ledger.Iteration{Set: g.before, Score: selector.Grade(g.before, g.before, g.settings.Weights), Snapshot: g.was}
	switch {
	case j.Settings.Hidden.Dir == "":
	case g.was == "":
		g.note("the hidden tests did not run on the base, whose files are not here: which of them passed before is not known")
	default:
		g.OnProgress("running the hidden tests on the base")
		var err error
		if base.Hidden, err = j.HiddenBaseline(ctx, base); err != nil {
			return nil, err
		}
	}
	return judge.NewCommitHistory(base), nil
}

// hiddenUnknown is an error if hidden tests could be read neither on the base nor on the
// tree: their results are unknown then, and no rule says so.
func hiddenUnknown(h *ledger.Hidden, past *judge.History) error {
	if h == nil || h.NotRunReason != "" || h.Tests != nil && len(h.Tests.Cases)+len(h.Tests.Broken) > 0 {
		return nil
	}
	if base := past.Iterations[0].Hidden; base != nil && base.Tests != nil && len(base.Tests.Cases) > 0 {
		return nil
	}
	return fmt.Errorf("%w: no hidden test could be read: check hidden_tests.dir and hidden_tests.command", ErrUnmeasurable)
}
