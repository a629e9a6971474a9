package judge

import (
	"maps"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

// History is what an iteration is compared with: earlier iterations, and what was learned from
// them. [NewHistory] makes an empty one, and [History.Begin] starts it with a baseline.
type History struct {
	// Commits says that it is a history of commits, or of a merge request: no test counts
	// as added by the loop, since people wrote them, and the best so far is always the
	// previous commit, which was accepted.
	Commits bool
	// NamesIncomplete says that not all names of tests are known, so that none counts as added by
	// the loop.
	NamesIncomplete bool
	SnapshotDir     string // the folder of the snapshots, for the records of the best iteration

	// All iterations by number, the baseline first, and those among them that later ones are
	// compared with.
	Iterations   []ledger.Iteration
	Baseline     detector.Observation
	Previous     detector.Observation   // the tree from which the next iteration starts
	SafeSnapshot snapshot.ID            // the tree of Previous
	Accepted     []detector.Observation // including the baseline
	Best         *detector.Observation  // the baseline, until an iteration is eligible
	bestRecord   *ledger.BestIteration  // the record of Best, nil while it is the baseline

	// How the latest iterations ended.
	Rejected         *ledger.Iteration // the latest iteration if it was rejected, otherwise nil
	Recovery         recovery.State
	Errors           []string // errors of the latest consecutive iterations, empty if the last had none
	UnreadIterations int      // number of latest consecutive iterations without readable tests

	Dropped map[snapshot.ID]bool // snapshots that no longer exist
	testKnowledge
	earlierResults
}

// testKnowledge is what earlier iterations showed about single tests.
type testKnowledge struct {
	Flaky        map[metric.ID]bool         // tests that had two outcomes on one tree, at any time
	learnedFlaky map[metric.ID]bool         // see [detector.Input]
	hiddenPassed map[metric.ID]bool         // see [detector.Hidden]
	weakened     map[int]map[metric.ID]bool // by accepted iteration: tests that it or an earlier one weakened
}

// earlierResults are results that are used again instead of running the same again.
type earlierResults struct {
	measured       map[string]Measured              // by content identity of the tree
	hiddenRuns     map[string]*ledger.Hidden        // by content identity of the tree
	goals          map[string]*ledger.Goals         // by their keys
	mutationChecks map[string]*ledger.MutationCheck // by their keys
	changeMutants  map[string]*ledger.ChangeMutants // by their keys
	passing        map[snapshot.ID]passingLines
}

// NewHistory returns an empty history.
func NewHistory() *History {
	h := &History{Dropped: map[snapshot.ID]bool{}}
	h.Flaky, h.learnedFlaky, h.hiddenPassed = map[metric.ID]bool{}, map[metric.ID]bool{}, map[metric.ID]bool{}
	h.weakened, h.measured = map[int]map[metric.ID]bool{}, map[string]Measured{}
	h.hiddenRuns, h.goals = map[string]*ledger.Hidden{}, map[string]*ledger.Goals{}
	h.changeMutants = map[string]*ledger.ChangeMutants{}
	h.mutationChecks, h.passing = map[string]*ledger.MutationCheck{}, map[snapshot.ID]passingLines{}
	return h
}

// NewCommitHistory returns the history of a commit, which is the commit before it.
func NewCommitHistory(before ledger.Iteration) *History {
	h := NewHistory()
	h.Commits = true
	h.Begin(before)
	return h
}

// Begin starts the history with the baseline.
func (h *History) Begin(it ledger.Iteration) {
	obs := it.Observation()
	h.Baseline, h.Previous, h.Accepted, h.SafeSnapshot = obs, obs, []detector.Observation{obs}, it.Snapshot
	if !h.Commits {
		h.Best = &h.Accepted[0]
	}
	h.Iterations = []ledger.Iteration{it}
	h.measured[it.Tree] = Measured{Set: it.Set, Checks: it.Checks, CheckChanges: it.CheckChanges}
	h.learnHidden(it)
}

// Skip adds an iteration that was interrupted and is not judged.
func (h *History) Skip(it ledger.Iteration) {
	h.Iterations, h.Rejected = append(h.Iterations, it), nil
}

// Add adds an iteration with its decision. The next one is compared with it, unless it
// was rejected.
func (h *History) Add(it ledger.Iteration, o selector.Options) {
	h.Errors, h.UnreadIterations = h.errorsWith(failureText(it)), h.unreadWith(it)
	h.Iterations = append(h.Iterations, it)
	it.Assessment.LearnFlaky(h.learnedFlaky, FlakyTests(it.Set.Tests), it.Rejected)
	h.Recovery = recovery.State{Retries: it.Decision.Retries, Attempts: it.Decision.Attempts, RepeatedFindings: it.Decision.SameFinding}
	h.Rejected = nil
	h.learnTrials(it)
	if it.Rejected {
		h.Rejected = h.Last()
		if n := it.Decision.Target; n > 0 && n != h.Previous.Iteration {
			h.Previous, h.SafeSnapshot = h.Iterations[n].Observation(), it.Decision.Restore
			h.learnHidden(h.Iterations[n])
		}
		return
	}

	h.learnHidden(it)
	obs := it.Observation()
	h.Previous, h.SafeSnapshot = obs, it.Snapshot
	h.Accepted = append(h.Accepted, obs)
	if h.Commits {
		h.Best = &h.Accepted[len(h.Accepted)-1]
		return
	}
	if !h.mayBeBest(o) {
		return
	}
	if choice, err := selector.Best(h.Candidates(), o); err == nil && !choice.BaselineChosen && !h.IsBest(choice.Iteration) {
		best := h.Iterations[choice.Iteration].Observation()
		h.Best, h.bestRecord = &best, h.BestRecord(choice)
	}
}

// mayBeBest reports whether the last iteration can change which iteration is the best: whether it
// is chosen among the baseline, the best so far and itself. This saves comparing all iterations,
// since the others already lost against the best so far.
func (h *History) mayBeBest(o selector.Options) bool {
	few := []ledger.Iteration{h.Iterations[0]}
	if h.Best != nil && h.Best.Iteration > 0 {
		few = append(few, h.Iterations[h.Best.Iteration])
	}
	few = append(few, *h.Last())
	choice, err := selector.Best(ledger.Candidates(few, h.Dropped), o)
	return err != nil || !choice.BaselineChosen && !h.IsBest(choice.Iteration)
}

// Learn remembers what a verdict found out about its tree, whether or not the iteration is
// accepted: the measurements, and which tests are flaky.
func (h *History) Learn(v Verdict) {
	maps.Copy(h.passing, v.passing)
	v.Set.Coverage.ShareTexts(h.Previous.Set.Coverage)
	h.measured[v.Tree] = Measured{Set: v.confirmedSet(), Checks: v.Checks, CheckChanges: v.CheckChanges, Reused: true}
	if v.Confirmation != nil {
		h.LearnFlaky(v.Confirmation.Flaky)
	}
}

// confirmedSet returns the measured set in which flaky tests count as passed.
func (v Verdict) confirmedSet() metric.Set {
	for _, s := range v.Steps {
		if s.Stage == confirmStage {
			return s.Set
		}
	}
	return v.Measured
}

// Measured returns what was measured before of a tree with the same contents; false if nothing was.
func (h *History) Measured(tree string) (Measured, bool) {
	m, ok := h.measured[tree]
	m.Reused = true
	return m, ok
}

// Remember is Learn for a recorded iteration that Add or Begin added.
func (h *History) Remember(it ledger.Iteration) {
	if it.Number > 0 && !it.Interrupted {
		h.measured[it.Tree] = Measured{Set: it.Set, Checks: it.Checks, CheckChanges: it.CheckChanges}
	}
	h.LearnFlaky(FlakyTests(it.Set.Tests))
}

// LearnFlaky remembers tests that had two outcomes on one tree.
func (h *History) LearnFlaky(ids []metric.ID) {
	for _, id := range ids {
		h.Flaky[id] = true
	}
}

// learnHidden remembers the results of the hidden tests in a tree that is accepted.
func (h *History) learnHidden(it ledger.Iteration) {
	if it.Hidden == nil || it.Hidden.Tests == nil {
		return
	}
	if it.Tree != "" { // else it is not known which trees are the same
		h.hiddenRuns[it.Tree] = it.Hidden
	}
	for _, t := range it.Hidden.Tests.Cases {
		if t.Status != metric.NotRun {
			h.hiddenPassed[t.ID] = t.Status == metric.Passed
		}
	}
}

// Last returns the latest iteration, nil if there is none.
func (h *History) Last() *ledger.Iteration {
	if len(h.Iterations) == 0 {
		return nil
	}
	return &h.Iterations[len(h.Iterations)-1]
}

// Candidates returns all iterations in the form of the selector.
func (h *History) Candidates() []selector.Candidate {
	return ledger.Candidates(h.Iterations, h.Dropped)
}

// Granted returns the tests that a person allowed the agent to change in this loop.
func (h *History) Granted() []detector.Grant {
	var out []detector.Grant
	for i := range h.Iterations { // not by value: there may be thousands
		d := h.Iterations[i].Decision
		if d == nil || d.UnblockApproval == nil {
			continue
		}
		for _, id := range h.Iterations[i].AllowedTests() {
			out = append(out, detector.Grant{Test: id, Reason: d.UnblockApproval.Answer.Reason})
		}
	}
	return out
}

// Acknowledged returns the findings that a person accepted after the loop had started.
func (h *History) Acknowledged() []detector.Acknowledgement {
	var out []detector.Acknowledgement
	for i := range h.Iterations {
		out = append(out, h.Iterations[i].Acknowledged...)
	}
	return out
}

// IsBest reports whether iteration n is the best so far.
func (h *History) IsBest(n int) bool { return h.Best != nil && h.Best.Iteration == n }

// BestSoFar returns the record of the best iteration, nil if there is none.
func (h *History) BestSoFar() *ledger.BestIteration { return h.bestRecord }

// BestRecord returns the record of a selection.
func (h *History) BestRecord(c selector.Selection) *ledger.BestIteration {
	it := h.Iterations[c.Iteration]
	return &ledger.BestIteration{
		Iteration: it.Number, QualityScore: it.Score.Value, Snapshot: it.Snapshot, SnapshotPath: h.SnapshotDir, Reason: c.Reason,
	}
}

// baselineIteration returns the baseline, or an empty iteration if there is none.
func (h *History) baselineIteration() ledger.Iteration {
	if len(h.Iterations) == 0 {
		return ledger.Iteration{}
	}
	return h.Iterations[0]
}

// startIteration returns the iteration from whose tree the next one starts.
func (h *History) startIteration() ledger.Iteration { return h.Iterations[h.Previous.Iteration] }

// variation returns by how much a metric varied between the runs on the baseline.
func (h *History) variation(f metric.Field) float64 { return h.baselineIteration().Set.Variation[f] }

// exclusionsOf returns an iteration with the same tree whose coverage was measured without
// exclusions, nil if there is none.
func (h *History) exclusionsOf(tree string) *ledger.Iteration {
	for i := range h.Iterations {
		if it := &h.Iterations[i]; it.Tree == tree && it.Excluded != nil {
			return it
		}
	}
	return nil
}

// RestoreTarget returns the snapshot that replaces the tree of a rejected iteration: the one that
// it started from, or that of the earlier iteration n.
func (h *History) RestoreTarget(it ledger.Iteration, n int) snapshot.ID {
	if n == h.Previous.Iteration || n == 0 {
		return it.Start
	}
	return h.Iterations[n].Snapshot
}
