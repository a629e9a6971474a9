package results

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"supervise/internal/agentcheck"
	"supervise/internal/document"
	"supervise/internal/report"
)

// PrintAgents prints the known agents in two lists, first those that are installed.
func (t Printer) PrintAgents(list []agentcheck.Agent) {
	for _, there := range []bool{true, false} {
		head := "Installed"
		if !there {
			head = "Not installed"
		}
		for _, a := range list {
			if (a.Path != "" || a.Error != "") != there {
				continue
			}
			if head != "" {
				fmt.Fprintf(t, "%s:\n", t.Paint(document.Strong, head))
				head = ""
			}
			t.printAgent(a)
		}
	}
}

// printAgent prints one agent, with notes about what is known of it.
func (t Printer) printAgent(a agentcheck.Agent) {
	if a.Error != "" {
		fmt.Fprintf(t, "  %-13s %s\n", a.Name, t.Paint(document.Bad, strings.ReplaceAll(a.Error, "\n", "\n    ")))
		return
	}
	var notes []string
	if a.From != "" {
		notes = append(notes, a.From)
	}
	seen := "observed: " + a.Observed
	if a.ObservedVersion != "" && a.ObservedVersion != a.Version {
		seen += ", in version " + a.ObservedVersion
	}
	notes = append(notes, seen)
	if a.Hooks != "" {
		notes = append(notes, "hooks")
	}
	what := "not installed; " + a.Install
	if a.Path != "" {
		what = strings.TrimSpace(cmp.Or(a.Version, "version unknown"))
	}
	fmt.Fprintf(t, "  %-13s %s\n                %s\n", a.Name, what, t.Paint(document.Faint, strings.Join(notes, "; ")))
}

// PrintTurn prints what supervise understood of one turn of an agent.
func (t Printer) PrintTurn(r agentcheck.Turn) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("command", "%s", strings.Join(r.Command, " "))
	line("outcome", "%s, exit code %d, after %s", cmp.Or(r.Run.Outcome, "none"), r.Run.ExitCode, r.Run.Duration.Round(100*time.Millisecond))
	if r.Run.Message != "" {
		line("message", "%s", r.Run.Message)
	}
	if r.Remedy != "" {
		line("remedy", "%s", r.Remedy)
	}

	line("task", "%s", taskOf(r))
	line("usage", "%s", usageOf(r))
	line("session", "%s", cmp.Or(r.Run.Session, "not reported: --session continue needs one, unless the agent continues its latest"))
	if version := strings.TrimSpace(r.Run.Version + " " + r.Run.Model); version != "" {
		line("version", "%s", version)
	}

	line("hooks", "%s", hooksOf(r))
	if r.Run.LastOutput != "" {
		line("output", "%s", r.Run.LastOutput)
	}
	if r.Folder != "" {
		line("kept", "%s", r.Folder)
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
	if r.Run.Usage.Tokens() == nil {
		text += "; no tokens: --max-tokens has no effect"
	}
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
