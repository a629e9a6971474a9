package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"supervise/internal/document"
	"supervise/internal/ledger"
)

// EscalationName is the file name of the report about the latest question that only a person can
// answer. The file is in the folder reports/ of a loop.
const EscalationName = "escalation-report.md"

// Escalation is the content of that report.
type Escalation struct {
	State      ledger.State
	Iterations []ledger.Iteration // the baseline first, and the one in question last
	Why        string             // why a person has to decide
	Now        time.Time
	Self       string // command line of supervise
}

// Document returns the report about the question.
func (v Escalation) Document() document.Document {
	p := &page{}
	last := v.Iterations[len(v.Iterations)-1]
	p.Heading(1, "Escalation Report")
	p.Field("Loop ID", "%s", v.State.LoopID)
	p.Field("Iteration", "%d", last.Number)
	p.Field("Time", "%s", v.Now.UTC().Format(time.RFC3339))
	p.Field("Why", "%s", v.Why)
	p.Heading(2, "Task")
	p.Paragraph("%s", cmp.Or(strings.TrimSpace(v.State.Task), "No task was given in addition to the agent's command."))
	p.Paragraph("Done when: %s", v.State.Criterion)
	p.addAttempts(v)
	p.addState(v, last)
	p.addAdvice(v, last)
	return p.Document
}

// addAttempts adds a table of the rejected iterations that led to the question, and the phases of
// the recovery after each of them.
func (p *page) addAttempts(v Escalation) {
	p.Heading(2, "Attempts and Outcomes")
	from := len(v.Iterations) - 1
	for from > 1 && v.Iterations[from-1].Rejected && !v.Iterations[from-1].Interrupted {
		from--
	}
	t := document.Table{Head: []string{"Iteration", "Tests", "Quality", "What happened", "Diagnosis", "What was tried next"}}
	for _, it := range v.Iterations[from:] {
		if d := it.Decision; d != nil {
			t.Row(it.Number, testsText(it.Set), qualityText(it), outcomeText(it), cmp.Or(d.Diagnosis, "-"), cmp.Or(d.Strategy, "-"))
		}
	}
	p.Add(t)
	for _, it := range v.Iterations[from:] {
		if it.Decision == nil || len(it.Decision.Phases) == 0 {
			continue
		}
		p.Paragraph("Iteration %d:", it.Number)
		for _, phase := range it.Decision.Phases {
			p.Item("%s %s: %s", phase.At.UTC().Format(time.TimeOnly), phase.Phase, phase.Text)
		}
	}
}

// outcomeText says what happened in an iteration: its first alerts, or the reason of the decision.
func outcomeText(it ledger.Iteration) string {
	var out []string
	for _, a := range it.Assessment.Alerts[:min(len(it.Assessment.Alerts), 3)] {
		out = append(out, fmt.Sprintf("%s %s", a.Severity, a.Message()))
	}
	if len(out) == 0 {
		out = []string{it.Decision.Reason}
	}
	if it.Rejected {
		out = append(out, "rolled back, kept as s"+string(it.Snapshot))
	}
	return strings.Join(out, "; ")
}

// addState describes the state of the loop and of the tree.
func (p *page) addState(v Escalation, last ledger.Iteration) {
	p.Heading(2, "State")
	rolledBack := 0
	for _, it := range v.Iterations {
		if it.Rejected {
			rolledBack++
		}
	}
	p.Item("Iterations: %d, of them rolled back: %d", last.Number, rolledBack)
	p.Item("Recovery attempts: %d in the loop", last.Decision.Attempts)
	restored, left := fmt.Sprintf("restored to iteration %d", last.Decision.Target), fmt.Sprintf("as iteration %d left it", last.Number)
	p.Item("The tree is %s", Either(last.Rejected, restored, left))
	if best := v.State.Best; best != nil {
		p.Item("Best so far: iteration %d (%s)", best.Iteration, percentText(best.QualityScore))
	}
	if g := last.Decision.Approval; g != nil {
		p.Item("Answer: %s (%s, after %s)", g.Answer, g.Answer.Channel, FormatDuration(g.Answer.At.Sub(g.Asked)))
	} else {
		p.Item("No approval was asked for: no terminal, or unattended")
	}
	p.Item("Next: %s", last.Decision.Move)
	if a := last.Agent; a != nil && a.LastOutput != "" {
		p.Item("Last output of the agent: %s", a.LastOutput)
	}
}

// remedies say what a person can do, by the name of the recovery strategy that did not help.
var remedies = map[string]document.Text{
	"block_and_escalate":    document.Textf("Look at the change first. If the tests are right, say so in the task and run again; if they are wrong, change them yourself, or allow the change (`allow_remove`, `supervise ack`)."),
	"decompose":             document.Textf("Split the task into independent parts, and run a loop for each."),
	"simpler_approach":      document.Textf("Give the agent a smaller goal or a hint to the cause; a more capable model may help as well."),
	"ask_for_clarification": document.Textf("The task is ambiguous: say in the prompt which behaviour is right."),
	"fix_environment":       document.Textf("Fix the environment (commands, network, limits, disk), then resume the loop."),
	"leave_alone":           document.Textf("The agent finds this change necessary, or does not see what is wrong with it. If the change is right, accept the finding (`supervise ack`) and restore that tree; else say in the task how to do without it."),
	"allow_with_note":       document.Textf("Nothing remains to be done about this iteration."),
}

// addAdvice adds the remedy and the commands that help to decide.
func (p *page) addAdvice(v Escalation, last ledger.Iteration) {
	p.Heading(2, "Recommendation")
	remedy := remedies[last.Decision.Strategy]
	if remedy == nil {
		remedy = document.Textf("Consider a different approach, or end the loop: it makes no progress by itself.")
	}
	p.Add(document.Paragraph{Text: remedy})
	self, id, n := cmp.Or(v.Self, "supervise"), v.State.LoopID, last.Number
	p.Item("See what it changed: `%s diff %s %d`", self, id, n)
	p.Item("See why it was judged like this: `%s explain %s %d`", self, id, n)
	p.Item("Restore that tree: `%s rollback %s %d`", self, id, n)
	p.Item("Continue the loop: `%s resume %s --max-iterations %d`", self, id, max(v.State.Config.MaxIterations, n+5))
}
