package judge

import (
	"context"

	"supervise/internal/conceal"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Prove applies only the stages that run tests again, to a tree that was measured
// and compared: its set and evidence are those that count.
func (j Judge) Prove(ctx context.Context, t Tree, h *History) (Verdict, error) {
	return j.apply(ctx, stagesNamed("goals", "power", "conceal"), Case{j, t, h}, Verdict{Iteration: t.Iteration, Measured: t.Set})
}

// CanProve reports whether [Judge.Prove] has anything to look at: a change of tests, or
// code that may look for them. The error is that of read.
func CanProve(e *ledger.Evidence, changes []snapshot.Change, read evidence.Reader) (bool, error) {
	if e.TouchesTests() {
		return true, nil
	}
	signs, err := conceal.FindSigns(changes, testFilesOf(e), read)
	return len(signs) > 0, err
}
