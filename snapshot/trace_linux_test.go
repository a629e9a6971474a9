package snapshot

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"supervise/test/trace"

	"golang.org/x/sys/unix"
)

// allSteps makes killedAt try each step of every test. That takes minutes.
const allSteps = "SNAPSHOT_TEST_ALL_STEPS"

// killedAt calls check after a child that did what args say was killed before one of its steps: at first before none, then
// before about three of them, evenly spread from a random one on. setup comes before each round.
func killedAt(t *testing.T, setup func(t *testing.T) (args []string, check func(killed bool))) {
	t.Helper()
	if testing.Short() {
		t.Skip("kills a process that works alone: nothing for the race detector")
	}
	round := func(step int) (count int) {
		args, check := setup(t)
		tr := trace.Program{Cmd: child(args...), Kill: step}
		killed, err := tr.Run()
		if errors.Is(err, unix.EPERM) {
			t.Skipf("this system does not let processes be traced: %v", err)
		}
		must(t, err)
		if killed != (step > 0 && step <= tr.Steps) || tr.Code != 0 {
			t.Fatalf("killed before step %d of %d: %v; exit status %d", step, tr.Steps, killed, tr.Code)
		}
		check(killed)
		if t.Failed() {
			t.Fatalf("the process was killed before step %d", step)
		}
		return tr.Steps
	}
	count := round(0)
	stride := max(1, count/3)
	if os.Getenv(allSteps) != "" {
		stride = 1
	}
	first := 1 + rand.IntN(stride)
	t.Logf("%d steps, killed before every %d. from %d on", count, stride, first)
	for step := first; step <= count; step += stride {
		round(step)
	}
}
