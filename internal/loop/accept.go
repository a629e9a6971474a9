package loop

import (
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/selector"
	"supervise/snapshot"
)

// target is the snapshot that a rejected iteration is replaced by: the tree it
// started from, or that of an earlier iteration.
func (s *session) target(it ledger.Iteration, n int) snapshot.ID {
	if n == s.previous.Iteration || n == 0 {
		return it.Start
	}
	return s.history[n].Snapshot
}

// accept takes an iteration with its decision into the history. One that was not
// rejected is what the next is compared with.
func (s *session) accept(it ledger.Iteration) {
	s.history = append(s.history, it)
	it.Assessment.LearnFlaky(s.unsteady, flakyOf(it.Set.Tests), it.Rejected)
	s.recovery = recovery.State{Retries: it.Decision.Retries, Attempts: it.Decision.Attempts}
	s.rejected = nil
	if it.Rejected {
		s.rejected = &s.history[len(s.history)-1]
		s.agent.Forget()
		if n := it.Decision.Target; n > 0 && n != s.previous.Iteration {
			s.previous, s.safe = s.history[n].Observation(), it.Decision.Restore
			s.learnHidden(s.history[n])
		}
		return
	}
	s.learnHidden(it)
	obs := it.Observation()
	s.previous, s.safe = obs, it.Snapshot
	s.accepted = append(s.accepted, obs)
	if s.commits {
		s.best = &s.accepted[len(s.accepted)-1]
		return
	}
	if !s.mayBeBest() {
		return
	}
	if choice, err := selector.Best(s.candidates(), s.opts.Select); err == nil && !choice.BaselineChosen && !s.isBest(choice.Iteration) {
		best := s.history[choice.Iteration]
		o := best.Observation()
		s.best = &o
		s.state.Best = s.bestIteration(choice)
	}
}

// mayBeBest reports whether the last iteration can change which is the best: only
// where it is chosen from the best so far, the baseline and itself. The others
// did not stand against the best before, and an iteration that does not beat it
// helps none of them.
func (s *session) mayBeBest() bool {
	few := []ledger.Iteration{s.history[0]}
	if s.best != nil && s.best.Iteration > 0 {
		few = append(few, s.history[s.best.Iteration])
	}
	few = append(few, s.history[len(s.history)-1])
	choice, err := selector.Best(ledger.Candidates(few, s.dropped), s.opts.Select)
	return err != nil || !choice.BaselineChosen && !s.isBest(choice.Iteration)
}

func (s *session) bestIteration(c selector.Choice) *ledger.BestIteration {
	it := s.history[c.Iteration]
	return &ledger.BestIteration{
		Iteration: it.Number, QualityScore: it.Score.Value, Snapshot: it.Snapshot,
		SnapshotPath: s.ledger.SnapshotDir(), Reason: c.Reason,
	}
}

// candidates are all iterations as the selector sees them.
func (s *session) candidates() []selector.Candidate { return ledger.Candidates(s.history, s.dropped) }

func (s *session) isBest(n int) bool { return s.best != nil && s.best.Iteration == n }

func (s *session) verified(it ledger.Iteration, criterion *bool) bool {
	return it.Hidden.Green() && len(it.Open) == 0 && selector.Verified(it.Set, it.Assessment.Critical(), criterion)
}
