package runner_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"supervise/runner"
)

// runsOf returns how often a case is repeated that a race would fail once in a
// while: n times, or SUPERVISE_RUNS times.
func runsOf(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv("SUPERVISE_RUNS")
	if text == "" {
		return n
	}
	runs, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SUPERVISE_RUNS: %v", err)
	}
	return runs
}

// TestNothingIsLost: what a child has printed arrives to the last byte, however
// it ends and whichever process still holds its terminal.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, script string
		size, runs   int
		stopped      bool
	}{
		{"burst of 11 KB", `cat "$0"`, 11 << 10, 20, false},
		{"burst of 1 MB", `cat "$0"`, 1 << 20, 5, false},
		{"background child holds the output", `sleep 300 & cat "$0"`, 11 << 10, 5, false},
		{"stubborn daemon holds the output", `(trap "" HUP INT TERM; exec setsid sleep 300) & cat "$0"`, 1 << 20, 2, false},
		{"while it is stopped", `trap 'cat "$0"; exit' INT; echo ready; while :; do sleep 0.01; done`, 200_000, 5, true},
		{"killed after it", `cat "$0"; kill -9 $$`, 60_000, 10, false},
	} {
		for _, way := range ways {
			t.Run(tc.name+"/"+way.name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "output")
				want := pattern(tc.size)
				if err := os.WriteFile(file, want, 0o600); err != nil {
					t.Fatal(err)
				}
				for range runsOf(t, tc.runs) {
					ctx, cancel := context.WithCancel(context.Background())
					out := watchFor("ready", 1)
					if tc.stopped {
						go func() { <-out.seen; cancel() }()
					}
					_, err := runner.Run(ctx, runner.Command{Args: []string{"/bin/sh", "-c", tc.script, file}, Terminal: way.terminal, Stdout: out})
					cancel()
					got := bytes.ReplaceAll([]byte(out.String()), []byte("\r\n"), []byte("\n"))
					if got = bytes.TrimPrefix(got, []byte("ready\n")); err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%v; %d bytes arrived that differ from the %d printed", err, len(got), len(want))
					}
				}
			})
		}
	}
}
