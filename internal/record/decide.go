package record

import (
	"fmt"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/selector"
)

// Question holds the conditions under which an orchestrator wants to stop.
type Question struct {
	MaxIterations     int   `json:"max_iterations"`      // 0 means no limit
	CriterionMet      *bool `json:"criterion_met"`       // nil means unknown
	StopOnDiminishing bool  `json:"stop_on_diminishing"` // stop when quality hardly grows
}

// Decide recommends what to do after the last iteration. It starts from the recommendation of
// the detector and the retries of the loop. Unless these ask for a rollback or a person, the
// conditions of q may turn the recommendation into a stop.
func (v View) Decide(q Question) Recommendation {
	if len(v.Iterations) == 0 {
		return Recommendation{Action: detector.Continue, Reason: "Nothing is recorded yet", Confidence: 1}
	}
	last := v.Iterations[len(v.Iterations)-1]
	r := v.recommendationFor(last)
	r.Diminishing = selector.FindDiminishingReturns(v.candidates(), selector.SmallGains, selector.SmallGain)
	if r.Action == detector.Rollback || r.Action == detector.Escalate {
		return r
	}

	for _, stop := range []struct {
		when   bool
		reason string
	}{
		{q.CriterionMet != nil && *q.CriterionMet, "The criterion is met"},
		{q.MaxIterations > 0 && last.Number >= q.MaxIterations, fmt.Sprintf("The limit of %d iterations is reached", q.MaxIterations)},
		{q.StopOnDiminishing && r.Diminishing != nil, "Diminishing returns: quality grows by less than 5 points each time"},
	} {
		if stop.when && r.Action != detector.Stop {
			r.Action, r.Reason, r.Confidence = detector.Stop, stop.reason, 1
		}
	}
	return r
}

// recommendationFor returns the recommendation for an iteration. It is an escalation if the
// iteration was rejected and no retry is left.
func (v View) recommendationFor(it ledger.Iteration) Recommendation {
	given := it.Assessment.Recommendation
	r := Recommendation{Action: given.Action, Reason: given.Reason, Confidence: given.Confidence, MaxRetries: v.Settings.Recovery.MaxRetries}
	if it.Number == 0 {
		return Recommendation{Action: detector.Continue, Reason: "The baseline is recorded", Confidence: 1}
	}
	if it.Interrupted {
		return Recommendation{Action: detector.Continue, Reason: "The last iteration was interrupted before it could be judged", Confidence: 1}
	}
	if given.Action == detector.Rollback {
		r.Target = new(given.Target)
	}
	if s := it.Assessment.Stall; s != nil {
		r.Alternatives = s.Alternatives()
	}
	if d := it.Decision; d != nil {
		r.Retry, r.Diagnosis, r.Advice = d.Retry, d.Diagnosis, d.Advice
		if it.Rejected && d.Move == string(recovery.Escalate) {
			r.Action, r.Reason = detector.Escalate, d.Reason
		}
	}
	return r
}

// Answer returns the messages about the last iteration and the decision: a ProgressReport, a
// RegressionAlert if there is one and, if the loop has to stop or is complete, the
// BestIterationSelection.
func (v View) Answer(m Message) ([]any, error) {
	d := v.Decide(m.Question)
	if len(v.Iterations) == 0 {
		return nil, invalid("loop %s has no iterations yet", v.State.LoopID)
	}
	out := v.answerFor(v.Iterations[len(v.Iterations)-1], d)
	if d.Action != detector.Stop && !m.Complete {
		return out, nil
	}
	v, choice, err := v.Choose(SelectionRequest{Mode: m.Mode, Threshold: m.Threshold})
	if err != nil {
		return out, err
	}
	doc, err := v.SelectionMessage(choice, "", nil)
	return append(out, doc), err
}

// answerFor returns the ProgressReport of an iteration and its RegressionAlert, if any.
func (v View) answerFor(it ledger.Iteration, d Recommendation) []any {
	out := []any{v.progressReport(it, d)}
	if alert, ok := v.regressionAlert(it, d); ok {
		out = append(out, alert)
	}
	return out
}

// Answer returns the messages that answer the record.
func (r Result) Answer() []any {
	return r.View.answerFor(r.Iteration, r.View.until(r.Iteration.Number+1).Decide(Question{}))
}
