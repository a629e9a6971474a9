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

// newMeasurement starts a measurement.
func (m *Meter) newMeasurement() *measurement {
	return &measurement{m, map[string]string{}, map[string]string{}}
}

// measureAll runs all checks of the plan.
func (m *measurement) measureAll(ctx context.Context, known *metric.Tests) (Result, error) {
	var res Result
	if err := m.commandRunner().GiveToUser(m.plan.Root); err != nil {
		return res, err
	}

	for _, st := range planStages(m.plan) {
		runs, err := m.runStage(ctx, st, known)
		res.Runs = append(res.Runs, runs...)
		if err != nil {
			return res, err
		}
	}

	recordContention(res.Runs)
	if err := m.rerunIsolated(ctx, res.Runs, known); err != nil {
		return res, err
	}

	m.keepReadableTests(res.Runs, known)
	res.Set, res.Reported = m.gatherSections(res.Runs, known)
	res.Parts = m.gatherParts(res.Runs)
	code, err := m.code.Measure(ctx, m.plan.Root, m.opts.Ignore)
	if err != nil {
		res.Set.Gaps = append(res.Set.Gaps, metric.Gap{Section: metric.SectionCode, State: metric.Absent, Why: err.Error()})
	}
	res.Set.Code = code
	return res, ctx.Err()
}

// runStage runs the checks of a stage and reads what they wrote. Results and progress are in
// the order of the plan.
func (m *measurement) runStage(ctx context.Context, st stage, known *metric.Tests) ([]Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	workers := m.startStage(ctx, st)
	defer workers.waitAndRelease()
	defer cancel()
	var runs []Run
	for _, i := range st.checks() {
		c := m.plan.Checks[i]
		m.opts.OnProgress(Progress{Check: c})
		run, err := m.finishCheck(ctx, <-workers.attempts[i], known)
		if err != nil {
			return runs, fmt.Errorf("run %s: %w", c.Name, err)
		}
		if slices.Contains(st.sequential, i) {
			workers.sequentialRead <- struct{}{}
		}
		m.opts.OnProgress(Progress{Check: c, Run: &run})
		runs = append(runs, run)
	}
	return runs, nil
}

// finishCheck reads what a check wrote, and compares it with the known tests.
func (m *measurement) finishCheck(ctx context.Context, a *attempt, known *metric.Tests) (Run, error) {
	run, err := m.readAttempt(a)
	if err != nil {
		return run, err
	}

	m.rememberLinkedBuild(a, run)
	run.Tests = unstablenames.MatchNames(run.Tests, known)
	m.mergeDeferred(&run, known)
	m.markStoppedSuites(&run, known)
	nameLostSuites(&run, known)
	if known == nil && run.CountDiffers != "" { // later measurements know it
		run.Problems = append(run.Problems, run.CountDiffers)
	}
	if err := m.compareWithList(ctx, &run, known); err != nil {
		return run, err
	}
	if err := m.removeForged(ctx, &run, known); err != nil {
		return run, err
	}
	if run.State == metric.Measured && run.Tests != nil {
		m.memory.LearnSuites(run.Check.ID(), run.Tests)
	}
	m.exclude(&run, known == nil)
	run.Build = m.buildResult(&run, known == nil)
	m.memory.Durations[run.Check.ID()] = run.Duration
	run.Cached = run.Tests.Counts().Cached
	return run, nil
}

// gatherSections joins the runs into one set. A section is missing if one of its runs does not
// count: half of the linters would look like fewer errors.
func (m *measurement) gatherSections(runs []Run, known *metric.Tests) (set metric.Set, reported *metric.Tests) {
	g := sections.New(m.plan.ErrorFields)
	g.MayStartBroken = m.opts.MayStartBroken
	for i := range runs {
		g.ReportDuplicates(&runs[i])
		g.Add(&runs[i])
		m.noteMissingCoverage(g, runs[i])
	}
	m.memory.Covered = m.memory.Covered || g.HasCoverage() // once measured, coverage is expected
	return g.Set(m.memory.Covered || m.plan.WantsCoverage(), known), g.Tests()
}

// noteMissingCoverage notes that a check wrote no coverage although it did before. The sum of
// the other checks would cover less code.
func (m *measurement) noteMissingCoverage(g *sections.Gathering, r Run) {
	switch {
	case r.State != metric.Measured || r.Check.Kind != Test:
	case r.Coverage != nil:
		m.memory.LearnCoverage(r.Check.ID())
	case m.memory.Covers.Has(r.Check.ID()):
		g.CoverageGap = cmp.Or(g.CoverageGap, r.Check.Name+" wrote no coverage report, which it did before")
	}
}

// gatherParts joins the runs of each folder separately.
func (m *measurement) gatherParts(runs []Run) []Part {
	byDir := map[string]*sections.Gathering{}
	var dirs []string
	for i := range runs {
		dir := runs[i].Check.Dir
		if byDir[dir] == nil {
			byDir[dir] = sections.New(m.plan.ErrorFields)
			byDir[dir].MayStartBroken = m.opts.MayStartBroken
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

// attempt is one execution of a check whose reports are not read yet.
type attempt struct {
	command.Attempt
	linkDigest string                      // digest of what it links, see [linked]
	readEarly  func() (read.Report, error) // what it printed, read while it ran; nil if that is read later
}

// runCheck runs one command and reads what it wrote.
func (m *measurement) runCheck(ctx context.Context, c Check) (Run, error) {
	return m.readAttempt(m.startAttempt(ctx, c))
}

// startAttempt runs the command of a check, and its fallback if it fails. It may be called
// concurrently.
func (m *measurement) startAttempt(ctx context.Context, c Check) *attempt {
	a := &attempt{Attempt: command.Attempt{Check: c, Run: Run{Check: c, State: metric.Absent}}}
	if c.Kind == Test && c.Runner == "go" { // its report is what it prints, and may be long
		a.Follow = func(output io.Reader) { a.readEarly = read.WhileRunning(output) }
	}

	switch why := m.skipReason(c); {
	case ctx.Err() != nil:
		a.Err = context.Cause(ctx)
	case why != "":
		a.Run.Why, a.Run.Skipped = why, true
	case m.coveredByBuild(c):
		a.Run.State, a.Run.Lint, a.Run.Sources = metric.Measured, &metric.Lint{}, []Source{{Path: m.builds[c.Dir], Format: "the same"}}
	case m.reuseLinkedBuild(ctx, a):
	default:
		a.Err = m.commandRunner().Run(ctx, &a.Attempt)
	}
	if c.Fallback == nil && a.Err == nil && a.Run.ExitCode != 0 {
		c.Fallback = m.withDefaultFeatures(a.Run)
	}
	if c.Fallback != nil && a.Err == nil && a.Run.ExitCode != 0 {
		a.Release()
		a = m.startAttempt(ctx, *c.Fallback)
		a.Run.IsFallback = true
		if c.Fallback.FallbackReason != "" {
			a.Run.Problems = append(a.Run.Problems, c.Fallback.FallbackReason)
		}
	}

	return a
}

// markSuitesBroken turns the run of a test check into one whose known suites could not run.
// Other checks are measured as usual.
func (m *measurement) markSuitesBroken(r *Run) {
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

// readAttempt reads what the attempt wrote, and releases it.
func (m *measurement) readAttempt(a *attempt) (Run, error) {
	defer a.Release()
	if a.Err != nil || !a.HasUnreadReports {
		switch {
		case !a.Run.DirMissing && !a.Run.Skipped:
		case a.Run.Check.Kind == Test:
			m.markSuitesBroken(&a.Run)
		case a.Run.Skipped && a.Run.Check.Kind == Build:
			a.Run.State = metric.Measured // a broken build is a result
		}
		return a.Run, a.Err
	}
	read.Attempt(&a.Attempt, m.plan.Root, m.memory, a.readEarly)
	return a.Run, nil
}
