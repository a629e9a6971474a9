package terminal

import (
	"fmt"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
)

// problems prints problems of the agent, alarms and approvals.
func (p *Printer) problems(e event.Event) {
	switch d := e.Data.(type) {
	case event.Waiting:
		p.line("     %s", p.Paint(document.Warn, waiting(d)))
	case event.Retrying:
		p.note("agent: %s; the agent retries, attempt %d", outcomeOf(d.Outcome, d.Message), d.Attempt)
	case event.HookFailure:
		p.warn(silent(e.Type, d))
	case event.TreeAlarm:
		p.warn("while the agent worked: " + d.String())
	case event.ApprovalRequest:
		p.asked(d)
	case approval.Answer:
		p.note("%s", d)
	}
}

// resumeReport prints what a resumed loop found and did, limits of its store, and that a
// reviewer is at work.
func (p *Printer) resumeReport(e event.Event) {
	switch d := e.Data.(type) {
	case event.Child:
		if d.Process == event.ChildReviewer {
			p.status("the reviewer reads the change")
		}
	case ledger.SelectionReview:
		p.reviewed = &d
	case event.Resumed:
		p.resumed(e.LoopID, d)
	case event.Crash:
		p.crash(d)
	case event.DroppedSnapshots:
		p.note("%s dropped to keep the store small (%s freed, %s left): %s", report.Pluralize(len(d.Snapshots), "old snapshot", "old snapshots"),
			report.FormatBytes(d.Freed), report.FormatBytes(d.Bytes), strings.Join(report.Truncate(d.Snapshots, 10), ", "))
	case event.OverLimit:
		p.line("     %s", p.Paint(document.Warn, fmt.Sprintf("the snapshots take %s, over snapshot.max_store_mb (%s): %s", report.FormatBytes(d.Bytes), report.FormatBytes(d.Limit), d.Why)))
	case event.Shortfall:
		for _, text := range d.Lines() {
			p.warn(text)
		}
	case event.SharedRefs:
		p.shared(e, d)
	case event.Orphans:
		p.warn("killed processes that an earlier supervise left running: " + strings.Join(report.Truncate(d.Names, 5), ", "))
	case event.Damage:
		for _, problem := range d.Problems {
			p.warn(problem)
		}
	case event.TreeChange:
		p.changed(e, d)
	}
}

// changed says what becomes of a tree that is not as the loop left it.
func (p *Printer) changed(e event.Event, d event.TreeChange) {
	if d.Restored == "" {
		p.note("the tree as found, with the changes since the loop stopped, is kept: %s rollback %s %s", p.Self, e.LoopID, d.Kept)
		return
	}
	p.note("%s had changed since the loop stopped and %s restored; the changed tree is kept: %s rollback %s %s",
		report.Pluralize(d.Files, "file", "files"), isAre(d.Files), p.Self, e.LoopID, d.Kept)
}

// waiting says why the loop waits, and until when.
func waiting(d event.Waiting) string {
	if d.Next != "" {
		return fmt.Sprintf("%s: %s, until %s; %s continues from the same tree", d.Agent, outcomeOf(d.Outcome, d.Message), d.Until.Local().Format(time.DateTime), d.Next)
	}
	until := "waiting until " + d.Until.Local().Format(time.TimeOnly)
	if d.DelayMS >= (12 * time.Hour).Milliseconds() {
		until = "waiting until " + d.Until.Local().Format(time.DateTime)
	}
	if d.ByService {
		until += ", as the service asks"
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

// asked prints a question that is not asked on this terminal.
func (p *Printer) asked(d event.ApprovalRequest) {
	if d.Terminal {
		return
	}
	p.line("%s", p.Paint(document.Warn, strings.TrimRight(d.Question.Text(), "\n")))
	p.line("     waiting for: %s approve|reject|abort %s (approve needs --reason)", p.Self, d.Question.LoopID)
}

func (p *Printer) warn(text string) { p.line("     %s", p.Paint(document.Warn, text)) }

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// crash warns that an earlier loop was killed, and its work may be unjudged.
func (p *Printer) crash(d event.Crash) {
	what := fmt.Sprintf("the tree may hold unjudged work of its iteration %d", d.Iteration)
	switch {
	case d.Restored:
		what = "it was restoring the tree, which is now done"
	case d.Trees == event.RecoverableTrees{}:
		what = "it had not touched the tree"
	}
	text := fmt.Sprintf("loop %s was killed: %s; to continue it, interrupt this one and use %s resume %s --force", d.LoopID, what, p.Self, d.LoopID)
	if d.LoopEnded {
		text = "a restore of a tree of loop " + d.LoopID + " was interrupted, and is now done"
	}
	p.line("%s", p.Paint(document.Warn, strings.Join(append([]string{text}, d.Trees.Commands(p.Self, d.LoopID)...), "; ")))
}

// shared prints what happened to refs that linked worktrees share.
func (p *Printer) shared(e event.Event, d event.SharedRefs) {
	text := "restored in the repository that the worktrees share: " + strings.Join(report.Truncate(d.Names, 10), ", ")
	if e.Type == event.SharedLost {
		text = fmt.Sprintf("gone from the repository that the worktrees share: %s; %s rollback %s 0 restores it", strings.Join(report.Truncate(d.Names, 10), ", "), p.Self, e.LoopID)
	}
	p.line("     %s", p.Paint(document.Warn, text))
}
