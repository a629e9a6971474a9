package judge

import (
	"fmt"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/selector"
	"supervise/snapshot"
)

// RecordedLoop is a recorded loop, or a history of commits that is judged as if each were an
// accepted iteration.
type RecordedLoop struct {
	Iterations []ledger.Iteration // with their evidence, numbered from 0, the baseline, without a gap
	// Dropped are the snapshots that retention had dropped when the iteration of
	// that number ended, as sN.
	Dropped map[int][]string
	Commits bool // see [History]
}

// Rejudgement are all verdicts on a loop, and what would be selected from it.
type Rejudgement struct {
	Verdicts  []Verdict           // by the numbers of the iterations
	Selection *selector.Selection // nil for a history
}

// Rejudge judges recorded iterations again by the given settings: their rules, weights and
// selection. It measures nothing. Each iteration is compared with the tree from which it really
// started, even if the iteration before would now be judged otherwise.
func Rejudge(r RecordedLoop, set Settings) (Rejudgement, error) {
	var out Rejudgement
	j, h := rejudger{set}, NewHistory()
	h.Commits = r.Commits
	for n, it := range r.Iterations {
		if it.Number != n {
			return out, fmt.Errorf("judge again: the record of iteration %d is missing", n)
		}
		v, err := j.iteration(it, h)
		for _, name := range r.Dropped[n] {
			h.Dropped[snapshot.ID(strings.TrimPrefix(name, "s"))] = true
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
		h.Iterations[n].Rejected = v.Rejected
	}

	choice, err := selector.Best(h.Candidates(), set.Select)
	if err != nil {
		return out, fmt.Errorf("judge again: %w", err)
	}

	out.Selection = &choice
	return out, nil
}

// rejudger judges by settings that the baseline may change.
type rejudger struct{ Settings }

// iteration judges one recorded iteration again and adds it to the history.
func (j *rejudger) iteration(recorded ledger.Iteration, h *History) (Verdict, error) {
	switch {
	case recorded.Number == 0:
		return j.baseline(recorded, h), nil
	case recorded.Interrupted:
		h.Skip(recorded)
		return Verdict{Iteration: recorded}, nil
	case recorded.Decision == nil || recorded.Agent == nil:
		return Verdict{}, fmt.Errorf("judge again: iteration %d has no decision", recorded.Number)
	}
	rejudged, err := Judge{Settings: j.Settings}.JudgeRecorded(recorded, h)
	if err != nil {
		return rejudged, err
	}

	step, next := h.Decide(rejudged.Iteration, j.Settings)
	if g := recorded.Decision.Approval; g != nil && step.Ask != "" { // a person's answer stays
		step, next = recovery.ApplyAnswer(step, next, g.Answer, j.Recovery)
		rejudged.Assessment = ApplyAnswer(rejudged.Assessment, g)
	}
	rejudged.Rejected = step.Reject
	var met *bool
	rejudged.Open = nil
	if !step.Reject {
		rejudged.Open = h.reopenedFindings(recorded, rejudged.Iteration)
		met = recorded.Decision.Criterion
	}
	rejudged.Verified = IsVerified(rejudged.Iteration, met)
	rejudged.Decision = NewDecision(step, next, met)
	rejudged.Decision.Approval = recorded.Decision.Approval
	Unblock(&rejudged.Iteration, recorded.Decision.UnblockApproval)
	fact := rejudged.Iteration
	fact.Rejected, fact.Decision = recorded.Rejected, recorded.Decision
	h.Add(fact, j.Select)
	rejudged.Best = h.BestSoFar()
	return rejudged, nil
}

// baseline starts the history with the recorded baseline, graded by the settings.
func (j *rejudger) baseline(it ledger.Iteration, h *History) Verdict {
	it.Score = selector.Grade(it.Set, it.Set, j.Weights)
	it.Verified = IsVerified(it, nil)
	if it.Set.Tests == nil && j.AllowUntested {
		j.Settings = j.WithoutTests()
	}
	h.Begin(it)
	return Verdict{Iteration: it}
}
