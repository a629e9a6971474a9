package loop

import (
	"fmt"
	"strings"

	"supervise/detector"
	"supervise/internal/approval"
	"supervise/internal/event"
)

// notifier sends what people are told who do not look.
func (s *session) notifier() *approval.Notifier {
	return &approval.Notifier{
		Webhook: s.opts.Notify.Webhook, Command: s.opts.Notify.Command,
		OnError: func(err error) { s.opts.Log.WithError(err).Warn("tell somebody") },
	}
}

// notify tells people of an event that is worth it.
func (s *session) notify(e event.Event) {
	if s.opts.Notify == (Notify{}) {
		return
	}
	if s.notifications == nil {
		s.notifications = s.notifier()
	}
	n := approval.Notification{LoopID: e.LoopID, Iteration: e.Iteration}
	switch d := e.Data.(type) {
	case event.ApprovalOpened:
		n.Event, n.Question = approval.OnGate, &d.Question
		n.Text = fmt.Sprintf("supervise waits for an answer\n%sanswer: %s reject|approve|abort %s", d.Question.Text(), orSupervise(d.Self), e.LoopID)
	case event.IterationEnd:
		messages := criticals(d.It.Assessment.Alerts)
		if len(messages) == 0 {
			return
		}
		n.Event, n.Text = approval.OnCritical, fmt.Sprintf("%s, iteration %d: %s (%s)", e.LoopID, e.Iteration, strings.Join(messages, "; "), fate(d))
	case event.LoopEnd:
		n.Event, n.Text = approval.OnEnd, fmt.Sprintf("%s is over (exit status %d): %s", e.LoopID, d.ExitCode, d.Text)
	default:
		return
	}
	n.Text = s.masker.String(n.Text)
	s.notifications.Send(n)
}

func orSupervise(self string) string {
	if self == "" {
		return "supervise"
	}
	return self
}

func criticals(alerts []detector.Alert) (messages []string) {
	for _, a := range alerts {
		if a.Severity >= detector.Critical {
			messages = append(messages, a.Message())
		}
	}
	return messages
}

// fate says what became of an iteration.
func fate(d event.IterationEnd) string {
	if d.Rejected {
		return "undone, " + d.Next
	}
	return "kept, " + d.Next
}
