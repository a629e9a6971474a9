package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/report"
)

// newAgent returns the agent of the loop.
func (s *session) newAgent() *agentrun.Agent {
	o := s.opts
	return agentrun.New(agentrun.Options{
		Setup: o.Setup, LoopID: s.id, Home: o.Home, Env: o.Env, Self: o.Self, Promise: o.Until.Promise,
		Terminal: o.Terminal, Mirror: o.Mirror, Grace: o.Grace, OnInterrupt: o.OnInterrupt, Warn: s.warn, Now: o.Now,
		Mode: hook.Mode(o.Rules.Mode), Integrity: o.Integrity, Checks: o.checkScripts(),
		User: s.user, Masker: s.masker.Masker, Ledger: s.ledger, Store: s.store, Journal: s.journal,
	})
}

func (s *session) warn(what string, err error) {
	if err != nil {
		s.opts.Log.WithError(err).Warn(what)
		return
	}
	s.opts.Log.Warn(what)
}

// checkScripts are the files that the checks start, relative to the tree.
func (s Settings) checkScripts() []string {
	var out []string
	for _, name := range s.Plan.Programs() {
		path := filepath.Join(s.Plan.Root, name)
		if rel, err := filepath.Rel(s.Root, path); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// runAgent runs the agent with the prompt of the iteration and waits until nothing
// of it is left.
func (s *session) runAgent(ctx context.Context, w *work) error {
	text, err := s.prompt(w)
	if err != nil {
		return err
	}
	n := s.past.Previous.Set.Tests.Counts()
	res, err := s.agent.Run(ctx, agentrun.Task{
		Iteration: w.it.Number, Prompt: text + s.opts.Until.Request(), Start: w.start.ID, StartedAt: w.it.StartedAt, Spent: s.spent(),
		Opening: hook.Opening(n.Passed, n.Count), Unmet: s.unmet,
		Beware: func(d hook.Decision) hook.Decision { return s.beware(w.it.Level, d) },
		OnWait: func(text string) error {
			s.state.Waiting = text
			return s.save()
		},
	})
	w.it.Agent, w.unserved = res.Run, res.Stop
	return err
}

// spent is what the agent consumed in the iterations so far.
func (s *session) spent() agent.Usage {
	if s.state.Spending == nil {
		return agent.Usage{}
	}
	return s.state.Spending.Usage
}

// shortened ends a loop early that cannot go on: its agent was not served, or has
// consumed what it may. The stop of the iteration itself comes first where it is a
// good end.
func (s *session) shortened(w *work, stop event.Stop) event.Stop {
	switch {
	case stop.Reason == event.CriterionMet, stop.Reason == event.RetriesSpent:
		return stop
	case w.unserved.Reason != "":
		return w.unserved
	case stop.Reason != "":
		return stop
	}
	return s.opts.Exhausted(s.spent())
}

// unmet measures the tree while the agent wants to stop, and returns what is missing
// for the criterion; "" where it is met, or cannot be measured.
func (s *session) unmet(ctx context.Context) string {
	res, err := s.measureMasked(ctx, s.past.Previous.Set.Tests)
	if err != nil {
		return ""
	}
	if met, err := s.met(ctx, ledger.Iteration{Set: res.Set}); err != nil || met == nil || *met {
		return ""
	}
	n := res.Set.Tests.Counts()
	text := fmt.Sprintf("%d of %s pass", n.Passed, report.Count(n.Count, "test", "tests"))
	if list := judge.Failing(res.Set.Tests); len(list) > 0 {
		text += "; failing: " + strings.Join(list[:min(len(list), 5)], ", ")
	}
	return text + ". Done is when " + s.opts.Until.String() + "."
}
