package record_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"supervise/detector"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/selector"
)

// histories is how many random loops are walked; make histories walks ten times as many.
const histories = 1_000

// walk is a random loop: what supervise run would make of it, up to where it ends.
type walk struct {
	random *rand.Rand
	set    judge.Settings
	past   *judge.History
	trees  int
	last   detector.Assessment
}

func newWalk(seed uint64) *walk {
	w := &walk{
		random: rand.New(rand.NewPCG(seed, 20)), past: judge.NewHistory(),
		set: judge.Settings{
			Weights: selector.DefaultWeights(), Select: selector.DefaultOptions(),
			Recovery: recovery.Options{MaxRetries: 3, StopOnStall: true},
		},
	}
	if w.random.IntN(3) == 0 { // so that most cycles are late
		w.set.Rules.CycleMin = 3
	}
	set := metric.Set{
		Tests: w.tests(1+w.random.IntN(4), 2), Lint: lintOf(w.random.IntN(4)), Coverage: covered(400 + w.random.IntN(600)),
		Build: &metric.Build{Status: metric.BuildSuccess}, Code: &metric.Code{Files: 3, LOC: 100, Functions: 10, Complexity: 2},
	}
	it := ledger.Iteration{Set: set, Tree: "t0", Score: selector.Grade(set, set, w.set.Weights), Recorded: &ledger.Reported{}}
	it.Assessment = detector.Assessment{Class: detector.Baseline}
	it.Verified = selector.IsVerified(set, false, nil)
	w.past.Begin(it)
	return w
}

// tests are n tests that pass and some that fail.
func (w *walk) tests(n, failing int) *metric.Tests {
	var cases []metric.Test
	for i := range n + w.random.IntN(failing+1) {
		c := metric.Test{ID: metric.ID{Suite: "m", Name: fmt.Sprint("Test", i)}, Status: metric.Passed}
		if i >= n {
			c.Status = metric.Failed
		}
		cases = append(cases, c)
	}
	return metric.NewTests(cases)
}

func lintOf(n int) *metric.Lint {
	return &metric.Lint{Findings: slices.Repeat([]metric.Finding{{Level: metric.Error, Message: "wrong"}}, n)}
}

func covered(tenths int) *metric.Coverage {
	return &metric.Coverage{Covered: int64(tenths), Total: 1000, Unit: metric.Lines, Format: "lcov"}
}

// change is what an agent leaves of a tree: a few numbers move, an earlier tree comes back,
// or nothing happens.
func (w *walk) change(from detector.Observation) (metric.Set, string) {
	set := from.Set
	switch w.random.IntN(8) {
	case 0, 1:
		return set, from.Tree
	case 2, 3:
		back := w.past.Accepted[w.random.IntN(len(w.past.Accepted))]
		return back.Set, back.Tree
	case 4:
		n := set.Tests.Counts()
		set.Tests = w.tests(max(0, n.Passed+w.random.IntN(4)-1), 1)
	case 5:
		set.Lint = lintOf(max(0, set.Lint.Counts().Errors+w.random.IntN(20)-10))
	case 6:
		code := *set.Code
		code.LOC = max(1, code.LOC+w.random.IntN(120)-40)
		set.Code = &code
	}
	steps := []int{-300, -25, -10, -4, -1, 0, 1, 4, 10, 25, 150}
	pct, _ := set.Coverage.Percent()
	set.Coverage = covered(min(1000, max(0, int(math.Round(10*pct))+steps[w.random.IntN(len(steps))])))
	if w.random.IntN(12) == 0 {
		set.Build = &metric.Build{Status: metric.BuildFailure, FirstError: "no main"}
	}
	w.trees++
	return set, fmt.Sprint("t", w.trees)
}

// step judges one more iteration and reports whether the loop ends with it.
func (w *walk) step(t *testing.T) bool {
	it := ledger.Iteration{Number: len(w.past.Iterations), Evidence: &ledger.Evidence{}, Agent: &ledger.AgentRun{Cause: "exited"}}
	it.Set, it.Tree = w.change(w.past.Previous)
	it.Score = selector.Grade(it.Set, w.past.Baseline.Set, w.set.Weights)
	unchanged := it.Tree == w.past.Previous.Tree
	it.Recorded = &ledger.Reported{Unchanged: unchanged, StartedFrom: new(w.past.Previous.Iteration)}
	v, err := judge.Judge{Settings: w.set}.JudgeRecorded(it, w.past)
	if err != nil {
		t.Fatal(err)
	}
	it = v.Iteration
	step, next := w.past.Decide(it, w.set)
	it.Rejected = step.Reject
	it.Verified = judge.IsVerified(it, nil)
	it.Decision = judge.NewDecision(step, next, nil)
	w.last = it.Assessment
	w.past.Add(it, w.set.Select)
	return step.Move != recovery.Continue && step.Move != recovery.Retry
}

func TestRandomHistories(t *testing.T) {
	n, stalls, cycles, kept := histories, 0, 0, 0
	if text := os.Getenv("SUPERVISE_HISTORIES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(n) {
		w := newWalk(seed)
		for len(w.past.Iterations) < 12 && !w.step(t) {
		}
		choice, err := selector.Best(w.past.Candidates(), w.set.Select)
		if err != nil {
			t.Fatalf("history %d: %v", seed, err)
		}
		if why := less(w.past.Iterations[choice.Iteration], w.past.Iterations[0]); why != "" {
			t.Fatalf("history %d: iteration %d is selected: %s", seed, choice.Iteration, why)
		}
		if why := less(w.past.Iterations[w.past.Best.Iteration], w.past.Iterations[0]); why != "" {
			t.Fatalf("history %d: iteration %d is the best so far: %s", seed, w.past.Best.Iteration, why)
		}
		if w.last.Class == detector.Stalled {
			if stalls++; progressed(w.past.Accepted) {
				t.Fatalf("history %d ends as stalled, and something got better", seed)
			}
		}
		if slices.ContainsFunc(w.last.Alerts, func(a detector.Alert) bool { return a.Rule == detector.InfiniteLoop }) {
			if cycles++; !repeats(w.past.Accepted) {
				t.Fatalf("history %d ends as an infinite loop, and nothing repeats", seed)
			}
		}
		if choice.BaselineChosen {
			kept++
		}
		if seed%10 == 0 {
			recordedTheSame(t, seed, w)
		}
	}
	if min(stalls, cycles, kept)*100 < n {
		t.Errorf("of %d histories %d stalled, %d were cycles and %d kept the baseline: too few to show anything", n, stalls, cycles, kept)
	}
}

// less says in what an iteration is less than the baseline, by the words of the
// specification; "" for nothing.
func less(it, base ledger.Iteration) string {
	is, was := it.Set.Tests.Counts(), base.Set.Tests.Counts()
	errs, before := it.Set.Lint.Counts().Errors, base.Set.Lint.Counts().Errors
	now, _ := it.Set.Coverage.Percent()
	then, _ := base.Set.Coverage.Percent()
	switch {
	case is.Passed < was.Passed, is.Failed > was.Failed:
		return fmt.Sprintf("%d of %d pass, %d of %d before", is.Passed, is.Count, was.Passed, was.Count)
	case is.Passed > was.Passed:
		return ""
	case then-now > 2+1e-9, errs > before+5, it.Set.Build.Status == metric.BuildFailure:
		return fmt.Sprintf("coverage %.1f, %.1f before; %d errors, %d before; build %v", now, then, errs, before, it.Set.Build.Status)
	case it.Score.Value < base.Score.Value-.02-1e-9:
		return fmt.Sprintf("score %v, %v before", it.Score.Value, base.Score.Value)
	}
	return ""
}

// progressed reports whether a primary number was better in one of the last three
// iterations than before them.
func progressed(path []detector.Observation) bool {
	if len(path) < 4 {
		return false
	}
	before := path[len(path)-4].Set
	for _, o := range path[len(path)-3:] {
		is, was := o.Set.Tests.Counts(), before.Tests.Counts()
		now, _ := o.Set.Coverage.Percent()
		then, _ := before.Coverage.Percent()
		if is.Passed > was.Passed || is.Passed*was.Count > was.Passed*is.Count || now > then+.05+1e-9 || o.Set.Lint.Counts().Errors < before.Lint.Counts().Errors {
			return true
		}
	}
	return false
}

// repeats reports whether the path ends with a period of at least two, or at a tree where
// it came for the third time.
func repeats(path []detector.Observation) bool {
	n := len(path)
	for p := 2; 2*p <= n; p++ {
		same := true
		for i := n - p; i < n; i++ {
			same = same && path[i].Set.Signature() == path[i-p].Set.Signature()
		}
		if same {
			return true
		}
	}
	visits := 0
	for i, o := range path {
		if o.Tree == path[n-1].Tree && (i == 0 || path[i-1].Tree != o.Tree) {
			visits++
		}
	}
	return visits >= 3
}

// recordedTheSame fails where the same numbers, recorded by another orchestrator, are judged
// or decided in another way.
func recordedTheSame(t *testing.T, seed uint64, w *walk) {
	t.Helper()
	again, err := record.Rejudge(judge.RecordedLoop{Iterations: w.past.Iterations}, w.set)
	if err != nil {
		t.Fatalf("history %d: %v", seed, err)
	}
	for i, it := range w.past.Iterations[1:] {
		is := again.Verdicts[i+1].Iteration
		a, b := it.Assessment.Recommendation, is.Assessment.Recommendation
		if it.Assessment.Class != is.Assessment.Class || a.Action != b.Action || a.Reason != b.Reason || a.Target != b.Target {
			t.Fatalf("history %d, iteration %d: run %v %+v, record %v %+v", seed, it.Number, it.Assessment.Class, a, is.Assessment.Class, b)
		}
		if it.Rejected != is.Rejected || it.Decision.Move != is.Decision.Move || it.Decision.Target != is.Decision.Target || it.Decision.Retries != is.Decision.Retries {
			t.Fatalf("history %d, iteration %d: run decides %+v, record %+v", seed, it.Number, *it.Decision, *is.Decision)
		}
	}
}
