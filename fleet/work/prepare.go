package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"supervise/fleet/flow"
	"supervise/fleet/taskfile"
	"supervise/internal/event"
	"supervise/internal/ledger"
)

// The names of refs of a task; refOf has those of candidates.
const (
	baseName     = "base"     // the baseline
	proposedName = "proposed" // the best tree, before the gate
	bestName     = "best"     // the best tree
	resultName   = "result"   // the state of all candidates
)

// preparedName is the file in a state that says what it is of.
const preparedName = "fleet.json"

// Prepare measures the baseline of a task, and keeps it in the repository.
func (w *Worker) Prepare(ctx context.Context, at flow.Place, task taskfile.Task) (flow.Prepared, error) {
	ctx, onProgress, done := w.reporting(ctx)
	defer done()
	leave, err := w.slot(ctx)
	if err != nil {
		return flow.Prepared{}, temporalError(err)
	}
	defer leave()
	p, err := w.prepare(ctx, onProgress, at, task)
	return p, temporalError(err)
}

func (w *Worker) prepare(ctx context.Context, onProgress func(flow.Progress), p flow.Place, task taskfile.Task) (out flow.Prepared, err error) {
	at := w.place(p, baseName)
	leave, err := w.lockFolder(ctx, at.dir)
	if err != nil {
		return out, err
	}
	defer leave()
	onProgress(flow.Progress{Phase: "fetch", Since: time.Now()})
	r, err := w.remote(ctx, p)
	if err != nil {
		return out, err
	}
	if out, err := prepared(ctx, r, p); err != nil || out.Loop != "" {
		return out, err
	}
	if p.Commit, err = r.commit(ctx, p.Commit); err != nil {
		return out, fmt.Errorf("%w: fetch %s: %w", errFinal, task.Repository, err)
	}
	if err := os.RemoveAll(at.dir); err != nil {
		return out, err
	}
	defer os.RemoveAll(at.dir)
	if err := errors.Join(os.MkdirAll(at.dir, 0o700), r.tree(ctx, at.tree, p.Commit)); err != nil {
		return out, err
	}
	prompt := filepath.Join(at.dir, "prompt.txt")
	if err := os.WriteFile(prompt, []byte(task.Prompt), 0o600); err != nil {
		return out, err
	}
	end, err := w.supervise(ctx, at, onProgress, command(task, prompt, at.trees)...)
	if err != nil {
		return out, fmt.Errorf("measure the baseline: %w", err)
	}
	if out, err = measured(at, p, end); err != nil {
		return out, err
	}
	out.Pack, err = r.keep(ctx, at.home, ref(p, baseName), document{preparedName, out}, "the baseline of "+p.Task)
	if errors.Is(err, errMoved) { // another attempt was faster: its baseline counts
		return prepared(ctx, r, p)
	}
	return out, err
}

// measured is what the loop of candidates says of its baseline.
func measured(at place, p flow.Place, end ending) (flow.Prepared, error) {
	out := flow.Prepared{Place: p}
	loops, err := ledger.ListLoops(at.home, at.tree)
	if err != nil || len(loops) == 0 {
		return out, fmt.Errorf("%w: %w", errFinal, failed("measure the baseline", end, err))
	}
	state := loops[0]
	if state.Status != ledger.Paused || state.StopReason != string(event.Stepped) {
		return out, fmt.Errorf("%w: %s", errFinal, short(state.StopText))
	}
	its, err := ledger.ReadIterations(ledger.LoopDir(at.home, state.LoopID))
	if err != nil || len(its) == 0 {
		return out, failed("measure the baseline", end, err)
	}
	out.Loop, out.Score = state.LoopID, its[0].Score.Value
	return out, nil
}

// prepared is what an earlier attempt has prepared, without a loop where there was none.
func prepared(ctx context.Context, r *remote, p flow.Place) (out flow.Prepared, err error) {
	id, err := r.kept(ctx, ref(p, baseName), document{preparedName, &out})
	out.Pack = id
	return out, err
}

// command are the arguments of supervise that make the loop of candidates.
func command(t taskfile.Task, prompt, trees string) []string {
	args := []string{"run", "--candidates", strconv.Itoa(t.Candidates), "--jobs", strconv.Itoa(t.Candidates), "--steps", "0", "--trees", trees, "--json", "--unattended", "-P", prompt}
	for _, row := range []struct {
		flag, value string
	}{
		{"--setup", t.Setup},
		{"--until", t.Until},
		{"--max-iterations", number(t.MaxIterations)},
		{"--max-time", number(t.MaxTime)},
		{"--max-cost", number(t.MaxCost)},
		{"--max-tokens", number(t.MaxTokens)},
		{"--agent", strings.Join(t.Agents, ",")},
	} {
		if row.value != "" {
			args = append(args, row.flag, row.value)
		}
	}
	if t.Yolo {
		args = append(args, "--yolo")
	}
	args = append(args, t.Flags...)
	if len(t.Command) > 0 {
		args = append(append(args, "--"), t.Command...)
	}
	return args
}

// number is a limit as a flag has it, "" for none.
func number[T comparable](v T) string {
	var none T
	if v == none {
		return ""
	}
	return fmt.Sprint(v)
}
