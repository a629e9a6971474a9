package work

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/fleet/flow"
	"supervise/fleet/seal"
	"supervise/runner"
)

// process is supervise while it runs for an activity.
type process struct {
	program    string
	onProgress func(flow.Progress)
	spans      *spans // nil if tracing is off
}

// ending is how a process ended.
type ending struct {
	status int
	said   string // the last lines on stderr
}

// patience is how long supervise has to end its agent and put the tree back, before it is
// killed with all that belongs to it.
const patience = 90 * time.Second

// run starts supervise and returns when it, and all that it started, is gone. When ctx ends,
// it is asked to stop first, and the error is the cause.
func (p process) run(ctx context.Context, dir string, args ...string) (ending, error) {
	if ctx.Err() != nil {
		return ending{}, context.Cause(ctx)
	}
	cmd := exec.Command(p.program, args...)
	cmd.Dir, cmd.Env = dir, allowed(os.Environ())
	said := runner.NewTail(4 << 10)
	cmd.Stderr = said
	events, err := cmd.StdoutPipe()
	if err != nil {
		return ending{}, err
	}
	group(cmd)
	if err := cmd.Start(); err != nil {
		return ending{}, fmt.Errorf("start supervise: %w", err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.readEvents(events)
	}()
	gone := make(chan struct{})
	var stopping sync.WaitGroup
	stopping.Go(func() { stop(ctx, cmd, gone) })
	<-read
	err = cmd.Wait()
	close(gone)
	stopping.Wait()
	end := ending{status: cmd.ProcessState.ExitCode(), said: strings.TrimSpace(said.String())}
	switch {
	case ctx.Err() != nil:
		return end, context.Cause(ctx)
	case end.status < 0: // killed
		return end, err
	}
	return end, nil
}

// allowed is an environment without what is the fleet's own: how it reaches the server, the
// key of its histories, and the settings of git by which it reaches repositories.
func allowed(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		return slices.ContainsFunc([]string{"TEMPORAL_", seal.KeyVariable, "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS"}, func(name string) bool {
			return strings.HasPrefix(kv, name)
		})
	})
}

// stop ends a process when ctx ends: it is asked to, and later made to.
func stop(ctx context.Context, cmd *exec.Cmd, gone <-chan struct{}) {
	select {
	case <-gone:
		return
	case <-ctx.Done():
	}
	interrupt(cmd)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
		kill(cmd)
	}
}

// line is an event of supervise, as far as it is needed here.
type line struct {
	Type      string          `json:"type"`
	Time      time.Time       `json:"time"`
	Iteration int             `json:"iteration"`
	Data      json.RawMessage `json:"data"`
}

// phases are what runs after an event.
var phases = map[string]string{
	"loop_started": "baseline", "loop_resumed": "resume", "iteration_started": "agent", "agent_waiting": "waiting for its service", "agent_finished": "checks",
	"baseline_measured": "agent", "iteration_finished": "judged", "loop_stopping": "end", "loop_finished": "end", "candidates_compared": "choice",
}

// readEvents reads the events. A line that is too long is skipped.
func (p process) readEvents(r io.Reader) {
	b := bufio.NewReaderSize(r, 64<<10)
	now := flow.Progress{Phase: "start", Since: time.Now()}
	for {
		text, more, err := b.ReadLine()
		if err != nil {
			return
		}
		for more && err == nil {
			_, more, err = b.ReadLine()
			text = nil
		}
		var e line
		if json.Unmarshal(bytes.TrimSpace(text), &e) != nil {
			continue
		}
		if p.spans != nil {
			p.spans.record(e)
		}
		if e.Iteration > 0 {
			now.Iteration = e.Iteration
		}
		if phase, ok := phases[e.Type]; ok && phase != now.Phase {
			now.Phase, now.Check, now.Since = phase, "", time.Now()
		}
		if e.Type == "check_started" {
			var c struct {
				Name string `json:"name"`
			}
			_ = json.Unmarshal(e.Data, &c)
			now.Check = c.Name
		}
		p.onProgress(now)
	}
}
