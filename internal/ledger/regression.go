package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/approval"
)

// Regression is a finding that cost an iteration, or that somebody let happen, and what
// came of it.
type Regression struct {
	ID               string          `json:"event_id"` // reg-001
	Timestamp        time.Time       `json:"timestamp"`
	Iteration        int             `json:"iteration"`
	Type             string          `json:"regression_type"`
	Severity         string          `json:"severity"`
	Message          string          `json:"message"`
	Tests            []string        `json:"tests,omitempty"`
	Recovery         bool            `json:"recovery_protocol_invoked"` // the tree was put back, or was to be
	Outcome          string          `json:"recovery_outcome"`
	AskedHuman       bool            `json:"human_gate_invoked"`
	Answer           approval.Choice `json:"human_decision,omitempty"`
	RejectedSnapshot string          `json:"rejected_snapshot"`
}

// Rejections counts the regressions that cost an iteration.
func (s State) Rejections() (n int) {
	for _, r := range s.Regressions {
		if r.Recovery {
			n++
		}
	}
	return n
}

// NewRegression is the n-th regression, which the iteration is: it was rejected, or a
// finding that would have cost it was approved or acknowledged. It is nil for others.
// outcome is what came of a rejection.
func NewRegression(it Iteration, n int, outcome string) *Regression {
	weighty := slices.DeleteFunc(slices.Clone(it.Assessment.Alerts), func(a detector.Alert) bool {
		return it.Rejected && !a.CountsAtLeast(detector.High) || !it.Rejected && !letHappen(a)
	})
	if !it.Rejected && len(weighty) == 0 {
		return nil
	}
	r := &Regression{ID: fmt.Sprintf("reg-%03d", n), Timestamp: it.EndedAt, Iteration: it.Number, Recovery: it.Rejected, Outcome: outcome}
	r.about(weighty)
	if list := it.Assessment.Alerts; it.Rejected && len(list) > 0 {
		r.Type, r.Severity = list[0].Type, list[0].Severity.String()
	}
	if it.Rejected && it.Snapshot != "" {
		r.RejectedSnapshot = it.Snapshot.Name()
	}
	if !it.Rejected {
		k := weighty[0].Acknowledged
		r.Outcome = "accepted, acknowledged as " + k.ID + ": " + k.Reason
	}
	if d := it.Decision; d != nil && d.Approval != nil {
		r.AskedHuman, r.Answer = true, d.Approval.Answer.Choice
		if !it.Rejected {
			r.Outcome = "accepted"
		}
		r.Outcome += ", human " + d.Approval.Answer.String()
	}
	return r
}

// letHappen reports whether somebody accepted a finding that would have cost the iteration.
// Against the baseline it was reported before.
func letHappen(a detector.Alert) bool {
	return a.Acknowledged != nil && (a.Acknowledged.Severity >= detector.Critical || a.Acknowledged.ID == detector.ApprovedInLoop) && a.Against != detector.AgainstBaseline
}

func (r *Regression) about(alerts []detector.Alert) {
	var messages []string
	for _, a := range alerts {
		messages = append(messages, a.Message())
		for _, id := range a.Tests {
			r.Tests = append(r.Tests, id.String())
		}
		if k := a.Acknowledged; r.Type == "" && k != nil {
			r.Type, r.Severity = a.Type, k.Severity.String()
		}
	}
	slices.Sort(r.Tests)
	r.Tests, r.Message = slices.Compact(r.Tests), strings.Join(messages, "; ")
}
