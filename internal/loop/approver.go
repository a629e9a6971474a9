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

// Approval says whether the loop asks a person, and what happens if it cannot ask one.
type Approval struct {
	Policy     approval.Policy `json:"policy,omitempty"`
	Unattended bool            `json:"unattended,omitempty"` // never ask on the terminal
	Timeout    time.Duration   `json:"timeout_ns,omitempty"` // after which a question counts as rejected; 0 means never
}

// Person is the user of this process, who can be asked.
type Person struct {
	Terminal string // path of the terminal; "" if there is none
	Name     string // name of the user
	Self     string // command line of supervise, with which to answer from another terminal
}

// approver asks a person about steps that need an approval.
type approver struct {
	Approval
	Person
	loopID  string
	dir     string // the loop's folder
	journal *event.Journal
	mask    secrets.Mask
	now     func() time.Time
	pause   func(ledger.Status) error // records that the loop waits, or that it continues

	waitedForPeople time.Duration // it does not count toward the time limit
	leaveQuestions  bool          // leave a question to the process that resumes the loop
	// answered has the answers about iteration answeredIteration that an earlier process got.
	answered          map[approval.Kind]approval.Answer
	answeredIteration int
}

// consult returns the answer of a person, or of the policy, about a step. It returns nil if the
// step needs no answer, or if the policy is to take it without one. before has the metrics of the
// previous iteration.
func (a *approver) consult(ctx context.Context, it ledger.Iteration, before metric.Set, step recovery.Step) (*ledger.Approval, error) {
	if step.Ask == "" {
		return nil, nil //nolint:nilnil // there is no question
	}
	asked := &ledger.Approval{Kind: step.Ask, Why: step.Why, Asked: a.now()}
	switch {
	case a.canAsk():
		var err error
		asked.Answer, err = a.ask(ctx, a.stepQuestion(it, before, step))
		return asked, err
	case a.Policy == approval.PolicyAbort && step.Ask != approval.Suspicion:
		asked.Answer = approval.Answer{Choice: approval.Abort, Channel: approval.ByPolicy, At: a.now(), Reason: "policy abort: " + step.Why}
		return asked, nil
	}
	return nil, nil //nolint:nilnil // the policy is to take the step
}

// canAsk reports whether a person can be asked.
func (a *approver) canAsk() bool {
	return a.Policy == approval.PolicyWait || a.Terminal != "" && !a.Unattended
}

// askAboutBlocked asks a person about what the agent reported as impossible, and adds the
// consequence to the decision of the iteration. If it cannot ask, the loop ends.
func (a *approver) askAboutBlocked(ctx context.Context, it *ledger.Iteration, before metric.Set) error {
	blocks := it.Blocks()
	if len(blocks) == 0 || it.Decision.Move == string(recovery.Abort) {
		return nil
	}

	var g *ledger.Approval
	if a.canAsk() {
		q := a.newQuestion(*it, before, approval.Blocked, judge.AgentBlocked)
		for _, b := range blocks {
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

// ask waits for the answer of a person. Meanwhile the loop is paused. An answer that an earlier
// process got is returned at once.
func (a *approver) ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	if answer, known := a.answered[q.Kind]; known && q.Iteration == a.answeredIteration {
		approval.CloseQuestion(a.dir)
		return answer, nil
	}

	start := a.now()
	o := approval.Options{
		Dir: a.dir, User: a.Name, SelfCommand: a.Self, Timeout: a.Timeout,
		OnRefused: func(why string) { a.journal.Note(event.AnswerRefused, q.Iteration, event.Refusal{Why: why}) },
	}
	if !a.Unattended {
		o.Terminal = a.Terminal
	}

	o.Deferred = a.leaveQuestions && o.Terminal == ""
	o.OnOpen = func() error { // an answer is possible before anyone is notified
		return errors.Join(a.pause(ledger.Paused), a.journal.Write(event.ApprovalRequested, q.Iteration, event.ApprovalRequest{Question: q, Terminal: o.Terminal != "", Self: o.SelfCommand}))
	}
	answer, err := approval.Ask(ctx, q, o)
	a.waitedForPeople += a.now().Sub(start)
	if err != nil {
		return answer, fmt.Errorf("ask about iteration %d: %w", q.Iteration, err)
	}

	err = errors.Join(a.journal.Write(event.ApprovalAnswered, q.Iteration, answer), a.pause(ledger.Running))
	approval.CloseQuestion(a.dir)
	return answer, err
}

// stepQuestion returns the question about a step.
func (a *approver) stepQuestion(it ledger.Iteration, before metric.Set, step recovery.Step) approval.Question {
	q := a.newQuestion(it, before, step.Ask, step.Why)
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

// newQuestion returns a question about an iteration, without findings.
func (a *approver) newQuestion(it ledger.Iteration, before metric.Set, kind approval.Kind, why string) approval.Question {
	return approval.Question{
		LoopID: a.loopID, Iteration: it.Number, Kind: kind, Why: why, AskedAt: a.now(),
		Patch:   filepath.Join(a.dir, "iterations", ledger.IterationName(it.Number), "changes.patch"),
		Numbers: metricChanges(before, it.Set),
	}
}

// metricChanges lists the numbers of tests, the coverage and the errors before and after an
// iteration. Values that are unknown on both sides are left out.
func metricChanges(before, after metric.Set) []approval.Number {
	out := []approval.Number{{Name: "tests", Before: passText(before), After: passText(after)}}
	for _, row := range []struct {
		name, unit string
		field      metric.Field
	}{{"coverage", "%", metric.CoveragePct}, {"errors", "", metric.ErrorCount}} {
		n := approval.Number{Name: row.name}
		if v, ok := before.Value(row.field); ok {
			n.Before = report.FormatNumber(v) + row.unit
		}
		if v, ok := after.Value(row.field); ok {
			n.After = report.FormatNumber(v) + row.unit
		}
		if n.Before != "" || n.After != "" {
			out = append(out, n)
		}
	}
	return out
}

// passText says how many tests pass, as in "3 of 4 pass, 1 skipped", and "" if none were measured.
func passText(s metric.Set) string {
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
