// Package overhead measures what supervise costs on a user's own project: the checks
// as they are run by hand, beside what a loop does around them.
package overhead

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/git"
	"supervise/internal/judge"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

// Options are the circumstances of a measurement.
type Options struct {
	Settings judge.Settings
	Snapshot snapshot.Options
	Root     string // the working tree
	Scratch  string // a separate folder outside the tree
	Runs     int    // of each kind, at least 1
	OnRun    func(n int, plain, wrapped time.Duration)
}

// Result is what the runs took. Plain and wrapped runs alternate, so that a busy
// machine weighs on both.
type Result struct {
	Runs     int           `json:"runs"`
	Plain    time.Duration `json:"plain_ns"`    // median: the checks alone, one after another
	Wrapped  time.Duration `json:"wrapped_ns"`  // median: the same with all that a loop does around them
	Snapshot time.Duration `json:"snapshot_ns"` // median, of that: capturing the tree
	First    time.Duration `json:"first_snapshot_ns"`
	Judge    time.Duration `json:"judge_ns"` // median: reading the code, rules and score
	Percent  float64       `json:"overhead_percent"`
}

// Measure runs the checks of the plan both ways. The first run of each is not
// counted: it warms the caches of the tools.
func Measure(ctx context.Context, o Options) (out Result, err error) {
	store, err := snapshot.Open(ctx, o.Root, filepath.Join(o.Scratch, "snapshots"), o.Snapshot)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	began := time.Now()
	if _, err := store.Take(ctx, "first"); err != nil {
		return out, err
	}
	out.First, out.Runs = time.Since(began), o.Runs
	o.Settings.Plan = o.Settings.Plan.Uncached() // else the first run alone would be compared
	r := &runs{Options: o, store: store, meter: measure.New(o.Settings.Plan, measure.Options{Scratch: filepath.Join(o.Scratch, "reports")})}
	for n := range o.Runs + 1 {
		if err := r.both(ctx, n); err != nil {
			return out, err
		}
	}
	out.Plain, out.Wrapped, out.Snapshot, out.Judge = median(r.plain), median(r.wrapped), median(r.snapshots), median(r.judged)
	if out.Plain > 0 {
		out.Percent = 100 * (float64(out.Wrapped)/float64(out.Plain) - 1)
	}
	return out, nil
}

type runs struct {
	Options
	store *snapshot.Store
	meter *measure.Meter
	known *metric.Tests // of the run before: without them each would be measured as a baseline is

	plain, wrapped, snapshots, judged []time.Duration
}

func (r *runs) both(ctx context.Context, n int) error {
	plain, err := r.alone(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := r.store.Take(ctx, fmt.Sprint(n)); err != nil {
		return err
	}
	taken := time.Since(began)
	res, err := r.meter.Run(ctx, r.known)
	if err != nil {
		return err
	}
	r.known = res.Set.Tests
	judging := time.Now()
	score := selector.Grade(res.Set, res.Set, r.Settings.Weights)
	now := detector.Observation{Iteration: 1, Set: res.Set, Score: score.Value, Scored: score.Measured}
	detector.Assess(detector.Input{Current: now, Previous: now, Baseline: now}, r.Settings.Rules)
	judged, wrapped := time.Since(judging), time.Since(began)
	if n == 0 {
		return nil
	}
	r.plain, r.wrapped = append(r.plain, plain), append(r.wrapped, wrapped)
	r.snapshots, r.judged = append(r.snapshots, taken), append(r.judged, judged)
	if r.OnRun != nil {
		r.OnRun(n, plain, wrapped)
	}
	return nil
}

// alone runs the checks as a user would, one after another.
func (r *runs) alone(ctx context.Context) (time.Duration, error) {
	dir, err := os.MkdirTemp(r.Scratch, "plain-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for reports: %w", err)
	}
	defer os.RemoveAll(dir)
	fill := strings.NewReplacer(measure.ReportDir, dir)
	began := time.Now()
	for _, c := range r.Settings.Plan.Checks {
		var args []string
		for _, a := range c.Command {
			args = append(args, fill.Replace(a))
		}
		for name, text := range c.Files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(fill.Replace(text)), 0o600)); err != nil {
				return 0, fmt.Errorf("write a file for a check: %w", err)
			}
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env = filepath.Join(r.Settings.Plan.Root, c.Dir), measure.Environ(os.Environ())
		for _, e := range c.Env {
			cmd.Env = append(cmd.Env, fill.Replace(e))
		}
		var exit *exec.ExitError
		err := cmd.Run()
		git.InvalidateChecks()
		if err != nil && !errors.As(err, &exit) { // that tests fail is no matter here
			return 0, fmt.Errorf("run %s: %w", c.Name, err)
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return time.Since(began), nil
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
