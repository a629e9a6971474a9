package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
)

// printProblem prints problems of the agent, alarms about the tree, and approvals.
func (p *Printer) printProblem(e event.Event) {
	switch d := e.Data.(type) {
	case event.Waiting:
		p.printWarning(waitingText(d))
	case event.Retrying:
		p.printNote("agent: %s; the agent retries, attempt %d", outcomeText(d.Outcome, d.Message), d.Attempt)
	case event.HookFailure:
		p.printWarning(silenceText(e.Type, d))
	case event.TreeAlarm:
		p.printWarning("while the agent worked: " + d.String())
	case event.ApprovalRequest:
		p.printApproval(d)
	case approval.Answer:
		p.printNote("%s", d)
	}
}

// printResumeEvent prints what a resumed loop found and did. It also prints that old snapshots were
// dropped, and that a reviewer works.
func (p *Printer) printResumeEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.Child:
		if d.Process == event.ChildReviewer {
			p.printStatus("the reviewer reads the change")
		}
	case ledger.SelectionReview:
		p.reviewed = &d
	case event.Resumed:
		p.printResume(e.LoopID, d)
	case event.Crash:
		p.printCrash(d)
	case event.DroppedSnapshots:
		p.printNote("%s dropped to keep the store small (%s freed, %s left): %s", report.Pluralize(len(d.Snapshots), "old snapshot", "old snapshots"),
			report.FormatBytes(d.Freed), report.FormatBytes(d.Bytes), strings.Join(report.Truncate(d.Snapshots, 10), ", "))
	case event.OverLimit:
		p.printLine("     %s", p.Paint(document.Warn, fmt.Sprintf("the snapshots take %s, over snapshot.max_store_mb (%s): %s", report.FormatBytes(d.Bytes), report.FormatBytes(d.Limit), d.Why)))
	case event.Shortfall:
		for _, text := range d.Lines() {
			p.printWarning(text)
		}
	case event.SharedRefs:
		p.printSharedRefs(e, d)
	case event.Orphans:
		p.printWarning("killed processes that an earlier supervise left running: " + strings.Join(report.Truncate(d.Names, 5), ", "))
	case event.Damage:
		for _, problem := range d.Problems {
			p.printWarning(problem)
		}
	case event.TreeChange:
		p.printTreeChange(e, d)
	}
}

// printTreeChange says what happens to a tree that has changed since the loop stopped.
func (p *Printer) printTreeChange(e event.Event, d event.TreeChange) {
	if d.Restored == "" {
		p.printNote("the tree as found, with the changes since the loop stopped, is kept: %s rollback %s %s", p.Self, e.LoopID, d.Kept)
		return
	}
	p.printNote("%s had changed since the loop stopped and %s restored; the changed tree is kept: %s rollback %s %s",
		report.Pluralize(d.Files, "file", "files"), report.Either(d.Files == 1, "is", "are"), p.Self, e.LoopID, d.Kept)
}

// waitingText says why the loop waits, and until when.
func waitingText(d event.Waiting) string {
	if d.Next != "" {
		return fmt.Sprintf("%s: %s, until %s; %s continues from the same tree", d.Agent, outcomeText(d.Outcome, d.Message), d.Until.Local().Format(time.DateTime), d.Next)
	}
	layout, asked := time.TimeOnly, ""
	if d.DelayMS >= (12 * time.Hour).Milliseconds() {
		layout = time.DateTime
	}
	if d.ByService {
		asked = ", as the service asks"
	}
	until := "waiting until " + d.Until.Local().Format(layout) + asked
	return "agent: " + outcomeText(d.Outcome, d.Message) + "; " + until + "; the iteration is not counted"
}

// outcomeText describes the outcome of an agent's run, as in "rate limited (try again later)".
func outcomeText(outcome, message string) string {
	outcome = strings.ReplaceAll(outcome, "_", " ")
	if message == "" {
		return outcome
	}
	return outcome + " (" + message + ")"
}

// printApproval prints a question that is not asked on this terminal.
func (p *Printer) printApproval(d event.ApprovalRequest) {
	if d.Terminal {
		return
	}
	p.printLine("%s", p.Paint(document.Warn, strings.TrimRight(d.Question.Text(), "\n")))
	p.printLine("     waiting for: %s approve|reject|abort %s (approve needs --reason)", p.Self, d.Question.LoopID)
}

// printWarning prints an indented line in the style of a warning.
func (p *Printer) printWarning(text string) { p.printLine("     %s", p.Paint(document.Warn, text)) }

// printCrash warns that an earlier loop was killed, so that the tree may have unjudged changes.
func (p *Printer) printCrash(d event.Crash) {
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
	p.printLine("%s", p.Paint(document.Warn, strings.Join(append([]string{text}, d.Trees.Commands(p.Self, d.LoopID)...), "; ")))
}

// printSharedRefs prints which refs that linked worktrees share were restored, or are missing.
func (p *Printer) printSharedRefs(e event.Event, d event.SharedRefs) {
	text := "restored in the repository that the worktrees share: " + strings.Join(report.Truncate(d.Names, 10), ", ")
	if e.Type == event.SharedLost {
		text = fmt.Sprintf("gone from the repository that the worktrees share: %s; %s rollback %s 0 restores it", strings.Join(report.Truncate(d.Names, 10), ", "), p.Self, e.LoopID)
	}
	p.printLine("     %s", p.Paint(document.Warn, text))
}

// printSealed prints how many tests are sealed, and whether the agent can find them.
func (p *Printer) printSealed(d event.SealedTests) {
	p.printNote("sealed: %d of %d failing tests, until the loop ends", d.Tests, d.Failing)
	if d.InHistory > 0 {
		p.printWarning(fmt.Sprintf("git has %s with sealed tests at HEAD, where an agent that looks can find them", report.Pluralize(d.InHistory, "file", "files")))
	}
}

// printSealedRestored prints that the sealed tests are in the tree again.
func (p *Printer) printSealedRestored(d event.RestoredTests) {
	what := "sealed tests restored: " + strconv.Itoa(d.Tests)
	if d.LoopID != "" {
		what = fmt.Sprintf("sealed tests of loop %s restored: %d", d.LoopID, d.Tests)
	}
	p.printNote("%s", what)
	if len(d.Kept) > 0 {
		p.printWarning("the agent rewrote or deleted their files; the originals are in " + strings.Join(d.Kept, ", "))
	}
	if len(d.Found) > 0 {
		p.printWarning("the agent found sealed tests and restored them itself: " + strings.Join(d.Found, ", "))
	}
	if d.Uncommitted > 0 {
		p.printWarning(fmt.Sprintf("commits of the agent have %s without sealed tests: commit the working tree as well", report.Pluralize(d.Uncommitted, "file", "files")))
	}
}
