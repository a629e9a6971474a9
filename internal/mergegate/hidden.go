package mergegate

import (
	"context"
	"fmt"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/selector"
)

// HiddenResults are the results of the hidden tests on the tree. They contain the names of the
// tests but not their failure texts, because the author of the change can read them.
type HiddenResults struct {
	Count   int      `json:"count"`
	Passed  int      `json:"passed"`
	Failing []string `json:"failing,omitempty"` // failed, or did not run
	NotRun  string   `json:"not_run,omitempty"` // why none of them ran, "" if they did
	Reused  bool     `json:"reused,omitempty"`  // the results are those of the base, since only tests changed
}

// newHiddenResults returns the results for the report, nil if there are no hidden tests.
func newHiddenResults(h *ledger.Hidden) *HiddenResults {
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

// String describes the results in one line, as in "3 of 4 pass; not TestA".
func (h HiddenResults) String() string {
	switch {
	case h.NotRun != "":
		return "not run: " + h.NotRun
	case h.Count == 0:
		return "none could be read"
	}
	text := fmt.Sprintf("%d of %d pass", h.Passed, h.Count)
	if len(h.Failing) > 0 {
		text += "; not " + listFiles(h.Failing)
	}
	if h.Reused {
		text += " (as on the base: only tests changed)"
	}
	return text
}

// baseHistory returns the history in which the base is the baseline. It runs the hidden tests on
// the base.
func (g *mergeGate) baseHistory(ctx context.Context, j judge.Judge) (*judge.History, error) {
	base := ledger.Iteration{Set: g.baseSet, Score: selector.Grade(g.baseSet, g.baseSet, g.settings.Weights), Snapshot: g.baseSnapshot, CheckChanges: g.baseChanges}
	switch {
	case j.Settings.Hidden.Dir == "":
	case g.baseSnapshot == "":
		g.addNote("the hidden tests did not run on the base, whose files are not here: which of them passed before is not known")
	default:
		g.OnProgress("running the hidden tests on the base")
		var err error
		if base.Hidden, err = j.HiddenBaseline(ctx, base); err != nil {
			return nil, err
		}
	}
	return judge.NewCommitHistory(base), nil
}

// checkHiddenRead returns an error if hidden tests could be read neither on the base nor on the
// tree. In that case their results are unknown, and no rule would report it.
func checkHiddenRead(h *ledger.Hidden, past *judge.History) error {
	if h == nil || h.NotRunReason != "" || h.Tests != nil && len(h.Tests.Cases)+len(h.Tests.Broken) > 0 {
		return nil
	}
	if base := past.Iterations[0].Hidden; base != nil && base.Tests != nil && len(base.Tests.Cases) > 0 {
		return nil
	}
	return fmt.Errorf("%w: no hidden test could be read: check hidden_tests.dir and hidden_tests.command", ErrUnmeasurable)
}
