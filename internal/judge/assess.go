package judge

import (
	"context"

	"supervise/detector"
)

// assessVerdict applies the rules. It reads all that the stages before it added and the
// history, and adds the assessment: alerts, class and recommendation.
func assessVerdict(_ context.Context, c Case, v Verdict) (Verdict, error) {
	v.Assessment = c.assess(v)
	return v, nil
}

func (c Case) assess(v Verdict) detector.Assessment {
	return detector.Assess(c.History.Input(v.Iteration), c.Rules)
}
