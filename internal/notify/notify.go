// Package notify sends notifications about a loop to a webhook or a command: when an approval
// is needed, when an iteration has critical findings, and when the loop has ended.
//
// [Sender.Handle] is a listener of the events of a loop.
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

// Settings are the recipients of notifications. The zero value means none.
type Settings struct {
	Webhook string `json:"webhook,omitempty"` // URL
	Command string `json:"command,omitempty"` // of the shell
}

// Sender sends notifications of the events of a loop.
type Sender struct {
	notifier *approval.Notifier // nil without recipients
	mask     secrets.Mask
}

// New returns a sender. onError is called for each notification that cannot be sent.
func New(s Settings, mask secrets.Mask, onError func(error)) *Sender {
	out := &Sender{mask: mask}
	if s != (Settings{}) {
		out.notifier = &approval.Notifier{Webhook: s.Webhook, Command: s.Command, OnError: onError}
	}
	return out
}

// Handle sends a notification if the event needs one.
func (s *Sender) Handle(e event.Event) {
	if s.notifier == nil {
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
		outcome := "kept, " + d.Next
		if d.Rejected {
			outcome = "rolled back, " + d.Next
		}
		n.Event, n.Text = approval.OnCritical, fmt.Sprintf("%s, iteration %d: %s (%s)", e.LoopID, e.Iteration, strings.Join(messages, "; "), outcome)
	case event.LoopEnd:
		if d.Reason.Suspends() {
			return
		}
		n.Event, n.Text = approval.OnEnd, fmt.Sprintf("%s is over (exit status %d): %s", e.LoopID, d.ExitCode, d.Text)
	default:
		return
	}
	n.Text = s.mask.String(n.Text)
	s.notifier.Send(n)
}

// Close waits until all notifications are sent.
func (s *Sender) Close() { s.notifier.Close() }
