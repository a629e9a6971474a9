package measure

import (
	"math"
	"runtime"
	"testing"
	"time"

	"supervise/metric"
)

// Checks in parallel with the tests may have cost one part in n+1 of the time that n others did.
func TestContention(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	start := time.Now()
	ran := func(from, to int) Run {
		return Run{Started: start.Add(time.Duration(from) * time.Second), Duration: time.Duration(to-from) * time.Second}
	}
	for _, tt := range []struct {
		name   string
		cpus   int
		others []Run
		want   float64 // of ten seconds
	}{
		{"alone", 2, nil, 0},
		{"one all along", 2, []Run{ran(-2, 12)}, 5},
		{"one for a while", 2, []Run{ran(2, 6)}, 2},
		{"one after another", 2, []Run{ran(0, 4), ran(4, 8)}, 4},
		{"two at a time", 2, []Run{ran(0, 6), ran(3, 6)}, 1.5 + 2},
		{"before and after", 2, []Run{ran(-5, 0), ran(10, 12)}, 0},
		{"CPUs enough", 4, []Run{ran(0, 10)}, 0},
	} {
		runtime.GOMAXPROCS(tt.cpus)
		tests := ran(0, 10)
		tests.Tests = &metric.Tests{Duration: 10 * time.Second}
		runs := append([]Run{tests}, tt.others...)
		recordContention(runs)
		if got := runs[0].Tests.Contention.Seconds(); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v s, want %v", tt.name, got, tt.want)
		}
	}
}

// Time in which several commands ran counts once, in whatever order they are listed.
func TestClock(t *testing.T) {
	start := time.Now()
	ran := func(from, to int) Run {
		return Run{Started: start.Add(time.Duration(from) * time.Second), Duration: time.Duration(to-from) * time.Second}
	}
	for _, tt := range []struct {
		name string
		runs []Run
		want time.Duration
	}{
		{"none", nil, 0},
		{"not run", []Run{{}}, 0},
		{"one after another", []Run{ran(0, 4), ran(5, 8)}, 7 * time.Second},
		{"within another, and listed before", []Run{ran(2, 4), ran(0, 10)}, 10 * time.Second},
		{"overlapping", []Run{ran(0, 6), ran(4, 8), ran(9, 10)}, 9 * time.Second},
	} {
		var clock Clock
		for _, r := range tt.runs {
			clock.Add(r)
		}
		if got := clock.Elapsed(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestCheapestRunsFirst(t *testing.T) {
	lint, build := check(Lint, "go vet"), check(Build, "go build -o /dev/null")
	style, types := check(Lint, "eslint"), check(Lint, "tsc --noEmit")
	m := New(Plan{Checks: []Check{build, lint, style, types}}, Options{})
	if got := m.newMeasurement().sortByDuration([]int{0, 1, 2, 3}); got[3] != 0 {
		t.Errorf("order %v, want the build last: nothing is known", got)
	}
	m = New(m.plan, Options{Memory: Memory{Durations: map[string]time.Duration{build.ID(): 1, lint.ID(): 4, style.ID(): 3, types.ID(): 2}}})
	for i, want := range []int{0, 3, 2, 1} {
		if got := m.newMeasurement().sortByDuration([]int{0, 1, 2, 3}); got[i] != want {
			t.Fatalf("order %v, want that of what they took", got)
		}
	}
}
