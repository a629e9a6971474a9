package agentrun

import (
	"slices"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/hook"
)

// Programs are all that may do the work, in their order; none where the user gave a command.
func (s Setup) Programs() []Program {
	if s.Program.Name == "" {
		return nil
	}
	return append([]Program{s.Program}, s.Fallback...)
}

// use has the agent be that of a program from now on, in a session of its own.
func (a *Agent) use(p Program) {
	a.Program, a.Hooks.Client = p, p.client()
	a.Forget()
}

// client is whose hooks a known program calls, "" for none.
func (p Program) client() hook.Client {
	preset, _ := agent.ByName(p.Name) // it was known when the loop began
	client, err := hook.ParseClient(preset.Hooks)
	if err != nil {
		return ""
	}
	return client
}

// As is the setup with one program in place of all.
func (s Setup) As(p Program) Setup {
	s.Program, s.Fallback, s.Hooks.Client = p, nil, p.client()
	return s
}

// handOver has another program go on where the present one may not be asked again before
// a time, and reports whether there is one that may. It begins from the same tree, with
// the same prompt.
func (r *run) handOver(until time.Time) (bool, error) {
	if r.used == nil {
		r.used = map[string]time.Time{}
	}
	r.used[r.Program.Name] = until
	at := slices.IndexFunc(r.order, func(p Program) bool { return !r.Now().Before(r.used[p.Name]) })
	if at < 0 || agent.Outcome(r.record.Outcome) != agent.RateLimit {
		return false, nil
	}
	next := r.order[at]
	err := r.Journal.Write(event.AgentWaiting, r.task.Iteration, event.Waiting{
		Outcome: r.record.Outcome, Message: r.record.Message, Until: until, Runs: max(r.record.Runs, 1), Agent: r.Program.Name, Next: next.Name,
	})
	if err == nil {
		err = r.hooks.close(r.record)
	}
	r.use(next)
	if err == nil {
		r.hooks, err = r.openHooks()
	}
	return err == nil, err
}
