// Package sections joins the runs of checks into the sections of one set. A [Gathering] takes one
// run after another by [Gathering.Add]; [Gathering.Set] returns the sections, and a gap with a
// reason for each section that is missing.
package sections

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/measure/internal/checks"
	"supervise/metric"
)

// New returns an empty gathering. errors are the fields of the lint section that count as errors.
func New(errors []metric.Field) *Gathering {
	return &Gathering{errorFields: errors, gaps: map[metric.Section]metric.Gap{}}
}

// Tests returns the tests of all runs, nil if those of a run are missing.
func (g *Gathering) Tests() *metric.Tests {
	if _, missing := g.gaps[metric.SectionTests]; missing {
		return nil
	}
	return g.tests
}

// Gathering joins the runs of checks. A section is nil until a run has it.
type Gathering struct {
	tests          *metric.Tests
	coverage       *metric.Coverage
	lint           *metric.Lint
	build          *metric.Build
	errorFields    []metric.Field                // the fields that count as errors
	compilerErrors *metric.Lint                  // compile errors found by checks other than linters
	gaps           map[metric.Section]metric.Gap // the first gap of each section

	excluded    []string // failures that existed at the baseline
	CoverageGap string   // why the coverage does not include all checks

	MayStartBroken bool // no suite has to run yet, since a loop may begin so
}

// Add adds a run.
func (g *Gathering) Add(r *checks.Run) {
	g.build = JoinBuilds(g.build, r.Build)
	if r.Build != nil {
		g.compilerErrors = g.compilerErrors.Merge(r.Lint)
	}
	g.excluded = append(g.excluded, r.Excluded...)
	if len(r.Excluded) > 0 && r.Check.Kind == checks.Lint {
		return
	}
	if r.State != metric.Measured {
		section := r.Check.Kind.Section()
		if _, already := g.gaps[section]; !already {
			g.gaps[section] = metric.Gap{Section: section, State: r.State, Why: r.Why}
		}
		return
	}

	switch r.Check.Kind {
	case checks.Build:
	case checks.Test:
		g.tests = JoinTests(g.tests, r.Tests)
		g.coverage = JoinCoverage(g.coverage, r.Coverage)
	case checks.Lint:
		g.lint = g.lint.Merge(r.Lint)
	}
}

// Set returns the gathered sections. known are the tests of an earlier measurement, nil at the
// baseline. If coverage is wanted, missing coverage is reported as a gap. A section with a gap is
// nil, except for tests whose results are only incomplete.
func (g *Gathering) Set(wanted bool, known *metric.Tests) metric.Set {
	s := metric.Set{Tests: g.tests.WithNotRun(known), Coverage: g.coverage, Lint: addCompilerErrors(g.lint, g.compilerErrors).WithErrorFields(g.errorFields), Build: g.build, BrokenAtBaseline: g.excluded}
	for _, section := range []metric.Section{metric.SectionBuild, metric.SectionTests, metric.SectionLint} {
		gap, missing := g.gaps[section]
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

	if why := whyIncomparable(s.Tests, known); why != "" {
		s.Tests, s.Coverage = nil, nil
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Partial, Why: why})
	}
	if why := g.whyEmpty(s.Tests, known); why != "" {
		s.Tests, s.Coverage = nil, nil
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Absent, Why: why})
	}
	if s.Tests != nil && s.Tests.Failure != "" {
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Partial, Why: s.Tests.Failure + incompleteSuffix})
	}
	s.Coverage = withMissingSuites(s.Coverage, s.Tests)
	if why := cmp.Or(whyNoCoverage(wanted, s, known), g.CoverageGap); why != "" {
		s.Coverage = nil
		s.Gaps = append(s.Gaps, metric.Gap{Section: metric.SectionCoverage, State: metric.Absent, Why: why})
	}
	return s
}

// incompleteSuffix follows the reason why the results of the tests are incomplete.
const incompleteSuffix = "; only what the report lists is counted, and the checks are not green: compare it with what the command prints, or pass a report of another format with --test-report"

// whyIncomparable returns why the tests cannot be compared with the known ones, "" if they
// can: another reporter gives tests other names.
func whyIncomparable(t, known *metric.Tests) string {
	if t == nil || known == nil || len(t.Cases) == 0 || len(known.Cases) == 0 {
		return ""
	}
	if runnerChanged(t, known) {
		return ""
	}
	for _, is := range []struct{ what, now, before string }{{"format", t.Format, known.Format}, {"producer", t.Producer, known.Producer}} {
		if is.now != is.before && is.now != "" && is.before != "" {
			return fmt.Sprintf("the %s of the test reports changed from %s to %s: their tests cannot be compared; undo the change, or start a new loop with it", is.what, is.before, is.now)
		}
	}
	return ""
}

// runnerChanged reports whether another framework runs the tests now, so that the reports may
// differ.
func runnerChanged(t, known *metric.Tests) bool {
	return t.Runner != known.Runner && t.Runner != "" && known.Runner != ""
}

// whyEmpty returns why a set without tests is not a measurement, "" if it is one: a run that
// succeeded without tests, although there were some before, means that they were deleted.
func (g *Gathering) whyEmpty(t, known *metric.Tests) string {
	switch {
	case t == nil || len(t.Cases) > 0:
		return ""
	case len(t.Broken) > 0 && g.MayStartBroken && (known == nil || len(known.Cases) == 0):
		return ""
	case len(t.Broken) > 0:
		return fmt.Sprintf("%s did not run: %s", t.Broken[0].Name, t.Broken[0].Why)
	case known == nil || len(known.Cases) == 0:
		return "the test command found no tests"
	}
	return ""
}

// addCompilerErrors adds the compiler's errors to the findings, without duplicates: a linter
// that builds the code finds them too.
func addCompilerErrors(lint, compiler *metric.Lint) *metric.Lint {
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

// whyNoCoverage returns why the coverage of s does not count, "" if it does. The lines of a
// suite that did not run are missing from the report, which would look like lower coverage of
// the same code, unless the suite did not run before either.
func whyNoCoverage(wanted bool, s metric.Set, known *metric.Tests) string {
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

// withMissingSuites returns the coverage with the sorted names of the suites that are missing from
// it because they could not run.
func withMissingSuites(c *metric.Coverage, t *metric.Tests) *metric.Coverage {
	if c == nil || t == nil || len(t.Broken)+len(t.BrokenAtBaseline) == 0 {
		return c
	}
	out := *c
	out.MissingSuites = slices.Clone(t.BrokenAtBaseline)
	for _, b := range t.Broken {
		out.MissingSuites = append(out.MissingSuites, b.Name)
	}
	slices.Sort(out.MissingSuites)
	return &out
}

// JoinTests joins the tests of two runs, of which either may be nil.
func JoinTests(a, b *metric.Tests) *metric.Tests {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	t := metric.NewTests(slices.Concat(a.Cases, b.Cases))
	t.Broken, t.BrokenAtBaseline = slices.Concat(a.Broken, b.Broken), slices.Concat(a.BrokenAtBaseline, b.BrokenAtBaseline)
	t.Problems = slices.Concat(a.Problems, b.Problems)
	t.Forged = slices.Concat(a.Forged, b.Forged)
	t.Duration, t.Contention = a.Duration+b.Duration, a.Contention+b.Contention
	t.Format, t.Producer, t.Runner = joinNames(a.Format, b.Format), joinNames(a.Producer, b.Producer), joinNames(a.Runner, b.Runner)
	t.Failure = cmp.Or(a.Failure, b.Failure)
	return t
}

// ReportDuplicates adds a problem to a run if runs that were added before ran some of its tests
// too. Each of these counts once.
func (g *Gathering) ReportDuplicates(r *checks.Run) {
	others := g.tests
	if others == nil || r.Tests == nil || r.State != metric.Measured || r.Check.Kind != checks.Test {
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

// joinNames joins two names or lists of names with "+", without duplicates.
func joinNames(a, b string) string {
	list := slices.Concat(strings.Split(a, "+"), strings.Split(b, "+"))
	slices.Sort(list)
	return strings.Join(slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" }), "+")
}

// JoinCoverage sums the coverage of two runs. If their units differ, the sum has the unit
// [metric.Mixed] and the names of both formats, and can only be compared with a sum of the
// same parts. A file in both counts once, with the higher coverage.
func JoinCoverage(a, b *metric.Coverage) *metric.Coverage {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}

	sum := metric.Coverage{Unit: a.Unit, Format: joinNames(a.Format, b.Format)}
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
		default:
			both, missed := f.Executed.Plus(sum.Files[i].Executed), f.NotExecuted.Plus(sum.Files[i].NotExecuted)
			if f.Covered > sum.Files[i].Covered {
				sum.Files[i] = f
			}
			sum.Files[i].Executed, sum.Files[i].NotExecuted = both, missed.Minus(both)
		}
	}

	for _, f := range sum.Files {
		sum.Covered, sum.Total = sum.Covered+f.Covered, sum.Total+f.Total
		sum.Branches = sum.Branches.Plus(f.Branches)
	}

	return &sum
}

// buildSeverity orders the results of builds: the most severe counts, and a success more than
// an unknown result.
var buildSeverity = map[metric.BuildStatus]int{metric.BuildUnknown: 1, metric.BuildSuccess: 2, metric.BuildFailure: 3}

// JoinBuilds joins the results of two builds, of which either may be nil. The more severe result
// counts.
func JoinBuilds(a, b *metric.Build) *metric.Build {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := *a
	if buildSeverity[b.Status] > buildSeverity[a.Status] {
		out.Status, out.FirstError = b.Status, b.FirstError
	}
	out.Duration = a.Duration + b.Duration
	return &out
}

// HasCoverage reports whether a run had coverage.
func (g *Gathering) HasCoverage() bool { return g.coverage != nil }
