package report

import (
	"fmt"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/textstream"
)

// EscalationName is the report of the latest question that only a person can
// answer, in the folder reports/ of its loop.
const EscalationName = "escalation-report.md"

// Escalation is what the report of an escalation shows.
type Escalation struct {
	State      ledger.State
	Iterations []ledger.Iteration // with the baseline first, and the one in question last
	Why        string             // a person has to judge
	Now        time.Time
	Self       string // how supervise is called
}

// Text returns the report.
func (v Escalation) Text() []byte {
	p := &page{}
	last := v.Iterations[len(v.Iterations)-1]
	p.line("# Escalation Report\n")
	p.line("**Loop ID**: %s", v.State.LoopID)
	p.line("**Iteration**: %d", last.Number)
	p.line("**Time**: %s", v.Now.UTC().Format(time.RFC3339))
	p.line("**Why**: %s\n", v.Why)
	p.line("## Task\n")
	p.line("%s\n", orText(strings.TrimSpace(v.State.Task), "No task was given beside the agent's command."))
	p.line("Done when: %s\n", v.State.Criterion)
	p.attempts(v)
	p.state(v, last)
	p.advise(v, last)
	return []byte(p.String())
}

func orText(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// attempts are the iterations of the incident: those since the last one that was
// kept without a word.
func (p *page) attempts(v Escalation) {
	p.line("## Attempts and Outcomes\n")
	from := len(v.Iterations) - 1
	for from > 1 && v.Iterations[from-1].Rejected && !v.Iterations[from-1].Interrupted {
		from--
	}
	p.line("| Iteration | Tests | Quality | What happened | Diagnosis | What was tried next |")
	p.line("|-----------|-------|---------|---------------|-----------|---------------------|")
	for _, it := range v.Iterations[from:] {
		d := it.Decision
		if d == nil {
			continue
		}
		p.line("| %d | %s | %s | %s | %s | %s |", it.Number, tests(it.Set), quality(it), cell(happened(it)), cell(orText(d.Diagnosis, "-")), cell(orText(d.Strategy, "-")))
	}
	p.line("")
	for _, it := range v.Iterations[from:] {
		if it.Decision == nil || len(it.Decision.Phases) == 0 {
			continue
		}
		p.line("Iteration %d:\n", it.Number)
		for _, phase := range it.Decision.Phases {
			p.line("- %s %s: %s", phase.At.UTC().Format(time.TimeOnly), phase.Phase, phase.Text)
		}
		p.line("")
	}
}

func cell(text string) string {
	return strings.ReplaceAll(textstream.Shown(strings.ReplaceAll(text, "\n", " ")), "|", `\|`)
}

func happened(it ledger.Iteration) string {
	var out []string
	for _, a := range it.Assessment.Alerts {
		if len(out) == 3 {
			break
		}
		out = append(out, fmt.Sprintf("%s %s", a.Severity, a.Message()))
	}
	if len(out) == 0 {
		out = []string{it.Decision.Reason}
	}
	if it.Rejected {
		out = append(out, "undone, kept as s"+string(it.Snapshot))
	}
	return strings.Join(out, "; ")
}

func (p *page) state(v Escalation, last ledger.Iteration) {
	p.line("## State\n")
	p.line("- Iterations: %d, of them undone: %d", last.Number, undoneOf(v.Iterations))
	p.line("- Recovery attempts: %d in the loop", last.Decision.Attempts)
	if last.Rejected {
		p.line("- The tree is restored to iteration %d", last.Decision.Target)
	} else {
		p.line("- The tree is as iteration %d left it", last.Number)
	}
	if best := v.State.Best; best != nil {
		p.line("- Best so far: iteration %d (%s)", best.Iteration, percent(best.QualityScore))
	}
	if g := last.Decision.Gate; g != nil {
		p.line("- Answer: %s (%s, after %s)", g.Answer, g.Answer.How, Duration(g.Answer.At.Sub(g.Asked)))
	} else {
		p.line("- No approval was asked for: no terminal, or unattended")
	}
	p.line("- Next: %s", last.Decision.Move)
	if a := last.Agent; a != nil && a.LastWords != "" {
		p.line("- Last words of the agent: %s", cell(a.LastWords))
	}
	p.line("")
}

func undoneOf(its []ledger.Iteration) (n int) {
	for _, it := range its {
		if it.Rejected {
			n++
		}
	}
	return n
}

// remedies are what a person can do about a cause, by the name of the strategy.
var remedies = map[string]string{
	"block_and_escalate":    "Look at the change first. If the tests are right, say so in the task and run again; if they are wrong, change them yourself, or allow the change (`allow_remove`, `supervise ack`).",
	"decompose":             "Split the task into independent parts, and run a loop for each.",
	"simpler_approach":      "Give the agent a smaller goal or a hint to the cause; a more capable model may help as well.",
	"ask_for_clarification": "The task is ambiguous: say in the prompt which behaviour is right.",
	"fix_environment":       "Fix the environment (commands, network, limits, disk), then resume the loop.",
	"leave_alone":           "The agent finds this change necessary, or does not see what is wrong with it. If the change is right, accept the finding (`supervise ack`) and restore that tree; else say in the task how to do without it.",
	"allow_with_note":       "Nothing remains to be done about this iteration.",
}

func (p *page) advise(v Escalation, last ledger.Iteration) {
	p.line("## Recommendation\n")
	p.line("%s\n", orText(remedies[last.Decision.Strategy], "Consider a different approach, or end the loop: it makes no progress by itself."))
	self, id, n := orText(v.Self, "supervise"), v.State.LoopID, last.Number
	p.line("- See what it changed: `%s diff %s %d`", self, id, n)
	p.line("- See why it was judged like this: `%s explain %s %d`", self, id, n)
	p.line("- Restore that tree: `%s rollback %s %d`", self, id, n)
	p.line("- Continue the loop: `%s resume %s --max-iterations %d`", self, id, max(v.State.Config.MaxIterations, n+5))
}
