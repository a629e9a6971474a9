package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/internal/measure/internal/codesize"
	"supervise/internal/unstablenames"
	"supervise/metric"
	"supervise/runner"
)

// DefaultTimeout limits a check without a limit of its own.
const DefaultTimeout = 30 * time.Minute

// Options are the circumstances of a measurement.
type Options struct {
	Scratch    string         // folder for the private report folders; "" is the system's
	User       *runner.User   // the user of the checks, who must be able to enter Scratch; nil: that of this process
	Ignore     string         // absolute path of a folder that is not part of the project
	Env        []string       // environment of the checks; nil is that of this process
	OnProgress func(Progress) // called when checks start and end, may be nil
	Watch      Watch          // may be nil
	Memory     Memory         // of an earlier meter of the same plan
	Hold       []*os.File     // see [runner.Command]
	Baseline   bool           // a measurement without known tests is where a loop begins: see [metric.Set]
	Reruns     *Reruns        // how failures are confirmed; nil: [DefaultMaxTests] and [DefaultReruns]

	// BeforeStart is passed to [runner.Command]. It may be called concurrently.
	BeforeStart func(shim runner.Process) error
	MaxOutput   int64 // bytes kept of each output of a check; 0 is [DefaultMaxOutput]
}

// Progress reports that a check started, or ended with a run.
type Progress struct {
	Check Check
	Run   *Run // nil at the start
}

// Watch is called when the command of a check starts, and returns what is given its
// outputs as it prints them, and closed when it has ended. Checks may run at the same
// time, and so may the two outputs of one be written.
type Watch func(Check) io.WriteCloser

// Result is a measurement and its runs.
type Result struct {
	Set metric.Set
	// Reported are the tests as they were read, before the comparison with the known tests:
	// nil if nothing was read, without a case if no suite could run.
	Reported *metric.Tests
	Runs     []Run
	Parts    []Part // if the plan has checks in several folders
}

// Part is the result of one of several projects.
type Part struct {
	Dir string
	Set metric.Set
}

// Meter measures trees by one plan. It remembers the shape of files, so that measuring
// again costs only what changed. It is not safe for concurrent use.
type Meter struct {
	plan   Plan
	opts   Options
	memory *Memory
	code   codesize.Cache
	links  *sync.Map // by check: linked; nil: everything runs uncached
	inCopy bool      // it measures a copy: only the results of tests count

	brokenBuilds map[string]string // in this measurement: by folder the first error of a build that had succeeded
	builds       map[string]string // in this measurement: by folder the builds that succeeded, "" if one failed
}

// New returns a meter for the plan.
func New(plan Plan, o Options) *Meter {
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	return &Meter{plan: plan, opts: o, memory: o.Memory.Clone(), code: codesize.Cache{}, links: &sync.Map{}}
}

// Memory returns what the meter has learnt so far.
func (m *Meter) Memory() Memory { return *m.memory.Clone() }

// all runs the checks of the plan as they are.
func (m *Meter) measureAll(ctx context.Context, known *metric.Tests) (Result, error) {
	var res Result
	if err := m.giveToUser(m.plan.Root); err != nil {
		return res, err
	}
	m.brokenBuilds, m.builds = map[string]string{}, map[string]string{}
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
func (m *Meter) stage(ctx context.Context, st stage, known *metric.Tests) ([]Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	lanes := m.startStage(ctx, st)
	defer lanes.wait()
	defer cancel()
	var runs []Run
	for _, i := range st.all() {
		c := m.plan.Checks[i]
		m.opts.OnProgress(Progress{Check: c})
		run, err := m.conclude(ctx, <-lanes.attempts[i], known)
		if err != nil {
			return runs, fmt.Errorf("run %s: %w", c.Name, err)
		}
		if slices.Contains(st.sequential, i) {
			lanes.concluded <- struct{}{}
		}
		m.opts.OnProgress(Progress{Check: c, Run: &run})
		runs = append(runs, run)
	}
	return runs, nil
}

// conclude reads what a check wrote, and compares it with what is known.
func (m *Meter) conclude(ctx context.Context, a *attempt, known *metric.Tests) (Run, error) {
	run, err := m.read(a)
	if err != nil {
		return run, err
	}
	m.rememberLink(a, run)
	run.Tests = unstablenames.Settle(run.Tests, known)
	m.mergeDeferred(&run, known)
	m.markStopped(&run, known)
	nameLostSuites(&run, known)
	if known == nil && run.CountDiffers != "" { // later it is known
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
	run.Carried = run.Tests.Counts().Carried
	return run, nil
}

// gather joins the runs into one set. A section with a run that does not count is
// missing as a whole: half of the linters would look like fewer errors.
func (m *Meter) gather(runs []Run, known *metric.Tests) (set metric.Set, read *metric.Tests) {
	g := gathering{errors: m.plan.ErrorFields, missing: map[metric.Section]metric.Gap{}}
	for i := range runs {
		reportDuplicates(&runs[i], g.tests)
		g.add(&runs[i])
		m.uncovered(&g, runs[i])
	}
	m.memory.Covered = m.memory.Covered || g.coverage != nil // once measured, coverage is expected
	if _, missing := g.missing[metric.SectionTests]; !missing {
		read = g.tests
	}
	return g.set(m.memory.Covered || m.plan.WantsCoverage(), known), read
}

// uncovered notes that a check wrote no coverage although it did before: the sum of the
// others would cover less code.
func (m *Meter) uncovered(g *gathering, r Run) {
	switch {
	case r.State != metric.Measured || r.Check.Kind != Test:
	case r.Coverage != nil:
		m.memory.LearnCoverage(r.Check.ID())
	case m.memory.Covers.Has(r.Check.ID()):
		g.uncovered = cmp.Or(g.uncovered, r.Check.Name+" wrote no coverage report, which it did before")
	}
}

// parts gathers the runs of each folder separately.
func (m *Meter) parts(runs []Run) []Part {
	byDir := map[string]*gathering{}
	var dirs []string
	for i := range runs {
		dir := runs[i].Check.Dir
		if byDir[dir] == nil {
			byDir[dir] = &gathering{errors: m.plan.ErrorFields, missing: map[metric.Section]metric.Gap{}}
			dirs = append(dirs, dir)
		}
		byDir[dir].add(&runs[i])
	}
	if len(dirs) < 2 {
		return nil
	}
	out := make([]Part, len(dirs))
	for i, dir := range dirs {
		wanted := slices.ContainsFunc(m.plan.Checks, func(c Check) bool { return c.Dir == dir && c.Coverage })
		out[i] = Part{dir, byDir[dir].set(wanted, nil)}
	}
	return out
}

type gathering struct {
	tests    *metric.Tests
	coverage *metric.Coverage
	lint     *metric.Lint
	build    *metric.Build
	errors   []metric.Field // that count as such
	compiler *metric.Lint   // compile errors found by checks other than linters
	missing  map[metric.Section]metric.Gap

	excluded  []string
	uncovered string // why the coverage does not include all checks
}

func (g *gathering) add(r *Run) {
	g.build = joinBuilds(g.build, r.Build)
	if r.Build != nil {
		g.compiler = g.compiler.Merge(r.Lint)
	}
	g.excluded = append(g.excluded, r.Excluded...)
	if len(r.Excluded) > 0 && r.Check.Kind == Lint {
		return
	}
	if r.State != metric.Measured {
		section := r.Check.Kind.Section()
		if _, already := g.missing[section]; !already {
			g.missing[section] = metric.Gap{Section: section, State: r.State, Why: r.Why}
		}
		return
	}
	switch r.Check.Kind {
	case Build:
	case Test:
		g.tests = joinTests(g.tests, r.Tests)
		g.coverage = joinCoverage(g.coverage, r.Coverage)
	case Lint:
		g.lint = g.lint.Merge(r.Lint)
	}
}

// set returns the gathered sections. With wanted, missing coverage is reported.
func (g *gathering) set(wanted bool, known *metric.Tests) metric.Set {
	s := metric.Set{Tests: g.tests.CarryOver(known), Coverage: g.coverage, Lint: withCompiler(g.lint, g.compiler).Counting(g.errors), Build: g.build, Aside: g.excluded}
	for _, section := range []metric.Section{metric.SectionBuild, metric.SectionTests, metric.SectionLint} {
		gap, missing := g.missing[section]
		if !missing {
			continue
		}
		s.Gaps = append(s.Gaps, gap)
		switch section {
		case metric.SectionBuild:
			s.Build = nil
		case metric.SectionTests:
			s.Tests, s.Coverage = nil, nil
		case metric.SectionLint:
			s.Lint = nil
		case metric.SectionCoverage, metric.SectionCode:
		}
	}
	if why := changed(s.Tests, known); why != "" {
		s.Tests, s.Coverage = nil, nil
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Partial, Why: why})
	}
	if why := emptiness(s.Tests, known); why != "" {
		s.Tests, s.Coverage = nil, nil
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Absent, Why: why})
	}
	if s.Tests != nil && s.Tests.Failure != "" {
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Partial, Why: s.Tests.Failure + inPart})
	}
	s.Coverage = without(s.Coverage, s.Tests)
	if why := cmp.Or(coverageGap(wanted, s, known), g.uncovered); why != "" {
		s.Coverage = nil
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionCoverage, State: metric.Absent, Why: why})
	}
	return s
}

// inPart follows the reason why the results of the tests are not whole.
const inPart = "; only what the report lists is counted, and the checks are not green: compare it with what the command prints, or pass a report of another format with --test-report"

// changed returns why the tests cannot be compared with the known ones: another
// reporter gives them other names.
func changed(t, known *metric.Tests) string {
	if t == nil || known == nil || len(t.Cases) == 0 || len(known.Cases) == 0 {
		return ""
	}
	if otherRunner(t, known) {
		return ""
	}
	for _, is := range []struct{ what, now, before string }{{"format", t.Format, known.Format}, {"producer", t.Producer, known.Producer}} {
		if is.now != is.before && is.now != "" && is.before != "" {
			return fmt.Sprintf("the %s of the test reports changed from %s to %s: their tests cannot be compared; undo the change, or start a new loop with it", is.what, is.before, is.now)
		}
	}
	return ""
}

// otherRunner reports whether the plan of a tree names another framework than that of the
// known tests, as it does where the project changed it: its reports differ then.
func otherRunner(t, known *metric.Tests) bool {
	return t.Runner != known.Runner && t.Runner != "" && known.Runner != ""
}

// emptiness returns why a set without tests is not a measurement, "" if it is one. If a
// run succeeded and found no tests where there had been some, they are gone.
func emptiness(t, known *metric.Tests) string {
	switch {
	case t == nil || len(t.Cases) > 0:
		return ""
	case len(t.Broken) > 0:
		return fmt.Sprintf("%s did not run: %s", t.Broken[0].Name, t.Broken[0].Why)
	case known == nil || len(known.Cases) == 0:
		return "the test command found no tests"
	}
	return ""
}

// withCompiler adds the compiler's errors to the findings, without duplicates: a linter
// that builds the code finds them too.
func withCompiler(lint, compiler *metric.Lint) *metric.Lint {
	if lint == nil || compiler == nil {
		return lint
	}
	type place struct {
		file      string
		line, col int
	}
	seen := map[place]bool{}
	for _, f := range lint.Findings {
		if f.Type {
			seen[place{f.File, f.Line, f.Column}] = true
		}
	}
	more := &metric.Lint{}
	for _, f := range compiler.Findings {
		if at := (place{f.File, f.Line, f.Column}); f.Type && !seen[at] {
			seen[at] = true
			more.Findings = append(more.Findings, f)
		}
	}
	return lint.Merge(more)
}

// coverageGap returns why the coverage of s does not count, "" if it does. A suite that
// did not run leaves its lines out of the report, which would look like another coverage
// of the same code, unless it did not run before either.
func coverageGap(wanted bool, s metric.Set, known *metric.Tests) string {
	if !wanted {
		return ""
	}
	if s.Tests == nil {
		return "the tests were not measured"
	}
	for _, b := range s.Tests.Broken {
		if known != nil && !slices.ContainsFunc(known.Broken, func(k metric.Suite) bool { return k.Name == b.Name }) {
			return fmt.Sprintf("%s did not run: %s", b.Name, b.Why)
		}
	}
	if s.Coverage == nil {
		return "the test command wrote no coverage report"
	}
	return ""
}

// without returns the coverage with the names of the suites that are missing from it.
func without(c *metric.Coverage, t *metric.Tests) *metric.Coverage {
	if c == nil || t == nil || len(t.Broken)+len(t.Aside) == 0 {
		return c
	}
	out := *c
	out.Without = slices.Clone(t.Aside)
	for _, b := range t.Broken {
		out.Without = append(out.Without, b.Name)
	}
	slices.Sort(out.Without)
	return &out
}

func joinTests(a, b *metric.Tests) *metric.Tests {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	t := metric.NewTests(slices.Concat(a.Cases, b.Cases))
	t.Broken, t.Aside = slices.Concat(a.Broken, b.Broken), slices.Concat(a.Aside, b.Aside)
	t.Problems = slices.Concat(a.Problems, b.Problems)
	t.Forged = slices.Concat(a.Forged, b.Forged)
	t.Duration, t.Crowded = a.Duration+b.Duration, a.Crowded+b.Crowded
	t.Format, t.Producer, t.Runner = both(a.Format, b.Format), both(a.Producer, b.Producer), both(a.Runner, b.Runner)
	t.Failure = cmp.Or(a.Failure, b.Failure)
	return t
}

// again says which tests other checks ran as well: the project counts them once per run.
func reportDuplicates(r *Run, others *metric.Tests) {
	if others == nil || r.Tests == nil || r.State != metric.Measured || r.Check.Kind != Test {
		return
	}
	n, first := 0, metric.ID{}
	metric.Pair(others, r.Tests, func(was, is *metric.Test) {
		if was == nil || is == nil {
			return
		}
		if n++; n == 1 {
			first = is.ID
		}
	})
	if n > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d of its %d tests ran in another check too; each counts once, with the worse result, the first: %s", n, len(r.Tests.Cases), first))
	}
}

// both joins the formats, or the runners, of two reports.
func both(a, b string) string {
	list := slices.Concat(strings.Split(a, "+"), strings.Split(b, "+"))
	slices.Sort(list)
	return strings.Join(slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" }), "+")
}

// joinCoverage sums the coverage of two runs. If their units differ, the sum has the
// unit [metric.Mixed] and the names of both formats, and can only be compared with a
// sum of the same parts. A file in both counts once, with the higher coverage.
func joinCoverage(a, b *metric.Coverage) *metric.Coverage {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := metric.Coverage{Unit: a.Unit, Format: both(a.Format, b.Format)}
	if a.Unit != b.Unit {
		sum.Unit = metric.Mixed
	}
	if len(a.Files) == 0 || len(b.Files) == 0 { // only totals are known
		sum.Covered, sum.Total, sum.Branches = a.Covered+b.Covered, a.Total+b.Total, a.Branches.Plus(b.Branches)
		sum.Files = slices.Concat(a.Files, b.Files)
		return &sum
	}
	at := map[string]int{}
	for _, f := range slices.Concat(a.Files, b.Files) {
		i, twice := at[f.Path]
		switch {
		case !twice:
			at[f.Path] = len(sum.Files)
			sum.Files = append(sum.Files, f)
		case f.Covered > sum.Files[i].Covered:
			sum.Files[i] = f
		}
	}
	for _, f := range sum.Files {
		sum.Covered, sum.Total = sum.Covered+f.Covered, sum.Total+f.Total
		sum.Branches = sum.Branches.Plus(f.Branches)
	}
	return &sum
}

// scratch makes a private folder for the reports of one run. Its name cannot be
// guessed, so nothing can put a report there beforehand.
func (m *Meter) privateDir() (string, error) {
	if m.opts.Scratch != "" {
		if err := os.MkdirAll(m.opts.Scratch, 0o700); err != nil {
			return "", fmt.Errorf("make report folder: %w", err)
		}
	}
	dir, err := os.MkdirTemp(m.opts.Scratch, "supervise-reports-")
	if err != nil {
		return "", fmt.Errorf("make report folder: %w", err)
	}
	return dir, m.giveToUser(dir)
}

// give changes the owner of a folder's contents to the user of the checks.
func (m *Meter) giveToUser(dir string) error {
	if m.opts.User == nil {
		return nil
	}
	return m.opts.User.Give(dir)
}
