package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/metric"
)

// printAgent says how the agent ended, unless it succeeded and left nothing, and what it used.
func (p *Printer) printAgent(it ledger.Iteration) {
	p.printNoteUnlessEmpty("agent: ", report.AgentEnding(it.Agent))
	p.printNoteUnlessEmpty("agent: ", report.AgentUsage(it.Agent))
	for _, s := range it.Blocks() {
		p.printWarning("the agent says that it cannot continue: " + s.String())
	}
	if it.Agent == nil {
		return
	}
	if text := agent.UntestedNote(it.Agent.Program, it.Agent.Version); text != p.untestedNote && text != "" {
		p.untestedNote = text
		p.printNote("%s", text)
	}
}

// printGaps prints what was not measured in an iteration, and why.
func (p *Printer) printGaps(it ledger.Iteration) {
	p.printNoteUnlessEmpty("change: ", it.ChangeCoverage.Shortfall())
	p.printNoteUnlessEmpty(it.Hidden.Kind()+" tests: ", report.HiddenTestsText(it.Hidden))
	if n := it.Set.Tests.Counts(); n.Cached > 0 {
		p.printNote("%d of %s run, %d cached from the last run", n.Count-n.Cached, report.Pluralize(n.Count, "test", "tests"), n.Cached)
	}

	for _, g := range it.Set.Gaps {
		p.printWarning(it.Set.DescribeGap(g) + ": " + mainLine(g.Why))
	}
	broken := brokenSuites(it.Set)
	for i, s := range broken {
		if i == 3 {
			p.printNote("and %d more did not run", len(broken)-i)
			break
		}
		p.printWarning(s.Name + " did not run: " + s.MainError())
	}

	for _, c := range it.Checks {
		for _, problem := range c.Problems {
			if len(broken) == 0 && !it.Set.HasGapAbout(problem) { // else it most likely follows from that
				p.printNote("%s: %s", c.Name, problem)
			}
		}
	}
}

// brokenSuites returns the suites that did not run, nil for none.
func brokenSuites(s metric.Set) []metric.Suite {
	if s.Tests == nil {
		return nil
	}
	return s.Tests.Broken
}

// mainLine returns the most informative line of a text.
func mainLine(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	return metric.Suite{Why: text}.MainError()
}

// printSevere prints the HIGH and CRITICAL findings of an iteration that was accepted. For a
// rejected one, printRejected prints them as the reasons.
func (p *Printer) printSevere(it ledger.Iteration) {
	if it.Rejected {
		return
	}
	for _, a := range it.Assessment.Alerts {
		if text := a.Message(); a.Severity >= detector.High && !repeatsGap(it, text) {
			p.printWarning(text)
		}
	}
}

// repeatsGap reports whether a message repeats why something was not measured.
func repeatsGap(it ledger.Iteration, message string) bool {
	return slices.ContainsFunc(it.Set.Gaps, func(g metric.Gap) bool { return g.Why != "" && strings.HasSuffix(message, g.Why) })
}

// printRejected prints why an iteration was rejected, and what happened to the tree.
func (p *Printer) printRejected(d event.Rejection, iteration int) {
	for _, r := range d.Reasons {
		if n := len(p.history); n > 0 && repeatsGap(p.history[n-1], r) {
			continue
		}
		p.printLine("     %s", p.Paint(document.Bad, r))
	}
	if len(d.Tests) > 0 {
		p.printLine("     tests: %s", strings.Join(report.Truncate(d.Tests, 5), ", "))
	}
	retry := report.Either(d.Retry > 0, fmt.Sprintf("retry %d of %d", d.Retry, d.Max), "no retry left")
	p.printNote("tree restored to %s; the rejected tree is kept as %s; %s", report.IterationName(d.Restored), d.Kept, retry)
	p.printNote("why, and how to override it: %s explain %s %d", p.Self, p.id, iteration)
}

// keepHookCall keeps a call of the agent's hooks until the agent has left the terminal. It reports
// whether the event is one.
func (p *Printer) keepHookCall(e event.Event) bool {
	if e.Type == event.IterationStarted {
		p.calls = nil
	}
	d, ok := e.Data.(event.HookCall)
	if ok {
		p.calls = append(p.calls, d)
	}
	return ok
}

// printHookCalls prints the calls that the hooks refused.
func (p *Printer) printHookCalls() {
	const most = 3
	refused := 0
	for _, c := range p.calls {
		if c.Decision != hook.Deny && c.Decision != hook.Ask || len(c.Risks) == 0 {
			continue
		}
		if refused++; refused <= most {
			p.printWarning(fmt.Sprintf("refused: %s %s: %s", c.Tool, shortLine(c.Target), c.Risks[0].Why))
		}
	}
	if refused > most {
		p.printWarning(fmt.Sprintf("refused: %s more", report.Pluralize(refused-most, "call", "calls")))
	}
}

// shortLine returns the start of the first line of a text.
func shortLine(s string) string {
	const width = 60
	for i, r := range s {
		if r == '\n' || i >= width {
			return s[:i] + " …"
		}
	}
	return s
}

// silenceText says why the agent called no hooks.
func silenceText(t event.Type, d event.HookFailure) string {
	if t == event.HooksBroken {
		return fmt.Sprintf("hooks of %s are not installed: %s", cmp.Or(d.Client, "the agent"), d.Why)
	}
	return fmt.Sprintf("hooks did not fire: %s was started with hooks and called none of them; most likely: %s", d.Client, d.Why)
}
