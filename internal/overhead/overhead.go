// Package overhead measures the cost of supervise on a user's project. It runs the checks
// alternately alone, as a user would, and with everything that a loop adds: the snapshot,
// the reading of reports, rules and score. [Measure] returns the medians of both.
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

// Options configure a measurement.
type Options struct {
	Settings judge.Settings
	Snapshot snapshot.Options
	Root     string // the working tree
	Scratch  string // a folder outside the tree for this measurement
	Runs     int    // of each kind, at least 1
	OnRun    func(n int, plain, wrapped time.Duration)
}

// Result is how long the runs took. Plain and wrapped runs alternate, so that other load on
// the machine affects both.
type Result struct {
	Runs     int           `json:"runs"`
	Plain    time.Duration `json:"plain_ns"`    // median of the checks alone, one after another
	Wrapped  time.Duration `json:"wrapped_ns"`  // median of the checks with everything that a loop adds
	Snapshot time.Duration `json:"snapshot_ns"` // median of the snapshots, a part of Wrapped
	First    time.Duration `json:"first_snapshot_ns"`
	Judge    time.Duration `json:"judge_ns"` // median of rules and score, a part of Wrapped
	Percent  float64       `json:"overhead_percent"`
}

// Measure runs the checks of the plan both ways. The first pair of runs does not count: it
// fills the caches of the tools.
func Measure(ctx context.Context, o Options) (out Result, err error) {
	store, err := snapshot.Open(ctx, o.Root, filepath.Join(o.Scratch, "snapshots"), o.Snapshot)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	start := time.Now()
	if _, err := store.Take(ctx, "first"); err != nil {
		return out, err
	}
	out.First, out.Runs = time.Since(start), o.Runs

	o.Settings.Plan = o.Settings.Plan.Uncached() // with caches, only the first run would do the work
	s := &series{Options: o, store: store, meter: measure.New(o.Settings.Plan, measure.Options{Scratch: filepath.Join(o.Scratch, "reports")})}
	for n := range o.Runs + 1 {
		if err := s.runPair(ctx, n); err != nil {
			return out, err
		}
	}
	out.Plain, out.Wrapped, out.Snapshot, out.Judge = median(s.plain), median(s.wrapped), median(s.snapshots), median(s.judgments)
	if out.Plain > 0 {
		out.Percent = 100 * (float64(out.Wrapped)/float64(out.Plain) - 1)
	}
	return out, nil
}

// series is a series of pairs of runs with their times.
type series struct {
	Options
	store    *snapshot.Store
	meter    *measure.Meter
	previous *metric.Tests // of the run before; without them, each run would count as a baseline

	plain, wrapped, snapshots, judgments []time.Duration
}

// runPair runs the checks alone and then with everything that a loop adds. The times of pair 0
// are not recorded.
func (s *series) runPair(ctx context.Context, n int) error {
	plain, err := s.runPlain(ctx)
	if err != nil {
		return err
	}

	start := time.Now()
	if _, err := s.store.Take(ctx, fmt.Sprint(n)); err != nil {
		return err
	}
	snapshotTime := time.Since(start)
	res, err := s.meter.Run(ctx, s.previous)
	if err != nil {
		return err
	}
	s.previous = res.Set.Tests
	judgeStart := time.Now()
	score := selector.Grade(res.Set, res.Set, s.Settings.Weights)
	now := detector.Observation{Iteration: 1, Set: res.Set, Score: score.Value, Scored: score.Measured}
	detector.Assess(detector.Input{Current: now, Previous: now, Baseline: now}, s.Settings.Rules)
	judgeTime, wrapped := time.Since(judgeStart), time.Since(start)

	if n == 0 {
		return nil
	}
	s.plain, s.wrapped = append(s.plain, plain), append(s.wrapped, wrapped)
	s.snapshots, s.judgments = append(s.snapshots, snapshotTime), append(s.judgments, judgeTime)
	if s.OnRun != nil {
		s.OnRun(n, plain, wrapped)
	}
	return nil
}

// runPlain runs the checks as a user would, one after another, and returns the time.
func (s *series) runPlain(ctx context.Context) (time.Duration, error) {
	dir, err := os.MkdirTemp(s.Scratch, "plain-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for reports: %w", err)
	}
	defer os.RemoveAll(dir)

	start := time.Now()
	for _, c := range s.Settings.Plan.Checks {
		if err := s.runCheck(ctx, c, dir); err != nil {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return time.Since(start), nil
}

// runCheck runs one check with its reports in dir. Failing tests are no error.
func (s *series) runCheck(ctx context.Context, c measure.Check, dir string) error {
	expand := strings.NewReplacer(measure.ReportDir, dir).Replace
	for name, text := range c.Files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(expand(text)), 0o600)); err != nil {
			return fmt.Errorf("write a file for a check: %w", err)
		}
	}
	var args []string
	for _, arg := range c.Command {
		args = append(args, expand(arg))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(s.Settings.Plan.Root, c.Dir), measure.Environ(os.Environ())
	for _, variable := range c.Env {
		cmd.Env = append(cmd.Env, expand(variable))
	}

	err := cmd.Run()
	git.InvalidateChecks()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return fmt.Errorf("run %s: %w", c.Name, err)
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
