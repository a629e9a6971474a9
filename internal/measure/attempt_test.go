package measure_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"supervise/internal/measure"
)

// meet is two shell lines that end only if both run at the same time: each waits for
// what the other writes into a FIFO.
func meet(t *testing.T, root string) (one, other string) {
	t.Helper()
	if out, err := exec.Command("mkfifo", filepath.Join(root, "a"), filepath.Join(root, "b")).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v: %s", err, out)
	}
	return "echo here >a && read there <b", "read there <a && echo here >b"
}

// A linter runs next to the tests if the plan allows it; progress and results are still
// in the order of the plan.
func TestLintersRunNextToTests(t *testing.T) {
	root := tree(t, map[string]string{"junit.xml": junit})
	one, other := meet(t, root)
	plan := measure.Plan{Root: root, Parallel: 2, Checks: []measure.Check{
		shell(measure.Lint, other+" && echo 'a.go:1:2: wrong'"),
		shell(measure.Build, "true"),
		shell(measure.Test, one+" && cat junit.xml"),
		shell(measure.Lint, other+" && echo 'b.go:1:2: wrong'"),
		shell(measure.Test, "cat junit.xml"),
	}}
	plan.Checks[0].Command = []string{"/bin/sh", "-c", "echo 'a.go:1:2: wrong'"}
	for i := range plan.Checks {
		plan.Checks[i].Name = fmt.Sprint(i)
		plan.Checks[i].Timeout = 20 * time.Second
	}
	var got []string
	m := measure.New(plan, measure.Options{Scratch: t.TempDir(), Reruns: &measure.Reruns{}, OnProgress: func(p measure.Progress) {
		word := "starts "
		if p.Run != nil {
			word = "ends "
		}
		got = append(got, word+p.Check.Name)
	}})
	res, err := m.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"starts 0", "ends 0", "starts 1", "ends 1", "starts 2", "ends 2", "starts 3", "ends 3", "starts 4", "ends 4"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, r := range res.Runs {
		if r.Check.Name != fmt.Sprint(i) || r.Why != "" {
			t.Errorf("run %d is %s: %s", i, r.Check.Name, r.Why)
		}
	}
	if res.Set.Lint == nil || len(res.Set.Lint.Findings) != 2 || res.Set.Tests == nil {
		t.Errorf("measured %+v", res.Set)
	}
}

// The end of the context ends everything that runs.
func TestEndOfContextEndsParallelChecks(t *testing.T) {
	root := tree(t, nil)
	one, other := meet(t, root)
	if out, err := exec.Command("mkfifo", filepath.Join(root, "met"), filepath.Join(root, "never")).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	wait := " && echo >met && cat <never"
	plan := measure.Plan{Root: root, Parallel: 2, Checks: []measure.Check{shell(measure.Test, one+wait), shell(measure.Lint, other+wait)}}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	go func() {
		defer cancel(stop)
		for met := 0; met < 2; {
			line, err := os.ReadFile(filepath.Join(root, "met")) // until the writer closes it
			if err != nil {
				return
			}
			met += len(line)
		}
	}()
	scratch := t.TempDir()
	_, err := measure.New(plan, measure.Options{Scratch: scratch}).Run(ctx, nil)
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the reason of the stop", err)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the scratch folder: %v, %v", left, err)
	}
}

// The output of a check takes neither memory nor disk, however long it is.
// SUPERVISE_HOSTILE_MB sets its length.
func TestOutputIsBounded(t *testing.T) {
	const limit = 1 << 20
	mb, err := strconv.Atoi(os.Getenv("SUPERVISE_HOSTILE_MB"))
	if err != nil {
		mb = 64
	}
	root := tree(t, nil)
	line := fmt.Sprintf(`yes 'ok all is well' | head -c %dM; stat -c %%s %s/.output >size`, mb, measure.ReportDir)
	plan := measure.Plan{Root: root, Checks: []measure.Check{shell(measure.Test, line)}}
	res, err := measure.New(plan, measure.Options{Scratch: t.TempDir(), MaxOutput: limit}).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Set.Tests != nil || !strings.Contains(res.Runs[0].Why, "printed more than 1 MB") {
		t.Errorf("got %+v, want that it printed too much", res.Runs[0])
	}
	text, err := os.ReadFile(filepath.Join(root, "size"))
	if err != nil {
		t.Fatal(err)
	}
	if size, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || size > limit {
		t.Errorf("%s bytes were kept, want at most %d (%v)", text, limit, err)
	}
}

// What a check leaves running is ended and named.
func TestDaemonOfACheckIsEndedAndNamed(t *testing.T) {
	root := tree(t, map[string]string{"junit.xml": junit})
	line := `setsid sleep 300 & until grep -q sleep /proc/$!/comm; do :; done; echo $! >pid; cat junit.xml`
	res := run(t, root, nil, shell(measure.Test, line))
	if res.Set.Tests == nil || !slices.Contains(res.Runs[0].Leftovers, "sleep") {
		t.Errorf("got %+v, want its tests and the name of its daemon", res.Runs[0])
	}
	pid, err := os.ReadFile(filepath.Join(root, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("the daemon still runs")
	}
}

// No user continues a check that stops itself, so the time limit ends it.
func TestStoppedCheckEndsAtItsLimit(t *testing.T) {
	root := tree(t, map[string]string{"junit.xml": junit})
	c := shell(measure.Test, `echo $$ >pid; kill -STOP $$; cat junit.xml`)
	c.Timeout = 300 * time.Millisecond
	res := run(t, root, nil, c)
	if res.Set.Tests != nil || !strings.Contains(res.Runs[0].Why, "took longer than 300ms") {
		t.Errorf("got %+v, want that it took too long", res.Runs[0])
	}
	pid, err := os.ReadFile(filepath.Join(root, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("it still runs")
	}
}
