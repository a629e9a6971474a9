// Package guard finds out whether tests notice faults in the lines that a change adds or changes.
//
// A [Trial] chooses mutants of these lines (choose.go), at most one per line and none in arid code
// (arid.go), and runs the tests on them in a copy of the tree: first those that the change added or
// made pass, then all others. A mutant that no test notices is a survivor. What the survivors say
// about the change and its tests are the findings (findings.go).
package guard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/mutantrun"
	"supervise/internal/mutation"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// DefaultMutants is how many mutants are run if the options set no number.
const DefaultMutants = 20

// The time for all mutants of a change: as many times as the tests take, but at least minBudget.
const (
	budgetFactor = 10
	minBudget    = 2 * time.Minute
)

// Options limit a trial.
type Options struct {
	Off        bool `json:"off,omitempty"`
	MaxMutants int  `json:"max_mutants,omitempty"` // 0: [DefaultMutants]
}

// Trial runs tests on mutants of the changed lines of a tree.
type Trial struct {
	treecopy.Workspace
	Options

	Current      snapshot.ID
	Lines        map[string]metric.LineSet // the changed lines of product code that tests may run, by file
	Defined      []detector.TestSource     // definitions of tests in the changed files
	BaseTests    *metric.Tests             // results before the change
	CurrentTests *metric.Tests             // results in Current
	Flaky        map[metric.ID]bool        // tests whose results prove nothing
}

// Refused returns the record of a trial that does not run, with the reason.
func (t Trial) Refused(why string) *ledger.ChangeMutants {
	return &ledger.ChangeMutants{Survivors: []ledger.ChangeSurvivor{}, NotRunReason: why}
}

// mutant is a mutant of a changed line, with what is known of it.
type mutant struct {
	mutantrun.Mutant
	ran       []metric.Test // the tests that ran on it
	noticedBy map[metric.ID]bool
	crashed   map[metric.ID]bool // those of them that failed since the code crashed
	aborted   bool               // the tests were stopped, or crashed together
	unbuilt   bool
	decided   bool // tests ran on it
	extra     bool // one more of its line, which only says whether tests notice anything
}

// noticed reports whether a test notices the mutant.
func (m *mutant) noticed() bool { return m.aborted || len(m.noticedBy) > 0 }

// Run runs the trial. The record is nil if no changed line has a mutant, or no test passes. The error is
// that of ctx, or a failure of the machine.
func (t Trial) Run(ctx context.Context) (*ledger.ChangeMutants, error) {
	began := time.Now()
	list, err := t.chooseMutants(ctx)
	r := &trialRun{Trial: t, mutants: list}
	r.sortTests()
	if err != nil || len(list) == 0 || len(r.first)+len(r.others) == 0 {
		return nil, err
	}
	var findings []detector.Unguarded
	err = t.WithCopy(ctx, t.Current, func(tree treecopy.Tree) (err error) {
		r.tree = tree
		r.runner = mutantrun.New(tree, mutantrun.Options{})
		if err := errors.Join(r.run(ctx), r.runner.Close()); err != nil {
			return err
		}
		findings, err = r.findings(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := r.record()
	out.Findings, out.Took = findings, time.Since(began)
	return out, nil
}

// trialRun is the state of a running trial.
type trialRun struct {
	Trial
	tree    treecopy.Tree
	runner  *mutantrun.Runner
	mutants []*mutant     // in the order in which they run
	added   []metric.Test // that did not exist before the change
	green   []metric.Test // that failed before
	first   []metric.Test // the added ones, and those that failed before
	others  []metric.Test
}

// sortTests sorts the tests that pass by what the change did to them.
func (r *trialRun) sortTests() {
	if r.BaseTests == nil || r.CurrentTests == nil {
		return
	}
	for _, c := range r.CurrentTests.Cases {
		before, existed := r.BaseTests.Lookup(c.ID)
		switch {
		case c.Status != metric.Passed || c.Flaky || r.Flaky[c.ID]:
		case !existed:
			r.added, r.first = append(r.added, c), append(r.first, c)
		case before.Failed():
			r.green, r.first = append(r.green, c), append(r.first, c)
		default:
			r.others = append(r.others, c)
		}
	}
}

// quick is how long the other tests may take for all to run together: starting tests takes time too.
const quick = 2 * time.Second

// run runs the new tests on all mutants, and the others on those that the new ones do not notice.
func (r *trialRun) run(ctx context.Context) error {
	until := time.Now().Add(minBudget)
	groups := [][]metric.Test{r.first, r.others}
	if timeOf(r.others) < quick {
		groups = [][]metric.Test{slices.Concat(r.first, r.others)}
	}
	for _, tests := range groups {
		if len(tests) == 0 {
			continue
		}
		control, err := r.runner.Control(ctx, tests)
		if err != nil {
			return err
		}
		if t := time.Now().Add(budgetFactor * control.Took); t.After(until) {
			until = t
		}
		r.runner.Until = until
		if err := r.runAll(ctx, control.Keep(tests)); err != nil {
			return err
		}
	}
	return nil
}

// timeOf returns how long tests took when they were measured.
func timeOf(tests []metric.Test) (sum time.Duration) {
	for _, t := range tests {
		sum += t.Duration
	}
	return sum
}

// runAll runs tests on the mutants that no test has noticed so far, until the time is over. What is left
// then is not decided, and neither is what only some of the tests ran on.
func (r *trialRun) runAll(ctx context.Context, tests []metric.Test) error {
	var open []*mutant
	var load []mutantrun.Mutant
	for _, m := range r.mutants {
		if !m.noticed() && !m.unbuilt {
			open, load = append(open, m), append(load, m.Mutant)
		}
	}
	if len(tests) == 0 || len(open) == 0 {
		return nil
	}
	if _, err := r.runner.Load(ctx, load); err != nil {
		return err
	}
	for _, m := range open {
		m.decided = false
		if time.Now().After(r.runner.Until) {
			continue
		}
		result, err := r.runner.Run(ctx, m.Mutant, tests)
		if err != nil {
			return err
		}
		if time.Now().After(r.runner.Until) {
			continue
		}
		m.unbuilt = result.Unbuilt || result.Equivalent
		m.decided, m.aborted, m.noticedBy = !m.unbuilt, result.Aborted, result.Killers
		m.crashed = map[metric.ID]bool{}
		for id, message := range result.Said {
			m.crashed[id] = r.isCrash(m, message)
		}
		m.ran = append(m.ran, result.Ran...)
	}
	return nil
}

// maxTests is how many tests the record of a survivor names.
const maxTests = 5

// record returns the results.
func (r *trialRun) record() *ledger.ChangeMutants {
	out := r.Refused("")
	for _, m := range r.mutants {
		switch {
		case m.extra:
		case m.unbuilt:
			out.Invalid++
		case !m.decided:
			out.NotDecided++
		case m.noticed():
			out.Mutants, out.Noticed = out.Mutants+1, out.Noticed+1
		default:
			s := ledger.ChangeSurvivor{Survivor: survivor(m.Mutant.Mutant), Ran: len(m.ran), Code: codeAround(m.Source, m.Line)}
			for _, t := range m.ran[:min(len(m.ran), maxTests)] {
				s.Tests = append(s.Tests, t.ID)
			}
			out.Mutants, out.Survivors = out.Mutants+1, append(out.Survivors, s)
		}
	}
	slices.SortFunc(out.Survivors, func(a, b ledger.ChangeSurvivor) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	return out
}

// survivor returns what a report shows of a mutant.
func survivor(m mutation.Mutant) detector.Survivor {
	return detector.Survivor{File: m.File, Line: m.Line, Function: m.Function, Operator: string(m.Operator), Original: m.Original, Mutated: m.Mutated}
}

// codeAround returns the lines around a line.
func codeAround(text []byte, n int) []string {
	lines := strings.Split(string(text), "\n")
	return lines[max(0, n-1-ledger.Around):min(n+ledger.Around, len(lines))]
}

// limit returns how many mutants are run.
func (o Options) limit() int { return cmp.Or(max(0, o.MaxMutants), DefaultMutants) }
