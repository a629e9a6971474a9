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

// proof has what additional test runs on a commit showed: the original tests on the new code, the
// tests on mutants, and a run that the code cannot recognize as a test run. A field is nil if its
// run was not needed.
type proof struct {
	Goals         *ledger.Goals         `json:"goals,omitempty"`
	MutationCheck *ledger.MutationCheck `json:"power,omitempty"`
	Concealed     *ledger.ConcealedRun  `json:"concealed,omitempty"`
	Why           string                `json:"why,omitempty"` // why something could not run
}

// refusal says why tests that the commit touches were not run, "" if they were.
func (p proof) refusal() string {
	why := p.Why
	if p.Goals != nil {
		why = cmp.Or(why, p.Goals.NotRunReason)
	}
	if p.MutationCheck != nil {
		why = cmp.Or(why, p.MutationCheck.NotRunReason)
	}
	return why
}

// proveAll adds the proof to each pair that can be proven: the commit touches tests, or adds code
// that may detect a test run. It takes the proof from the cache, or runs the tests.
func (h *historyReplay) proveAll(ctx context.Context) error {
	if h.opts.Settings.GoalTests.Never {
		return nil
	}
	var todo []*pair
	for i := range h.pairs {
		p := &h.pairs[i]
		known := i == 0 || !p.provable || !h.opts.Uncached && h.cache.load(h.proofKey(*p), &p.proof)
		if !known {
			p.proof = proof{Why: "the original tests were not run yet"}
			todo = append(todo, p)
		}
	}

	if h.opts.CachedOnly {
		return nil
	}
	return runWorkers(ctx, h, todo, func(ctx context.Context, s *site, p *pair) (recordResult, error) {
		began := time.Now()
		found, err := s.proveCommit(ctx, *p)
		if err != nil {
			return nil, fmt.Errorf("run the original tests of commit %s: %w", p.commit.Short(), err)
		}
		return func(done int) {
			p.proof = found
			h.opts.OnProgress(Progress{Done: done, Total: len(todo), Commit: p.commit, Took: time.Since(began), IsProof: true, Why: found.refusal()})
		}, nil
	})
}

// proofKey returns the cache subject for the proof of a pair. The proof depends on both trees and
// on the limits of the runs.
func (h *historyReplay) proofKey(p pair) string {
	limits, _ := json.Marshal([]any{h.opts.Settings.GoalTests, h.opts.Settings.MutationCheck}) //nolint:errchkjson // numbers and switches
	return "proof " + p.base.tree + " " + p.commit.tree + " " + string(limits)
}

// coverageKey returns the cache subject for the covered lines of a commit.
func coverageKey(c Commit) string { return "lines " + c.tree }

// proveCommit lets the judge run the original tests, the mutants and the concealed run of one
// commit. It stores the proof in the cache, unless a problem of the machine made it incomplete.
func (s *site) proveCommit(ctx context.Context, p pair) (proof, error) {
	was, err := s.tree.Snapshot(ctx, s.store, p.base.ID)
	if err != nil {
		return proof{}, err
	}

	at, why, err := s.prepare(ctx, p.measurement, p.commit)
	if err != nil || why != "" {
		return proof{Why: why}, err
	}

	tree := judge.Tree{Iteration: p.toIteration(1)}
	tree.Start, tree.Snapshot, tree.Confirmation = was, at.taken, &ledger.Confirmation{Flaky: p.flaky}
	if tree.Changes, err = s.store.Changes(ctx, was, at.taken); err != nil {
		return proof{}, err
	}

	var lines *metric.Coverage
	if s.cache.load(coverageKey(p.commit), &lines) && lines != nil {
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
	return out, s.cache.store(s.proofKey(p), out)
}
