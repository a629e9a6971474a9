package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"supervise/runner"
)

// stopped reports whether a process is stopped by a signal.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Errorf("the process is gone: %v", err)
	}
	_, rest, _ := bytes.Cut(data, []byte(") "))
	return bytes.HasPrefix(rest, []byte("T"))
}

// eventually waits for what the kernel does in its own time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(until) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// pids reads the process ids that a child prints in its first line.
type pids struct {
	bytes.Buffer
	found chan []int
}

func (p *pids) Write(b []byte) (int, error) {
	n, _ := p.Buffer.Write(b)
	if line, _, complete := strings.Cut(p.String(), "\n"); complete && p.found != nil {
		ids := make([]int, 2)
		fmt.Sscan(line, &ids[0], &ids[1])
		p.found <- ids
		p.found = nil
	}
	return n, nil
}

// A frozen tree stops, including processes in a separate session; it continues when
// it is thawed, or has to end.
func TestFreeze(t *testing.T) {
	t.Parallel()
	found := make(chan []int, 1)
	ctl := runner.NewControl()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan runner.Result, 1)
	go func() {
		res, err := runner.Run(ctx, runner.Command{
			Args: []string{"/bin/sh", "-c", "setsid sleep 300 & echo $! $$; wait"}, Stdout: &pids{found: found}, Control: ctl,
			Timeout: time.Hour, Grace: runner.Grace{Interrupt: 20 * time.Second},
		})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	ids := <-found
	for range 3 {
		if err := ctl.Freeze(ctx); err != nil {
			t.Fatal(err)
		}
		for _, pid := range ids {
			eventually(t, "it is stopped", func() bool { return stopped(t, pid) })
		}
		if err := ctl.Thaw(ctx); err != nil {
			t.Fatal(err)
		}
		for _, pid := range ids {
			eventually(t, "it goes on", func() bool { return !stopped(t, pid) })
		}
	}
	if err := ctl.Freeze(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if res := <-done; res.Cause != runner.Stopped || res.Signal != "SIGINT" {
		t.Errorf("a frozen child was stopped by %v with %s, want to end by SIGINT", res.Cause, res.Signal)
	}
	if err := ctl.Freeze(t.Context()); !errors.Is(err, runner.ErrNotRunning) {
		t.Errorf("to freeze what is gone: %v", err)
	}
}
