package agentrun

import (
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/ledger"
)

// Programs returns the programs that may do the work, in order; none for a user's command.
func (s Setup) Programs() []Program {
	if s.Program.Name == "" {
		return nil
	}
	return append([]Program{s.Program}, s.Fallback...)
}

// switchTo makes the agent use a program from now on, in a new session.
func (a *Agent) switchTo(p Program) {
	a.Program, a.Hooks.Client = p, p.hookClient()
	a.quotaWait = nil
	a.ResetSession()
}

// hookClient returns the client whose hooks a known program calls, "" for none.
func (p Program) hookClient() hook.Client {
	preset, _ := agent.ByName(p.Name) // it was known when the loop started
	client, err := hook.ParseClient(preset.Hooks)
	if err != nil {
		return ""
	}
	return client
}

// WithProgram returns the setup with one program and no fallback.
func (s Setup) WithProgram(p Program) Setup {
	s.Program, s.Fallback, s.Hooks.Client = p, nil, p.hookClient()
	return s
}

// findFallback finds the first available program, if the current one is unavailable until a
// time.
func (a *Agent) findFallback(until time.Time) (p Program, found bool) {
	if a.unavailableUntil == nil {
		a.unavailableUntil = map[string]time.Time{}
	}
	a.unavailableUntil[a.Program.Name] = until
	for _, p := range a.programs {
		if !a.Now().Before(a.unavailableUntil[p.Name]) {
			return p, true
		}
	}
	return Program{}, false
}

// handOver switches to another program if the current one is unavailable until a time, and
// reports whether there is one. The new program starts from the same tree, with the same
// prompt.
func (r *run) handOver(why *ledger.AgentRun, until time.Time) (bool, error) {
	next, found := r.findFallback(until)
	if !found || agent.Outcome(why.Outcome) != agent.RateLimit {
		return false, nil
	}
	err := r.Journal.Write(event.AgentWaiting, r.task.Iteration, event.Waiting{
		Outcome: why.Outcome, Message: why.Message, Until: until, Runs: r.runCount(), Agent: r.Program.Name, Next: next.Name,
	})
	if err == nil {
		err = r.hooks.close(r.record)
	}
	r.switchTo(next)
	if err == nil && r.record != nil {
		r.hooks, err = r.openHooks()
	}
	return err == nil, err
}
