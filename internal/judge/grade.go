package judge

import (
	"context"

	"supervise/selector"
)

// Grade scores the iteration. It reads the set with all that counts, that of the
// baseline and the weights, and adds the score. An iteration of another
// orchestrator keeps its recorded score.
type Grade struct{}

// About describes the stage.
func (Grade) About() About {
	return About{"grade", "the settled metrics and the baseline; the weights", "the score"}
}

// Apply applies the stage.
func (Grade) Apply(_ context.Context, c Case, v Verdict) (Verdict, error) {
	if v.Recorded == nil {
		v.Score = selector.Grade(v.JudgedSet(), c.History.Baseline.Set, c.Weights)
	}
	return v, nil
}
