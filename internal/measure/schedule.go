package measure

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"supervise/internal/measure/internal/free"
)

// Auto is the [Plan].Parallel with which linters that are known to only read run next
// to the tests, where there are two CPUs and memory for both.
const Auto = 0

// enoughCPUs is the number from which on a linter does not slow the tests down. With
// fewer, see [crowd].
const enoughCPUs = 4

// enoughMemory is what has to be free for two checks at a time, in bytes: compilers and
// type checkers of larger projects take about one GiB each.
const enoughMemory = 2 << 30

// stage is a set of checks, by their index in the plan, that all end before the next
// stage begins.
type stage struct {
	sequential []int // one after another: each may need what earlier ones wrote
	parallel   []int // at any time during the stage
}

// all returns the checks of the stage in the order of the plan.
func (s stage) all() []int {
	list := slices.Concat(s.sequential, s.parallel)
	slices.Sort(list)
	return list
}

// workers is how many checks of the plan run at the same time at most.
func maxWorkers(p Plan) int {
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

// stages divides the checks. Later checks may need what is built, so a build is a stage
// by itself, unless it leaves nothing. Two test checks never run at the same time.
func stages(p Plan) []stage {
	var list []stage
	open, several := false, maxWorkers(p) > 1
	for i, c := range p.Checks {
		needed := c.Kind == Build && !c.DiscardsOutput()
		if needed || !open {
			list = append(list, stage{})
		}
		open = !needed
		last := &list[len(list)-1]
		if several && c.RunsInParallel(p.Parallel != Auto) {
			last.parallel = append(last.parallel, i)
		} else {
			last.sequential = append(last.sequential, i)
		}
	}
	return list
}

// lanes runs the checks of one stage.
type workers struct {
	meter     *measurement
	attempts  map[int]chan *attempt // by index in the plan; each holds one
	concluded chan struct{}         // the last one of inOrder was read
	waiting   chan int              // those of beside that did not begin
	running   sync.WaitGroup
}

// begin starts a stage. Every check of it is sent as an attempt, also if ctx ends
// before its turn. Next to others the cheapest comes first, by what it took last time.
func (m *measurement) startStage(ctx context.Context, s stage) *workers {
	l := &workers{meter: m, attempts: map[int]chan *attempt{}, concluded: make(chan struct{}, 1), waiting: make(chan int, len(s.parallel))}
	for _, i := range s.all() {
		l.attempts[i] = make(chan *attempt, 1)
	}
	for _, i := range m.cheapest(s.parallel) {
		l.waiting <- i
	}
	close(l.waiting)
	l.running.Go(func() {
		l.runSequential(ctx, s.sequential)
		l.runParallel(ctx)
	})
	for range min(maxWorkers(m.plan)-1, len(s.parallel)) {
		l.running.Go(func() { l.runParallel(ctx) })
	}
	return l
}

// cheapest sorts checks by what they took last time. Before that is known linters come
// before a build, which links.
func (m *measurement) cheapest(list []int) []int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int {
		one, other := m.plan.Checks[a], m.plan.Checks[b]
		return cmp.Or(cmp.Compare(m.memory.Durations[one.ID()], m.memory.Durations[other.ID()]), -cmp.Compare(one.Kind, other.Kind))
	})
	return list
}

// beside runs what may run at any time.
func (l *workers) runParallel(ctx context.Context) {
	for i := range l.waiting {
		l.attempts[i] <- l.meter.attempt(ctx, l.meter.plan.Checks[i])
	}
}

// inOrder runs checks one after another. The reports of each are read before the next
// one may overwrite them.
func (l *workers) runSequential(ctx context.Context, list []int) {
	for _, i := range list {
		l.attempts[i] <- l.meter.attempt(ctx, l.meter.plan.Checks[i])
		select {
		case <-l.concluded:
		case <-ctx.Done():
		}
	}
}

// end waits for what still runs, and releases what nobody has taken.
func (l *workers) wait() {
	l.running.Wait()
	for _, c := range l.attempts {
		select {
		case a := <-c:
			a.Release()
		default:
		}
	}
}
