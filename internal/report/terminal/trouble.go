package terminal

import (
	"fmt"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/report"
)

// trouble prints what happens beside the course of a loop.
func (p *Printer) trouble(e event.Event) {
	switch d := e.Data.(type) {
	case event.Waiting:
		p.line("     %s", p.Paint(report.Warn, waiting(d)))
	case event.Retrying:
		p.note("agent: %s; it tries again by itself, %d", outcomeOf(d.Outcome, d.Message), d.Attempt)
	case event.Silence:
		p.warn(silent(e.Type, d))
	case event.TreeAlarm:
		p.warn("while the agent worked: " + d.String())
	case event.ApprovalRequest:
		p.asked(d)
	case approval.Answer:
		p.note("%s", d)
	}
}

// aftermath prints what came of the death of a supervisor.
func (p *Printer) aftermath(e event.Event) {
	switch d := e.Data.(type) {
	case event.Resumed:
		p.resumed(e.LoopID, d)
	case event.Crash:
		p.crash(d)
	case event.SnapshotsGone:
		p.note("%s dropped to keep the store small (%s freed, %s left): %s", report.Count(len(d.Snapshots), "old snapshot", "old snapshots"),
			report.Bytes(d.Freed), report.Bytes(d.Bytes), strings.Join(report.Cut(d.Snapshots, 10), ", "))
	case event.OverLimit:
		p.line("     %s", p.Paint(report.Warn, fmt.Sprintf("the snapshots take %s, over snapshot.max_store_mb (%s): %s", report.Bytes(d.Bytes), report.Bytes(d.Limit), d.Why)))
	case event.Shortfall:
		for _, text := range report.Unrestored(d.Gone, d.Left, d.Displaced, d.DisplacedTo) {
			p.warn(text)
		}
	case event.SharedRefs:
		p.shared(e, d)
	case event.Survivors:
		p.warn("ended what the killed supervise had left running: " + strings.Join(report.Cut(d.Names, 5), ", "))
	case event.Damage:
		for _, problem := range d.Problems {
			p.warn(problem)
		}
	case event.TreeChange:
		p.note("%s differed from what the loop knew and %s put back; what was there is kept: %s rollback %s %s",
			report.Count(d.Files, "file", "files"), isAre(d.Files), p.Self, e.LoopID, d.Kept)
	}
}

// waiting says why nothing happens, and until when.
func waiting(d event.Waiting) string {
	until := "waiting until " + d.Until.Local().Format(time.TimeOnly)
	if d.DelayMS >= (12 * time.Hour).Milliseconds() {
		until = "waiting until " + d.Until.Local().Format(time.DateTime)
	}
	if d.Told {
		until += ", as the service says"
	}
	return "agent: " + outcomeOf(d.Outcome, d.Message) + "; " + until + "; the iteration is not counted"
}

func outcomeOf(outcome, message string) string {
	outcome = strings.ReplaceAll(outcome, "_", " ")
	if message == "" {
		return outcome
	}
	return outcome + " (" + message + ")"
}

// asked says that the loop waits, where that is not shown by asking.
func (p *Printer) asked(d event.ApprovalRequest) {
	if d.Terminal {
		return
	}
	p.line("%s", p.Paint(report.Warn, strings.TrimRight(d.Question.Text(), "\n")))
	p.line("     waits for: %s approve|reject|abort %s (approve needs --reason)", p.Self, d.Question.LoopID)
}

func (p *Printer) warn(text string) { p.line("     %s", p.Paint(report.Warn, text)) }

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// crash warns that the tree may hold what an agent left unjudged.
func (p *Printer) crash(d event.Crash) {
	what := fmt.Sprintf("the tree may hold unjudged work of its iteration %d", d.Iteration)
	if d.Restored {
		what = "it was putting the tree back, which is done now"
	}
	p.line("%s", p.Paint(report.Warn, fmt.Sprintf("loop %s was killed: %s; interrupt this one and %s resume %s --force goes on with it, or %s rollback %s %d puts back what came before it",
		d.LoopID, what, p.Self, d.LoopID, p.Self, d.LoopID, max(0, d.Iteration-1))))
}

// shared tells what became of that which linked worktrees share.
func (p *Printer) shared(e event.Event, d event.SharedRefs) {
	text := "put back in the repository that the worktrees share: " + strings.Join(report.Cut(d.Names, 10), ", ")
	if e.Type == event.SharedLost {
		text = fmt.Sprintf("gone from the repository that the worktrees share: %s; %s rollback %s 0 brings it back", strings.Join(report.Cut(d.Names, 10), ", "), p.Self, e.LoopID)
	}
	p.line("     %s", p.Paint(report.Warn, text))
}
