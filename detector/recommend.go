package detector

import (
	"fmt"
	"slices"
	"strings"
)

// advice is a row of the table of recommendations. The first row whose condition is met
// applies. Its confidence is reduced by partialPenalty if something was not measured.
type advice struct {
	action     RecommendedAction
	confidence float64
	basis      string    // the reason for the confidence
	rule       string    // the only rule that leads to it; "" if several do
	when       condition // whether the row applies, and why
}

// condition reports whether a row of the table applies, and the reason.
type condition func(*judge, Assessment) (reason string, ok bool)

// partialPenalty is subtracted from the confidence if something was not measured.
const partialPenalty = .15

// The rules about cycles. The setting on_stall decides whether they end the loop.
const (
	InfiniteLoop  = "infinite_loop"
	MetricCycling = "metric_cycling"

	stuckLoopDetected = "stuck_loop_detected"

	cycling = "metric cycling, ZenML on agents in production (REF-076), docs/rules.md"
)

// advices is the table of recommendations. Its last row always applies.
var advices = []advice{
	{Rollback, .95, "two or more rules ask for the rollback", "", hasRollbacks(2)},
	{Rollback, .90, "one rule asks for the rollback", "", hasRollbacks(1)},
	{Stop, .90, "an infinite loop is confirmed", InfiniteLoop, hasAlert(InfiniteLoop, ForceTerminate)},
	{Escalate, .80, "the same error came again and again", stuckLoopDetected, hasAlert(stuckLoopDetected, AskHuman)},
	{Stop, .80, "a rule is set to end the loop", "", hasAlert("", ForceTerminate)},
	{Escalate, .80, "a rule is set to ask a person", "", hasAlert("", AskHuman)},
	{Rollback, .80, "a regression that lost too much of the best score", "", (*judge).farBelowBest},
	{Escalate, .80, "a cycle is confirmed", MetricCycling, hasAlert(MetricCycling, AskHuman)},
	{Stop, .80, "a stall", "", isStalled},
	{Continue, .60, "a regression, and no rule asks for a rollback", "", isToleratedRegression},
	{Continue, .80, "the class of the iteration alone", "", always},
}

// classReasons are the reasons to continue if only the class decides.
var classReasons = map[Class]string{
	Baseline:   "The baseline is measured",
	Forward:    "Forward progress",
	Plateau:    "Neither better nor worse than before",
	Regression: "A small regression, which no rule undoes",
	Stalled:    "No meaningful progress",
}

// recommend returns the recommendation of the first row that applies.
func (j *judge) recommend(a Assessment) Recommendation {
	for _, row := range advices {
		reason, ok := row.when(j, a)
		if !ok {
			continue
		}
		r := Recommendation{Action: row.action, Rule: row.rule, Reason: reason, Confidence: row.confidence}
		r.Parts = []ConfidencePart{{row.basis, row.confidence}}
		if j.now.IsPartial() {
			r.Confidence -= partialPenalty
			r.Parts = append(r.Parts, ConfidencePart{"something was not measured", -partialPenalty})
		}
		if r.Action == Rollback {
			r.Target = j.rollbackTarget()
		}
		return r
	}
	return Recommendation{Action: Continue}
}

// rollbackTarget returns the number of the iteration whose tree a rollback restores.
func (j *judge) rollbackTarget() int {
	if j.opts.RollbackTo == ToBest && j.in.Best != nil {
		return j.in.Best.Iteration
	}
	return j.in.Previous.Iteration
}

// isStalled is met if the iteration ends a stall.
func isStalled(_ *judge, a Assessment) (string, bool) {
	if a.Stall == nil {
		return "", false
	}
	return a.Stall.Message(), true
}

// isToleratedRegression is met for a regression that no rule rolls back.
func isToleratedRegression(_ *judge, a Assessment) (string, bool) {
	i := slices.IndexFunc(a.Alerts, func(alert Alert) bool { return !alert.IsAboutNew() })
	if i < 0 || a.Class != Regression {
		return "", false
	}
	return "Regression without a reason to undo it: " + a.Alerts[i].Message(), true
}

// always is met, by the class of the iteration.
func always(_ *judge, a Assessment) (string, bool) { return classReasons[a.Class], true }

// hasRollbacks is met if at least that many alerts roll the iteration back.
func hasRollbacks(atLeast int) condition {
	return func(_ *judge, a Assessment) (string, bool) {
		var messages []string
		for _, alert := range a.Alerts {
			if rollsBack([]Alert{alert}) {
				messages = append(messages, alert.Message())
			}
		}
		return strings.Join(messages, "; "), len(messages) >= atLeast
	}
}

// hasAlert is met by the first alert of a rule with the action. If rule is empty, it is any
// rule except for that of early cycles, which has a later row.
func hasAlert(rule string, action Action) condition {
	return func(_ *judge, a Assessment) (string, bool) {
		for _, alert := range a.Alerts {
			isEarlyCycle := alert.Rule == MetricCycling && action == AskHuman
			isOfRule := alert.Rule == rule || rule == "" && !isEarlyCycle
			if isOfRule && alert.Action == action {
				return alert.Message(), true
			}
		}
		return "", false
	}
}

// farBelowBest reports a regression that lost too much of the best score. It does not apply
// without rules. While the baseline is the best, more passing tests make up for the score;
// if tests are gone for a reason, the scores are about different tests.
func (j *judge) farBelowBest(a Assessment) (string, bool) {
	best, now := j.in.Best, j.in.Current
	if j.opts.Mode == ModeOff || a.Class != Regression || best == nil || !best.Scored || !now.Scored {
		return "", false
	}
	if now.Score >= best.Score-j.opts.BestMargin-epsilon {
		return "", false
	}
	if b := a.Balance; best.Iteration == 0 && b != nil && (b.Passing > 0 || b.Settled > 0) {
		return "", false
	}
	return fmt.Sprintf("Quality fell to %.2f, more than %.2f below the %.2f of iteration %d", now.Score, j.opts.BestMargin, best.Score, best.Iteration), true
}
