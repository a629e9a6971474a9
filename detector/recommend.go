package detector

import (
	"fmt"
	"strings"
)

// advice is a row of the table of recommendations; the first whose when holds is
// given. Confidence falls by partialPenalty when something was not measured.
type advice struct {
	action     Recommend
	confidence float64
	when       func(*judge, Assessment) (reason string, ok bool)
}

const partialPenalty = .15

var advices = []advice{
	{Rollback, .95, func(_ *judge, a Assessment) (string, bool) { return rollbackReason(a, 2) }},
	{Rollback, .90, func(_ *judge, a Assessment) (string, bool) { return rollbackReason(a, 1) }},
	{Stop, .90, func(_ *judge, a Assessment) (string, bool) { return alertReason(a, "infinite_loop") }},
	{Escalate, .80, func(_ *judge, a Assessment) (string, bool) { return alertReason(a, "metric_cycling") }},
	{Escalate, .80, func(_ *judge, a Assessment) (string, bool) { return alertReason(a, "stuck_loop_detected") }},
	{Rollback, .80, (*judge).farBelowBest},
	{Stop, .80, func(_ *judge, a Assessment) (string, bool) {
		if a.Stall == nil {
			return "", false
		}
		return a.Stall.Message(), true
	}},
	{Continue, .60, func(_ *judge, a Assessment) (string, bool) {
		if len(a.Alerts) == 0 || a.Class != Regression {
			return "", false
		}
		return "Regression without a reason to undo it: " + a.Alerts[0].Message(), true
	}},
	{Continue, .80, func(_ *judge, a Assessment) (string, bool) { return classReasons[a.Class], true }},
}

var classReasons = map[Class]string{
	Baseline:   "The baseline is measured",
	Forward:    "Forward progress",
	Plateau:    "Neither better nor worse than before",
	Regression: "A small regression, which no rule undoes",
	Stalled:    "No meaningful progress",
}

func (j *judge) recommend(a Assessment) Recommendation {
	for _, row := range advices {
		reason, ok := row.when(j, a)
		if !ok {
			continue
		}
		r := Recommendation{Action: row.action, Reason: reason, Confidence: row.confidence}
		if j.now.Partial() {
			r.Confidence -= partialPenalty
		}
		if r.Action == Rollback {
			r.Target = j.target()
		}
		return r
	}
	return Recommendation{Action: Continue}
}

func (j *judge) target() int {
	if j.opts.RollbackTo == ToBest && j.in.Best != nil {
		return j.in.Best.Iteration
	}
	return j.in.Previous.Iteration
}

// rollbackReason names the alerts that undo the iteration, if there are enough.
func rollbackReason(a Assessment, atLeast int) (string, bool) {
	var messages []string
	for _, alert := range a.Alerts {
		if undone([]Alert{alert}) {
			messages = append(messages, alert.Message())
		}
	}
	return strings.Join(messages, "; "), len(messages) >= atLeast
}

func alertReason(a Assessment, rule string) (string, bool) {
	for _, alert := range a.Alerts {
		if alert.Rule == rule {
			return alert.Message(), true
		}
	}
	return "", false
}

// farBelowBest undoes a regression that lost too much of the best score.
func (j *judge) farBelowBest(a Assessment) (string, bool) {
	best, now := j.in.Best, j.in.Current
	if a.Class != Regression || best == nil || !best.Scored || !now.Scored || now.Score >= best.Score-j.opts.BestMargin-epsilon {
		return "", false
	}
	return fmt.Sprintf("Quality fell to %.2f, more than %.2f below the %.2f of iteration %d", now.Score, j.opts.BestMargin, best.Score, best.Iteration), true
}
