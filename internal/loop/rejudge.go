package loop

import (
	"fmt"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/selector"
)

// Record is what is known of a loop, or of a history of commits that is judged as
// if each were an iteration that was accepted.
type Record struct {
	Iterations []ledger.Iteration // with their evidence, numbered from 0, the baseline, without a gap
	// Dropped are the snapshots that retention had dropped when the iteration of
	// that number ended, as sN.
	Dropped map[int][]string
	// Commits says that it is a history: no test counts as one that the loop itself
	// had added and may take away again, for others wrote them; and the best so far
	// is always the commit before, which somebody found good enough.
	Commits bool
}

// Verdict is what the rules say of a recorded iteration now.
type Verdict struct {
	ledger.Iteration      // with the verdict of now in the place of the recorded one
	Judged           bool // false for the baseline and for one that was interrupted
}

// Rejudged are all verdicts on a loop, and what would be selected from it.
type Rejudged struct {
	Verdicts []Verdict        // by the numbers of the iterations
	Choice   *selector.Choice // nil for a history
}

// Rejudge judges recorded iterations once more, by the given settings: their
// rules, weights and selection. Nothing is measured. What the loop did is taken
// as it was recorded: each iteration is compared with the tree that it did start
// from, also when the one before would be judged otherwise now.
//
// Iterations without evidence are judged by their measurements alone.
func Rejudge(r Record, set Settings) (Rejudged, error) {
	var out Rejudged
	s := newSession(Options{Settings: set}.withDefaults(), "")
	s.ledger, s.commits = &ledger.Ledger{}, r.Commits
	for n, it := range r.Iterations {
		if it.Number != n {
			return out, fmt.Errorf("judge again: the record of iteration %d is missing", n)
		}
		v, err := s.rejudge(it)
		for _, name := range r.Dropped[n] {
			s.dropped[snapshotNamed(name)] = true
		}
		if err != nil {
			return out, err
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	if r.Commits {
		return out, nil
	}
	for n, v := range out.Verdicts {
		s.history[n].Rejected = v.Rejected
	}
	choice, err := selector.Best(s.candidates(), set.Select)
	if err != nil {
		return out, fmt.Errorf("judge again: %w", err)
	}
	out.Choice = &choice
	return out, nil
}

func (s *session) rejudge(was ledger.Iteration) (Verdict, error) {
	is := was
	switch {
	case was.Number == 0:
		s.rejudgeBaseline(&is)
		return Verdict{Iteration: is}, nil
	case was.Interrupted:
		s.history, s.rejected = append(s.history, was), nil
		return Verdict{Iteration: is}, nil
	case was.Decision == nil || was.Agent == nil:
		return Verdict{}, fmt.Errorf("judge again: iteration %d has no decision", was.Number)
	}
	var e ledger.Evidence
	if was.Evidence != nil {
		e = *was.Evidence
	}
	is.Score = selector.Grade(is.Judged(), s.history[0].Set, s.opts.Weights)
	is.Assessment = detector.Assess(s.inputOf(is, e), s.opts.Rules)
	step, next := s.step(is)
	if g := was.Decision.Gate; g != nil && step.Ask != "" { // a person's word stands
		step, next = recovery.Answered(step, next, g.Answer, s.opts.Recovery)
		is.Assessment = answered(is.Assessment, g)
	}
	is.Rejected = step.Reject
	var holds *bool
	is.Open = nil
	if !step.Reject {
		is.Open = s.openAgain(was, is)
		holds = was.Decision.Criterion
	}
	is.Verified = s.verified(is, holds)
	is.Decision = decision(step, next, holds)
	is.Decision.Gate = was.Decision.Gate
	fact := is
	fact.Rejected, fact.Decision = was.Rejected, was.Decision
	s.accept(fact)
	is.Best = s.state.Best
	return Verdict{Iteration: is, Judged: true}, nil
}

func (s *session) rejudgeBaseline(it *ledger.Iteration) {
	it.Score = selector.Grade(it.Set, it.Set, s.opts.Weights)
	it.Verified = s.verified(*it, nil)
	if it.Set.Tests == nil && s.opts.AllowUntested {
		s.untested()
	}
	s.begin(*it)
}
