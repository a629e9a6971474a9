package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/secrets"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
)

// proof is what running tests again showed about a commit, compared with another one.
type proof struct {
	Goals     *ledger.Goals         `json:"goals,omitempty"`
	Power     *ledger.MutationCheck `json:"power,omitempty"`
	Disguised *ledger.ConcealedRun  `json:"disguised,omitempty"`
	Why       string                `json:"why,omitempty"` // something could not be run
}

// refused is why tests were not run, although the commit touches them; "" if they were.
func (p proof) refused() string {
	why := p.Why
	if p.Goals != nil {
		why = cmp.Or(why, p.Goals.NotRunReason)
	}
	if p.Power != nil {
		why = cmp.Or(why, p.Power.NotRunReason)
	}
	return why
}

// prove runs the tests of the commits that touch some, or that add code which may look
// for them: the original tests, on mutants, and concealed from the code.
func (h *history) prove(ctx context.Context) error {
	if h.opts.Settings.GoalTests.Never {
		return nil
	}
	var todo []*pair
	for i := range h.measured {
		p := &h.measured[i]
		known := i == 0 || !p.provable || !h.opts.Uncached && h.cache.get(h.name(*p), &p.proof)
		if !known {
			p.proof = proof{Why: "the original tests were not run yet"}
			todo = append(todo, p)
		}
	}
	if h.opts.CachedOnly {
		return nil
	}
	return each(ctx, h, todo, func(ctx context.Context, s *site, p *pair) (finish, error) {
		began := time.Now()
		found, err := s.prove(ctx, *p)
		if err != nil {
			return nil, fmt.Errorf("run the original tests of commit %s: %w", p.commit.Short(), err)
		}
		return func(done int) {
			p.proof = found
			h.opts.OnProgress(Progress{Done: done, Total: len(todo), Commit: p.commit, Took: time.Since(began), IsProof: true, Why: found.refused()})
		}, nil
	})
}

// name names the proof of a pair in the cache.
func (h *history) name(p pair) string {
	limits, _ := json.Marshal([]any{h.opts.Settings.GoalTests, h.opts.Settings.MutationCheck}) //nolint:errchkjson // numbers and switches
	return "proof " + p.from.tree + " " + p.commit.tree + " " + string(limits)
}

// linesOf names the covered lines of a commit in the cache.
func linesOf(c Commit) string { return "lines " + c.tree }

// prove has the judge run the tests of one commit.
func (s *site) prove(ctx context.Context, p pair) (proof, error) {
	was, err := s.tree.Snapshot(ctx, s.store, p.from.ID)
	if err != nil {
		return proof{}, err
	}
	at, why, err := s.ready(ctx, p.entry, p.commit)
	if err != nil || why != "" {
		return proof{Why: why}, err
	}
	tree := judge.Tree{Iteration: p.iteration(1)}
	tree.Start, tree.Snapshot, tree.Confirmation = was, at.taken, &ledger.Confirmation{Flaky: p.flaky}
	if tree.Changes, err = s.store.Changes(ctx, was, at.taken); err != nil {
		return proof{}, err
	}
	var lines *metric.Coverage
	if s.cache.get(linesOf(p.commit), &lines) && lines != nil {
		tree.Set.Coverage = lines
	}
	var trouble string
	v, err := judge.Judge{
		Settings: s.opts.Settings, Subject: judge.Change, Mask: secrets.NewMask(s.opts.Env), Now: func() time.Time { return s.opts.Now },
		Workspace: treecopy.Workspace{Store: s.store, Meter: at.meter, Plan: at.plan, Root: s.tree.Dir, Scratch: filepath.Join(s.tree.Base, "copies")},
		OnProblem: func(what string, err error) { trouble = cmp.Or(trouble, fmt.Sprintf("%s: %v", what, err)) },
	}.Prove(ctx, tree, judge.NewCommitHistory(ledger.Iteration{Set: p.before, Snapshot: was, Agent: &ledger.AgentRun{Cause: runner.Exited.String()}}))
	if err != nil {
		return proof{}, cmp.Or(context.Cause(ctx), err)
	}
	out := proof{v.Goals, v.MutationCheck, v.ConcealedRun, trouble}
	if trouble != "" { // the machine may be the reason: it is tried again next time
		return out, nil
	}
	return out, s.cache.put(s.name(p), out)
}
