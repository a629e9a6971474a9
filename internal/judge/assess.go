package judge

import (
	"context"

	"supervise/detector"
)

// Assess applies the rules. It reads all that the stages before it added and the
// history, and adds the assessment: alerts, class and recommendation.
type Assess struct{}

// About describes the stage.
func (Assess) About() About {
	return About{"assess", "all of the above; the history; the rules", "alerts, class and recommendation"}
}

// Apply applies the stage.
func (Assess) Apply(_ context.Context, c Case, v Verdict) (Verdict, error) {
	v.Assessment = c.assess(v)
	return v, nil
}

func (c Case) assess(v Verdict) detector.Assessment {
	return detector.Assess(c.History.Input(v.Iteration), c.Rules)
}
