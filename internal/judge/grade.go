package judge

import (
	"context"

	"supervise/selector"
)

// gradeSet scores the iteration. It reads the set with all that counts, that of the
// baseline and the weights, and adds the score. An iteration of another
// orchestrator keeps its recorded score.
func gradeSet(_ context.Context, c Case, v Verdict) (Verdict, error) {
	if v.Recorded == nil {
		v.Score = selector.Grade(v.JudgedSet(), c.History.Baseline.Set, c.Weights)
	}
	return v, nil
}
