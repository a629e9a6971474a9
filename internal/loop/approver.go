package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/internal/report"
	"supervise/internal/secrets"
	"supervise/metric"
)

// Approval is when a person is asked, and what is done where none can be.
type Approval struct {
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

// approver asks a person about a step where that is due.
type approver struct {
	Approval
	Person
	loopID  string
	dir     string // the loop's folder
	journal *event.Journal
	mask    secrets.Mask
	now     func() time.Time
	pause   func(ledger.Status) error // writes down that the loop waits, or goes on

	waited time.Duration // for people
	later  bool          // a question is left to the process that goes on
	// answered are the answers about an iteration that an earlier process has taken.
	answered map[approval.Kind]approval.Answer
	of       int // that iteration
}

// consult returns what a person, or the policy where nobody can be asked, says about a
// step, and nil where nobody has to be asked or the step is taken without an answer.
func (a *approver) consult(ctx context.Context, it ledger.Iteration, before metric.Set, step recovery.Step) (*ledger.Approval, error) {
	if step.Ask == "" {
		return nil, nil //nolint:nilnil // nobody is asked
	}
	asked := &ledger.Approval{Kind: step.Ask, Why: step.Why, Asked: a.now()}
	switch {
	case a.attended():
		var err error
		asked.Answer, err = a.ask(ctx, a.question(it, before, step))
		return asked, err
	case a.Policy == approval.PolicyAbort && step.Ask != approval.Suspicion:
		asked.Answer = approval.Answer{Choice: approval.Abort, Channel: approval.ByPolicy, At: a.now(), Reason: "policy abort: " + step.Why}
		return asked, nil
	}
	return nil, nil //nolint:nilnil // the policy is to take the step
}

// attended reports whether somebody is there to be asked.
func (a *approver) attended() bool {
	return a.Policy == approval.PolicyWait || a.Terminal != "" && !a.Unattended
}

// unblock asks a person about what the agent says that it cannot do, and adds to the
// decision what follows from it. Where nobody is there the loop ends with it.
func (a *approver) unblock(ctx context.Context, it *ledger.Iteration, before metric.Set) error {
	said := it.Blocks()
	if len(said) == 0 || it.Decision.Move == string(recovery.Abort) {
		return nil
	}
	var g *ledger.Approval
	if a.attended() {
		q := a.about(*it, before, approval.Blocked, judge.AgentBlocked)
		for _, b := range said {
			text := b.String()
			if len(b.Unknown) > 0 {
				text += " (not known: " + strings.Join(b.Unknown, ", ") + ")"
			}
			q.Findings = append(q.Findings, text)
			for _, id := range b.Known {
				q.Tests = append(q.Tests, id.String())
			}
		}
		g = &ledger.Approval{Kind: approval.Blocked, Why: judge.AgentBlocked, Asked: a.now()}
		var err error
		if g.Answer, err = a.ask(ctx, q); err != nil {
			return err
		}
	}
	judge.Unblock(it, g)
	return nil
}

// ask waits for the answer of a person. The loop is paused meanwhile.
func (a *approver) ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	if answer, known := a.answered[q.Kind]; known && q.Iteration == a.of {
		approval.CloseQuestion(a.dir)
		return answer, nil
	}
	from := a.now()
	o := approval.Options{
		Dir: a.dir, User: a.Name, SelfCommand: a.Self, Timeout: a.Timeout,
		OnRefused: func(why string) { a.journal.Note(event.AnswerRefused, q.Iteration, event.Refusal{Why: why}) },
	}
	if !a.Unattended {
		o.Terminal = a.Terminal
	}
	o.Deferred = a.later && o.Terminal == ""
	o.OnOpen = func() error { // whoever is notified can answer at once
		return errors.Join(a.pause(ledger.Paused), a.journal.Write(event.ApprovalRequested, q.Iteration, event.ApprovalRequest{Question: q, Terminal: o.Terminal != "", Self: o.SelfCommand}))
	}
	answer, err := approval.Ask(ctx, q, o)
	a.waited += a.now().Sub(from)
	if err != nil {
		return answer, fmt.Errorf("ask about iteration %d: %w", q.Iteration, err)
	}
	err = errors.Join(a.journal.Write(event.ApprovalAnswered, q.Iteration, answer), a.pause(ledger.Running))
	approval.CloseQuestion(a.dir)
	return answer, err
}

// question is what a person has to know to decide.
func (a *approver) question(it ledger.Iteration, before metric.Set, step recovery.Step) approval.Question {
	q := a.about(it, before, step.Ask, step.Why)
	q.Target = step.Target
	q.Findings, q.Tests = reasonsOf(it.Assessment.Alerts)
	if len(q.Findings) == 0 {
		q.Findings = []string{step.Reason}
	}
	for i, text := range q.Findings {
		q.Findings[i] = a.mask.String(text)
	}
	if step.Diagnosis != nil {
		q.Diagnosis = a.mask.String(step.Diagnosis.String())
	}
	return q
}

// about is a question about an iteration, without what was found.
func (a *approver) about(it ledger.Iteration, before metric.Set, kind approval.Kind, why string) approval.Question {
	return approval.Question{
		LoopID: a.loopID, Iteration: it.Number, Kind: kind, Why: why, AskedAt: a.now(),
		Patch:   filepath.Join(a.dir, "iterations", ledger.IterationName(it.Number), "changes.patch"),
		Numbers: numbers(before, it.Set),
	}
}

// numbers are the ones that a person looks at first, before and after.
func numbers(was, is metric.Set) []approval.Number {
	out := []approval.Number{{Name: "tests", Before: passing(was), After: passing(is)}}
	for _, row := range []struct {
		name, unit string
		field      metric.Field
	}{{"coverage", "%", metric.CoveragePct}, {"errors", "", metric.ErrorCount}} {
		n := approval.Number{Name: row.name}
		if v, ok := was.Value(row.field); ok {
			n.Before = report.FormatNumber(v) + row.unit
		}
		if v, ok := is.Value(row.field); ok {
			n.After = report.FormatNumber(v) + row.unit
		}
		if n.Before != "" || n.After != "" {
			out = append(out, n)
		}
	}
	return out
}

func passing(s metric.Set) string {
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
