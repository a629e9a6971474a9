// Package notify sends what people have to know of a loop who do not look: that it
// waits for them, that it found something critical, and that it is over.
package notify

import (
	"cmp"
	"fmt"
	"strings"

	"supervise/detector"
	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/secrets"
)

// Settings say who is notified.
type Settings struct {
	Webhook string `json:"webhook,omitempty"`
	Command string `json:"command,omitempty"`
}

// Sender sends notifications of the events of a loop.
type Sender struct {
	to   *approval.Notifier // nil: no notifications
	mask secrets.Mask
}

// New returns a sender. onError is called with what could not be sent.
func New(s Settings, mask secrets.Mask, onError func(error)) *Sender {
	out := &Sender{mask: mask}
	if s != (Settings{}) {
		out.to = &approval.Notifier{Webhook: s.Webhook, Command: s.Command, OnError: onError}
	}
	return out
}

// Handle notifies people of an event that is worth it.
func (s *Sender) Handle(e event.Event) {
	if s.to == nil {
		return
	}
	n := approval.Notification{LoopID: e.LoopID, Iteration: e.Iteration}
	switch d := e.Data.(type) {
	case event.ApprovalRequest:
		n.Event, n.Question = approval.OnApproval, &d.Question
		n.Text = fmt.Sprintf("supervise waits for an answer\n%sanswer: %s reject|approve|abort %s", d.Question.Text(), cmp.Or(d.Self, "supervise"), e.LoopID)
	case event.IterationEnd:
		messages := detector.CriticalMessages(d.Iteration.Assessment.Alerts)
		if len(messages) == 0 {
			return
		}
		n.Event, n.Text = approval.OnCritical, fmt.Sprintf("%s, iteration %d: %s (%s)", e.LoopID, e.Iteration, strings.Join(messages, "; "), fate(d))
	case event.LoopEnd:
		if d.Reason.Suspends() {
			return
		}
		n.Event, n.Text = approval.OnEnd, fmt.Sprintf("%s is over (exit status %d): %s", e.LoopID, d.ExitCode, d.Text)
	default:
		return
	}
	n.Text = s.mask.String(n.Text)
	s.to.Send(n)
}

// Close waits until everything is sent.
func (s *Sender) Close() { s.to.Close() }

// fate is what became of an iteration.
func fate(d event.IterationEnd) string {
	if d.Rejected {
		return "rolled back, " + d.Next
	}
	return "kept, " + d.Next
}
