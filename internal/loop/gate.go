package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/internal/report"
	"supervise/metric"
)

// Gate is when a person is asked, and what is done where none can be.
type Gate struct {
	Policy     approval.Policy `json:"policy,omitempty"`
	Unattended bool            `json:"unattended,omitempty"` // the terminal is not asked
	Timeout    time.Duration   `json:"timeout_ns,omitempty"` // after which a question counts as rejected; 0: none
}

// Person is who can be asked in this process.
type Person struct {
	Terminal string // path of the terminal; "" for none
	Name     string // of the user
	Self     string // how supervise is called, to answer from elsewhere
}

// consult asks a person about a step where that is due, and returns the step that
// follows. Where nobody can be asked the policy answers.
func (s *session) consult(ctx context.Context, w *work, step recovery.Step, state recovery.State) (recovery.Step, recovery.State, *ledger.Gate, error) {
	if step.Ask == "" {
		return step, state, nil, nil
	}
	asked := &ledger.Gate{Kind: step.Ask, Why: step.Why, Asked: s.opts.Now()}
	switch {
	case s.canAsk():
		var err error
		if asked.Answer, err = s.ask(ctx, w.it, step); err != nil {
			return step, state, nil, err
		}
	case s.opts.Gate.Policy == approval.PolicyAbort && step.Ask != approval.Suspicion:
		asked.Answer = approval.Answer{Choice: approval.Abort, How: approval.ByPolicy, At: s.opts.Now(), Reason: "policy abort: " + step.Why}
	default:
		return step, state, nil, nil
	}
	step, state = recovery.Answered(step, state, asked.Answer, s.opts.Recovery)
	w.it.Assessment = judge.Answered(w.it.Assessment, asked)
	return step, state, asked, nil
}

// canAsk reports whether somebody may answer.
func (s *session) canAsk() bool {
	return s.opts.Gate.Policy == approval.PolicyWait || s.opts.Person.Terminal != "" && !s.opts.Gate.Unattended
}

// ask waits for the answer of a person. The loop is paused meanwhile.
func (s *session) ask(ctx context.Context, it ledger.Iteration, step recovery.Step) (approval.Answer, error) {
	q, from := s.question(it, step), s.opts.Now()
	o := approval.Options{
		Dir: s.ledger.Dir(), By: s.opts.Person.Name, Self: s.opts.Person.Self, Timeout: s.opts.Gate.Timeout,
		OnRefused: func(why string) { s.note(event.AnswerRefused, it.Number, event.Refusal{Why: why}) },
	}
	if !s.opts.Gate.Unattended {
		o.Terminal = s.opts.Person.Terminal
	}
	o.OnOpen = func() error { // whoever is told can answer at once
		s.state.Status = ledger.Paused
		return errors.Join(s.save(), s.event(event.ApprovalRequested, it.Number, event.ApprovalRequest{Question: q, Terminal: o.Terminal != "", Self: o.Self}))
	}
	a, err := approval.Ask(ctx, q, o)
	s.waited += s.opts.Now().Sub(from)
	if err != nil {
		return a, fmt.Errorf("ask about iteration %d: %w", it.Number, err)
	}
	s.state.Status = ledger.Running
	return a, errors.Join(s.event(event.ApprovalAnswered, it.Number, a), s.save())
}

// question is what a person has to know to decide.
func (s *session) question(it ledger.Iteration, step recovery.Step) approval.Question {
	q := approval.Question{
		LoopID: s.id, Iteration: it.Number, Kind: step.Ask, Why: step.Why, Target: step.Target, AskedAt: s.opts.Now(),
		Patch:   filepath.Join(s.ledger.Dir(), "iterations", ledger.Name(it.Number), "changes.patch"),
		Numbers: numbers(s.past.Previous.Set, it.Set),
	}
	q.Findings, q.Tests = reasonsOf(it.Assessment.Alerts)
	if len(q.Findings) == 0 {
		q.Findings = []string{step.Reason}
	}
	for i, text := range q.Findings {
		q.Findings[i] = s.masker.String(text)
	}
	if step.Diagnosis != nil {
		q.Diagnosis = s.masker.String(step.Diagnosis.String())
	}
	return q
}

// numbers are the ones that a person looks at first, before and after.
func numbers(was, is metric.Set) []approval.Number {
	out := []approval.Number{{Name: "tests", Before: ran(was), After: ran(is)}}
	for _, row := range []struct {
		name, unit string
		field      metric.Field
	}{{"coverage", "%", metric.CoveragePct}, {"errors", "", metric.ErrorCount}} {
		n := approval.Number{Name: row.name}
		if v, ok := was.Value(row.field); ok {
			n.Before = report.Number(v) + row.unit
		}
		if v, ok := is.Value(row.field); ok {
			n.After = report.Number(v) + row.unit
		}
		if n.Before != "" || n.After != "" {
			out = append(out, n)
		}
	}
	return out
}

func ran(s metric.Set) string {
	if s.Tests == nil {
		return ""
	}
	n := s.Tests.Counts()
	text := fmt.Sprintf("%d of %d pass", n.Passed, n.Count)
	if n.Skipped > 0 {
		text += ", " + strconv.Itoa(n.Skipped) + " skipped"
	}
	return text
}
