package loop

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/agentrun"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
	"supervise/source"
)

// suiteOf makes n tests, of which the last failing ones fail.
func suiteOf(n, failing int) *metric.Tests {
	cases := make([]metric.Test, n)
	for i := range cases {
		cases[i] = metric.Test{
			ID:     metric.ID{Suite: fmt.Sprintf("example.org/project/internal/pkg%02d", i%50), Name: fmt.Sprintf("TestNumber%05d", i)},
			Status: metric.Passed, Duration: time.Millisecond,
		}
		if i >= n-failing {
			cases[i].Status = metric.Failed
		}
	}
	return metric.NewTests(cases)
}

func measuredSet(n, failing int, coverage float64) metric.Set {
	return metric.Set{
		Tests:    suiteOf(n, failing),
		Coverage: &metric.Coverage{Covered: int64(coverage * 100), Total: 10_000, Unit: metric.Statements, Format: "go"},
		Lint:     &metric.Lint{}, Build: &metric.Build{Status: metric.BuildSuccess},
		Code: &metric.Code{Files: 100, LOC: 10_000, Functions: 800, Complexity: 3},
	}
}

// definitionsOf makes the definitions of tests, as the changed files have them.
func definitionsOf(cases []metric.Test) []detector.TestSource {
	var out []detector.TestSource
	for i, c := range cases {
		def := source.TestDef{Name: c.Name, Tokens: map[string]int{"got": 2, "want": 2, c.Name: 1}, Symbols: []string{"Add"}}
		for k := range 5 {
			def.Assertions = append(def.Assertions, fmt.Sprintf("got != %d", 5*i+k))
			def.Literals = append(def.Literals, fmt.Sprint(1000+5*i+k))
		}
		out = append(out, detector.TestSource{File: c.Suite + "/a_test.go", Def: def})
	}
	return out
}

// BenchmarkVerdict is the own time of a verdict: 10 000 tests against 10 000, of
// which some fail now, some are gone and some are new; graded and assessed.
func BenchmarkVerdict(b *testing.B) {
	before, now := measuredSet(10_000, 100, 80), measuredSet(10_050, 120, 79)
	now.Tests = metric.NewTests(now.Tests.Cases[50:])
	base := detector.Observation{Set: before, Class: detector.Baseline}
	previous := detector.Observation{Iteration: 1, Set: before, Class: detector.Forward}
	in := detector.Input{
		Current: detector.Observation{Iteration: 2, Set: now, Changed: true}, Previous: previous, Baseline: base,
		History:  []detector.Observation{base, previous},
		Evidence: detector.Evidence{Before: definitionsOf(before.Tests.Cases[:60]), After: definitionsOf(now.Tests.Cases[:60])},
	}
	weights := selector.DefaultWeights()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took, cpu []time.Duration
	for b.Loop() {
		start, spent := time.Now(), threadTime()
		selector.Grade(now, before, weights)
		detector.Assess(in, detector.DefaultOptions())
		took, cpu = append(took, time.Since(start)), append(cpu, threadTime()-spent)
	}
	for unit, list := range map[string][]time.Duration{"ms": took, "cpu-ms": cpu} {
		slices.Sort(list)
		for _, q := range []float64{.5, .95} {
			at := list[min(len(list)-1, int(math.Ceil(q*float64(len(list)))))]
			b.ReportMetric(float64(at.Microseconds())/1000, fmt.Sprintf("%s-p%.0f", unit, 100*q))
		}
	}
}

// BenchmarkHistory judges iterations one after the other as the loop does, with
// everything before them as history, and writes the state and the trackers: the
// whole of what grows with the history. Snapshots, checks and the files of a
// single iteration are left out.
//
// s-disk-alone is what the disk takes to sync as many files of the size of the
// state, written with nothing else around: it is that of the machine, and the rest
// of s-written-and-synced is ours. s-cpu is the time of the processor for all of it.
func BenchmarkHistory(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				benchHistory(b, n)
			}
		})
	}
}

func benchHistory(b *testing.B, n int) {
	judging := judge.Settings{Rules: detector.DefaultOptions(), Weights: selector.DefaultWeights(), Select: selector.DefaultOptions()}
	o := Options{Settings: Settings{Setup: agentrun.Setup{Root: b.TempDir()}, Settings: judging}}.withDefaults()
	state := ledger.State{LoopID: "ralph-bench-00000000", Workspace: o.Root, Status: ledger.Running, History: []ledger.HistoryEntry{}}
	l, err := ledger.Create(b.TempDir(), state)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	r := newRun(o, l, state)
	sets := []metric.Set{measuredSet(100, 2, 80), measuredSet(100, 1, 80), measuredSet(100, 1, 80.4), measuredSet(100, 0, 80.2), measuredSet(101, 0, 80)}
	base := ledger.Iteration{LoopID: state.LoopID, Set: sets[0], Score: selector.Grade(sets[0], sets[0], o.Weights), Snapshot: "1", Tree: "t"}
	base.Assessment = detector.Assessment{Class: detector.Baseline}
	r.setBaseline(base)
	r.state.Add(base)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var judged, written time.Duration
	spent := threadTime()
	for i := 1; i <= n; i++ {
		set := sets[1+i%4]
		tests := *set.Tests
		tests.Cases = slices.Clone(tests.Cases)
		set.Tests = &tests
		it := ledger.Iteration{
			LoopID: state.LoopID, Number: i, Set: set, Snapshot: snapshot.ID(fmt.Sprint(i)), Tree: fmt.Sprint("tree ", i), StartedAt: time.Unix(int64(i), 0), EndedAt: time.Unix(int64(i+1), 0),
			Changed: []ledger.FileChange{{Path: "calc/calc.go", Kind: "modified"}, {Path: "calc/calc_test.go", Kind: "modified"}},
		}
		start := time.Now()
		v, err := judge.Judge{Settings: judging}.JudgeRecorded(it, r.past)
		if err != nil {
			b.Fatal(err)
		}
		it = v.Iteration
		step, next := r.past.Decide(it, judging)
		it.Verified, it.Decision = judge.IsVerified(it, nil), judge.NewDecision(step, next, nil)
		r.addToHistory(it)
		r.state.Add(*r.past.Last())
		judged += time.Since(start)
		start = time.Now()
		if err := r.reports.updateTrackers(); err != nil {
			b.Fatal(err)
		}
		if err := r.save(); err != nil {
			b.Fatal(err)
		}
		written += time.Since(start)
	}
	b.ReportMetric((threadTime() - spent).Seconds(), "s-cpu")
	b.ReportMetric(float64(n)*syncing(b, r.ledger.Dir()).Seconds(), "s-disk-alone")
	b.ReportMetric(judged.Seconds(), "s-judged")
	b.ReportMetric(written.Seconds(), "s-written-and-synced")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-sys")
}

// syncing is how long the disk takes for one file of the size of the state.
func syncing(b *testing.B, dir string) time.Duration {
	b.Helper()
	state, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		b.Fatal(err)
	}
	const times = 100
	path := filepath.Join(b.TempDir(), "file")
	start := time.Now()
	for range times {
		if err := ledger.WriteFile(path, state); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start) / times
}
