package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/approval"
)

// Regression is a finding that rejected an iteration, or that the user accepted, and its
// outcome.
type Regression struct {
	ID               string          `json:"event_id"` // reg-001
	Timestamp        time.Time       `json:"timestamp"`
	Iteration        int             `json:"iteration"`
	Type             string          `json:"regression_type"`
	Severity         string          `json:"severity"`
	Message          string          `json:"message"`
	Tests            []string        `json:"tests,omitempty"`
	Recovery         bool            `json:"recovery_protocol_invoked"` // the tree was, or had to be, restored
	Outcome          string          `json:"recovery_outcome"`
	AskedHuman       bool            `json:"human_gate_invoked"`
	Answer           approval.Choice `json:"human_decision,omitempty"`
	RejectedSnapshot string          `json:"rejected_snapshot"`
}

// Rejections counts the regressions that rejected an iteration.
func (s State) Rejections() (n int) {
	for _, r := range s.Regressions {
		if r.Recovery {
			n++
		}
	}
	return n
}

// NewRegression returns the n-th regression of a loop for an iteration that was rejected, or
// that would have been rejected without an approval or acknowledgement. It returns nil for
// other iterations. outcome describes what followed a rejection.
func NewRegression(it Iteration, n int, outcome string) *Regression {
	serious := slices.DeleteFunc(slices.Clone(it.Assessment.Alerts), func(a detector.Alert) bool {
		return it.Rejected && !a.CountsAtLeast(detector.High) || !it.Rejected && !isAcceptedByUser(a)
	})
	if !it.Rejected && len(serious) == 0 {
		return nil
	}

	r := &Regression{ID: fmt.Sprintf("reg-%03d", n), Timestamp: it.EndedAt, Iteration: it.Number, Recovery: it.Rejected, Outcome: outcome}
	r.describe(serious)
	if list := it.Assessment.Alerts; it.Rejected && len(list) > 0 {
		r.Type, r.Severity = list[0].Type, list[0].Severity.String()
	}
	if it.Rejected && it.Snapshot != "" {
		r.RejectedSnapshot = it.Snapshot.Name()
	}
	if !it.Rejected {
		acknowledged := serious[0].Acknowledged
		r.Outcome = "accepted, acknowledged as " + acknowledged.ID + ": " + acknowledged.Reason
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

// isAcceptedByUser reports whether the user accepted a finding that would have rejected the
// iteration. Findings against the baseline are omitted: they were reported before.
func isAcceptedByUser(a detector.Alert) bool {
	return a.Acknowledged != nil && (a.Acknowledged.Severity >= detector.Critical || a.Acknowledged.ID == detector.ApprovedInLoop) && a.Against != detector.AgainstBaseline
}

func (r *Regression) describe(alerts []detector.Alert) {
	var messages []string
	for _, a := range alerts {
		messages = append(messages, a.Message())
		for _, id := range a.Tests {
			r.Tests = append(r.Tests, id.String())
		}
		if acknowledged := a.Acknowledged; r.Type == "" && acknowledged != nil {
			r.Type, r.Severity = a.Type, acknowledged.Severity.String()
		}
	}
	slices.Sort(r.Tests)
	r.Tests, r.Message = slices.Compact(r.Tests), strings.Join(messages, "; ")
}
