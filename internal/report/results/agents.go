package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/internal/agentcheck"
	"supervise/internal/document"
	"supervise/internal/report"
)

// PrintAgents prints the known agents in two lists, first those that are installed.
func (t Printer) PrintAgents(list []agentcheck.Agent) {
	isMissing := func(a agentcheck.Agent) bool { return a.Path == "" && a.Error == "" }
	isInstalled := func(a agentcheck.Agent) bool { return !isMissing(a) }
	t.printAgentList("Installed", slices.DeleteFunc(slices.Clone(list), isMissing))
	t.printAgentList("Not installed", slices.DeleteFunc(slices.Clone(list), isInstalled))
}

// printAgentList prints agents below a heading, unless there are none.
func (t Printer) printAgentList(heading string, list []agentcheck.Agent) {
	if len(list) > 0 {
		t.printLine("%s:", t.Paint(document.Strong, heading))
	}
	for _, a := range list {
		t.printAgent(a)
	}
}

// printAgent prints one agent, with notes about what is known of it.
func (t Printer) printAgent(a agentcheck.Agent) {
	if a.Error != "" {
		fmt.Fprintf(t, "  %-13s %s\n", a.Name, t.Paint(document.Bad, strings.ReplaceAll(a.Error, "\n", "\n    ")))
		return
	}
	notes := report.Either(a.From == "", "", a.From+"; ") + "observed: " + a.Observed
	if a.ObservedVersion != "" && a.ObservedVersion != a.Version {
		notes += ", in version " + a.ObservedVersion
	}
	notes += report.Either(a.Hooks == "", "", "; hooks")
	what := report.Either(a.Path != "", strings.TrimSpace(cmp.Or(a.Version, "version unknown")), "not installed; "+a.Install)
	fmt.Fprintf(t, "  %-13s %s\n                %s\n", a.Name, what, t.Paint(document.Faint, notes))
}

// PrintTurn prints what supervise understood of one turn of an agent.
func (t Printer) PrintTurn(r agentcheck.Turn) {
	took := r.Run.Duration.Round(100 * time.Millisecond)
	for _, row := range [][2]string{
		{"command", strings.Join(r.Command, " ")},
		{"outcome", fmt.Sprintf("%s, exit code %d, after %s", cmp.Or(r.Run.Outcome, "none"), r.Run.ExitCode, took)},
		{"message", r.Run.Message},
		{"remedy", r.Remedy},
		{"task", taskOf(r)},
		{"usage", usageOf(r)},
		{"session", cmp.Or(r.Run.Session, "not reported: --session continue needs one, unless the agent continues its latest")},
		{"version", strings.TrimSpace(r.Run.Version + " " + r.Run.Model)},
		{"hooks", hooksOf(r)},
		{"output", r.Run.LastOutput},
		{"kept", r.Folder},
	} {
		if row[1] != "" {
			t.printLine("%-9s %s", row[0], row[1])
		}
	}
}

// taskOf says whether the agent did the task, and with whose consent.
func taskOf(r agentcheck.Turn) string {
	switch {
	case r.Done && r.Consent:
		return "done, with the consent of --yolo"
	case r.Done:
		return "done, without consent: it did not ask"
	case r.Consent:
		return "not done: " + agentcheck.TargetFile + " was not written"
	}
	return "not done, and no consent was given: try --yolo"
}

// usageOf says what the agent consumed, and which limits have no effect on it.
func usageOf(r agentcheck.Turn) string {
	if r.Run.Usage == nil {
		return "not reported: --max-cost and --max-tokens have no effect"
	}
	text := report.AgentUsage(&r.Run)
	text += report.Either(r.Run.Usage.Tokens() == nil, "; no tokens: --max-tokens has no effect", "")
	if r.Run.Usage.CostUSD == nil {
		text += "; no cost: --max-cost has no effect"
	}
	return text
}

// hooksOf says whether the agent called its hooks.
func hooksOf(r agentcheck.Turn) string {
	switch r.Hooks {
	case agentcheck.HooksCalled:
		return fmt.Sprintf("called %s", report.Pluralize(r.Calls, "time", "times"))
	case agentcheck.HooksSilent:
		return "installed and never called: " + r.Why
	}
	return "none that supervise knows"
}
