package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"supervise/internal/measure/internal/command"
	"supervise/internal/measure/internal/read"
	"supervise/internal/measure/internal/sections"
	"supervise/internal/unstablenames"
	"supervise/metric"
)

// measurement is one measurement of the tree of a meter, or one rerun of some checks.
type measurement struct {
	*Meter
	brokenBuilds map[string]string // by folder: the first error of a build that had succeeded before
	builds       map[string]string // by folder: the builds that succeeded, "" if one failed
}

// start starts a measurement.
func (m *Meter) start() *measurement {
	return &measurement{m, map[string]string{}, map[string]string{}}
}

// all runs all checks of the plan.
func (m *measurement) all(ctx context.Context, known *metric.Tests) (Result, error) {
	var res Result
	if err := m.commands().GiveToUser(m.plan.Root); err != nil {
		return res, err
	}
	for _, st := range stages(m.plan) {
		runs, err := m.stage(ctx, st, known)
		res.Runs = append(res.Runs, runs...)
		if err != nil {
			return res, err
		}
	}
	recordContention(res.Runs)
	if err := m.rerunIsolated(ctx, res.Runs, known); err != nil {
		return res, err
	}
	m.keepReadable(res.Runs, known)
	res.Set, res.Reported = m.gather(res.Runs, known)
	res.Parts = m.parts(res.Runs)
	code, err := m.code.Measure(ctx, m.plan.Root, m.opts.Ignore)
	if err != nil {
		res.Set.Gaps = append(res.Set.Gaps, metric.Gap{Section: metric.SectionCode, State: metric.Absent, Why: err.Error()})
	}
	res.Set.Code = code
	return res, ctx.Err()
}

// stage runs the checks of a stage and reads what they wrote. Results and progress are
// in the order of the plan.
func (m *measurement) stage(ctx context.Context, st stage, known *metric.Tests) ([]Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	workers := m.startStage(ctx, st)
	defer workers.wait()
	defer cancel()
	var runs []Run
	for _, i := range st.all() {
		c := m.plan.Checks[i]
		m.opts.OnProgress(Progress{Check: c})
		run, err := m.finish(ctx, <-workers.attempts[i], known)
		if err != nil {
			return runs, fmt.Errorf("run %s: %w", c.Name, err)
		}
		if slices.Contains(st.sequential, i) {
			workers.concluded <- struct{}{}
		}
		m.opts.OnProgress(Progress{Check: c, Run: &run})
		runs = append(runs, run)
	}
	return runs, nil
}

// finish reads what a check wrote, and compares it with the known tests.
func (m *measurement) finish(ctx context.Context, a *attempt, known *metric.Tests) (Run, error) {
	run, err := m.read(a)
	if err != nil {
		return run, err
	}
	m.rememberLink(a, run)
	run.Tests = unstablenames.MatchNames(run.Tests, known)
	m.mergeDeferred(&run, known)
	m.markStopped(&run, known)
	nameLostSuites(&run, known)
	if known == nil && run.CountDiffers != "" { // later measurements know it
		run.Problems = append(run.Problems, run.CountDiffers)
	}
	if err := m.inventory(ctx, &run, known); err != nil {
		return run, err
	}
	if err := m.removeForged(ctx, &run, known); err != nil {
		return run, err
	}
	if run.State == metric.Measured && run.Tests != nil {
		m.memory.LearnSuites(run.Check.ID(), run.Tests)
	}
	m.exclude(&run, known == nil)
	run.Build = m.buildOf(&run, known == nil)
	m.memory.Durations[run.Check.ID()] = run.Duration
	run.Cached = run.Tests.Counts().Cached
	return run, nil
}

// gather joins the runs into one set. A section is missing if one of its runs does not
// count: half of the linters would look like fewer errors.
func (m *measurement) gather(runs []Run, known *metric.Tests) (set metric.Set, reported *metric.Tests) {
	g := sections.New(m.plan.ErrorFields)
	for i := range runs {
		g.ReportDuplicates(&runs[i])
		g.Add(&runs[i])
		m.uncovered(g, runs[i])
	}
	m.memory.Covered = m.memory.Covered || g.Covered() // once measured, coverage is expected
	return g.Set(m.memory.Covered || m.plan.WantsCoverage(), known), g.Tests()
}

// uncovered notes that a check wrote no coverage although it did before: the sum of the
// others would cover less code.
func (m *measurement) uncovered(g *sections.Gathering, r Run) {
	switch {
	case r.State != metric.Measured || r.Check.Kind != Test:
	case r.Coverage != nil:
		m.memory.LearnCoverage(r.Check.ID())
	case m.memory.Covers.Has(r.Check.ID()):
		g.Uncovered = cmp.Or(g.Uncovered, r.Check.Name+" wrote no coverage report, which it did before")
	}
}

// parts gathers the runs of each folder separately.
func (m *measurement) parts(runs []Run) []Part {
	byDir := map[string]*sections.Gathering{}
	var dirs []string
	for i := range runs {
		dir := runs[i].Check.Dir
		if byDir[dir] == nil {
			byDir[dir] = sections.New(m.plan.ErrorFields)
			dirs = append(dirs, dir)
		}
		byDir[dir].Add(&runs[i])
	}
	if len(dirs) < 2 {
		return nil
	}
	out := make([]Part, len(dirs))
	for i, dir := range dirs {
		wanted := slices.ContainsFunc(m.plan.Checks, func(c Check) bool { return c.Dir == dir && c.Coverage })
		out[i] = Part{dir, byDir[dir].Set(wanted, nil)}
	}
	return out
}

// attempt is one execution of a check, whose reports are not read yet.
type attempt struct {
	command.Attempt
	linked string                      // digest of what it links, see [linked]
	early  func() (read.Report, error) // what it printed, read while it ran; nil if that is read later
}

// check runs one command and reads what it wrote.
func (m *measurement) check(ctx context.Context, c Check) (Run, error) {
	return m.read(m.attempt(ctx, c))
}

// attempt runs the command of a check. It may be called concurrently.
func (m *measurement) attempt(ctx context.Context, c Check) *attempt {
	a := &attempt{Attempt: command.Attempt{Check: c, Run: Run{Check: c, State: metric.Absent}}}
	if c.Kind == Test && c.Runner == "go" { // its report is what it prints, and may be long
		a.Follow = func(output io.Reader) { a.early = read.ReadWhileRunning(output) }
	}
	switch why := m.skipReason(c); {
	case ctx.Err() != nil:
		a.Err = context.Cause(ctx)
	case why != "":
		a.Run.Why, a.Run.Skipped = why, true
	case m.coveredByBuild(c):
		a.Run.State, a.Run.Lint, a.Run.Sources = metric.Measured, &metric.Lint{}, []Source{{Path: m.builds[c.Dir], Format: "the same"}}
	case m.reuseLink(ctx, a):
	default:
		a.Err = m.commands().Run(ctx, &a.Attempt)
	}
	if c.Fallback == nil && a.Err == nil && a.Run.ExitCode != 0 {
		c.Fallback = m.withDefaultFeatures(a.Run)
	}
	if c.Fallback != nil && a.Err == nil && a.Run.ExitCode != 0 {
		a.Release()
		a = m.attempt(ctx, *c.Fallback)
		a.Run.IsFallback = true
		if c.Fallback.FallbackReason != "" {
			a.Run.Problems = append(a.Run.Problems, c.Fallback.FallbackReason)
		}
	}
	return a
}

// breakSuites turns a test check into one whose suites, if it has run any, could not run.
// Those of other projects are measured as usual.
func (m *measurement) breakSuites(r *Run) {
	suites := m.memory.Suites[r.Check.ID()]
	if len(suites) == 0 {
		return
	}
	r.State, r.Tests = metric.Measured, metric.NewTests(nil)
	for _, name := range suites {
		r.Tests.Broken = append(r.Tests.Broken, metric.Suite{Name: name, Why: r.Why})
	}
	r.Problems, r.Why = append(r.Problems, r.Why), ""
}

// read reads what the attempt wrote, and releases it.
func (m *measurement) read(a *attempt) (Run, error) {
	defer a.Release()
	if a.Err != nil || !a.Unread {
		switch {
		case !a.Run.DirMissing && !a.Run.Skipped:
		case a.Run.Check.Kind == Test:
			m.breakSuites(&a.Run)
		case a.Run.Skipped && a.Run.Check.Kind == Build:
			a.Run.State = metric.Measured // a broken build is a result
		}
		return a.Run, a.Err
	}
	read.ReadAttempt(&a.Attempt, m.plan.Root, m.memory, a.early)
	return a.Run, nil
}
