package measure

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"supervise/internal/measure/internal/free"
)

// AutoParallel is the [Plan].Parallel that runs read-only linters in parallel with the tests
// if there are two CPUs and enough memory.
const AutoParallel = 0

// enoughCPUs is the number of CPUs from which on a linter does not slow the tests down.
// With fewer, see [recordContention].
const enoughCPUs = 4

// enoughMemory must be free for two checks at a time, in bytes: compilers and type
// checkers of larger projects take about one GiB each.
const enoughMemory = 2 << 30

// stage is a set of checks, by their index in the plan, that all end before the next stage
// starts.
type stage struct {
	sequential []int // one after another: each may need what earlier ones wrote
	parallel   []int // at any time during the stage
}

// checks returns the checks of the stage in the order of the plan.
func (s stage) checks() []int {
	list := slices.Concat(s.sequential, s.parallel)
	slices.Sort(list)
	return list
}

// workerLimit returns how many checks of the plan may run at the same time.
func workerLimit(p Plan) int {
	switch {
	case p.Parallel > 0:
		return p.Parallel
	case runtime.GOMAXPROCS(0) < 2:
		return 1
	}
	if bytes, known := free.Memory(); known && bytes < enoughMemory {
		return 1
	}
	return 2
}

// planStages divides the checks into stages. Later checks may need the output of a build, so a
// build is a separate stage unless it discards its output. Two test checks never run at the
// same time.
func planStages(p Plan) []stage {
	var list []stage
	open, several := false, workerLimit(p) > 1
	for i, c := range p.Checks {
		needed := c.Kind == Build && !c.DiscardsOutput()
		if needed || !open {
			list = append(list, stage{})
		}
		open = !needed
		last := &list[len(list)-1]
		if several && c.RunsInParallel(p.Parallel != AutoParallel) {
			last.parallel = append(last.parallel, i)
		} else {
			last.sequential = append(last.sequential, i)
		}
	}
	return list
}

// workers run the checks of one stage.
type workers struct {
	measurement    *measurement
	attempts       map[int]chan *attempt // by index in the plan; each holds one
	sequentialRead chan struct{}         // the last sequential one was read
	queue          chan int              // parallel ones that did not start
	running        sync.WaitGroup
}

// startStage starts a stage. Every check is sent as an attempt, also if ctx ends before its
// turn. Of the parallel checks, the one with the shortest last run starts first.
func (m *measurement) startStage(ctx context.Context, s stage) *workers {
	w := &workers{measurement: m, attempts: map[int]chan *attempt{}, sequentialRead: make(chan struct{}, 1), queue: make(chan int, len(s.parallel))}
	for _, i := range s.checks() {
		w.attempts[i] = make(chan *attempt, 1)
	}
	for _, i := range m.sortByDuration(s.parallel) {
		w.queue <- i
	}
	close(w.queue)
	w.running.Go(func() {
		w.runSequential(ctx, s.sequential)
		w.runParallel(ctx)
	})
	for range min(workerLimit(m.plan)-1, len(s.parallel)) {
		w.running.Go(func() { w.runParallel(ctx) })
	}
	return w
}

// sortByDuration sorts checks by their last duration. Without a known duration, linters
// precede builds, which also link.
func (m *measurement) sortByDuration(list []int) []int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int {
		one, other := m.plan.Checks[a], m.plan.Checks[b]
		return cmp.Or(cmp.Compare(m.memory.Durations[one.ID()], m.memory.Durations[other.ID()]), -cmp.Compare(one.Kind, other.Kind))
	})
	return list
}

// runParallel runs the checks that may run at any time.
func (w *workers) runParallel(ctx context.Context) {
	for i := range w.queue {
		w.attempts[i] <- w.measurement.startAttempt(ctx, w.measurement.plan.Checks[i])
	}
}

// runSequential runs checks one after another. The reports of each are read before the
// next one may overwrite them.
func (w *workers) runSequential(ctx context.Context, list []int) {
	for _, i := range list {
		w.attempts[i] <- w.measurement.startAttempt(ctx, w.measurement.plan.Checks[i])
		select {
		case <-w.sequentialRead:
		case <-ctx.Done():
		}
	}
}

// waitAndRelease waits for the running checks, and releases the attempts that were not
// received.
func (w *workers) waitAndRelease() {
	w.running.Wait()
	for _, c := range w.attempts {
		select {
		case a := <-c:
			a.Release()
		default:
		}
	}
}
