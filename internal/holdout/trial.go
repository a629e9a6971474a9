// Package holdout runs tests in private copies of a tree: tests of one tree over the
// code of another, and tests that the agent does not see.
package holdout

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/snapshot"
)

// Options say when tests that findings name are run as they were.
type Options struct {
	Never   bool          `json:"never,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // of one hold-out run as a whole; 0: the limits of the checks
}

// Trial is a hold-out run: the tests of one snapshot run over the code of another.
type Trial struct {
	Workspace

	Was, Is  snapshot.ID          // the trees of the tests and of the code
	Findings []detector.Tampering // that name the tests
	Before   *metric.Tests        // as they were measured in Was
	Evidence ledger.Evidence      // of the change from Was to Is
	Flaky    map[metric.ID]bool   // whose results prove nothing
	Limit    time.Duration        // for the whole run; 0: the limits of the checks
}

// Refused is the record of a trial that is not run.
func (t Trial) Refused(why string) *ledger.HoldOut {
	return &ledger.HoldOut{TestsOf: t.Was, CodeOf: t.Is, Results: []detector.HeldOut{}, Refused: why}
}

// Run makes the copy, runs the tests and removes the copy. The error is that of ctx, or
// a fault of the machine.
func (t Trial) Run(ctx context.Context) (out ledger.HoldOut, err error) {
	run := &trialRun{Trial: t, out: *t.Refused(""), ends: map[metric.ID]verdict{}, beside: map[metric.ID]bool{}}
	run.readInline(ctx)
	wanted := run.wanted()
	if len(wanted) > 0 {
		err = run.inTree(ctx, wanted)
	}
	run.results()
	if err != nil {
		err = fmt.Errorf("hold-out run: %w", err)
	}
	return run.out, err
}

// verdict is the result of one test of the trial.
type verdict struct {
	outcome detector.Outcome
	why     string
}

// trialRun is a trial under way.
type trialRun struct {
	Trial
	out   ledger.HoldOut
	tree  Tree
	named []namedTest
	ends  map[metric.ID]verdict
	until time.Time

	inline map[string]inlineTests // by path, as it is now
	beside map[metric.ID]bool     // tests in one of them
}

// namedTest is a test that a finding names.
type namedTest struct {
	finding detector.Tampering
	test    metric.Test
}

// wanted finds the tests of the findings, and returns those whose result would prove
// something, once each.
func (r *trialRun) wanted() []metric.Test {
	var out []metric.Test
	seen := map[metric.ID]bool{}
	for _, f := range r.Findings {
		cases := f.Cases(r.Before, r.Evidence.Before, r.Evidence.Renamed)
		if len(cases) == 0 {
			none := detector.HeldOut{File: f.File, Finding: f.Test, Outcome: detector.NotHeld, Why: "no such test was measured before"}
			r.out.Results = append(r.out.Results, none)
		}
		for _, c := range cases {
			r.named = append(r.named, namedTest{f, c})
			switch why := r.mute(f, c); {
			case why != "":
				r.ends[c.ID] = verdict{detector.NotHeld, why}
			case !seen[c.ID]:
				seen[c.ID] = true
				r.beside[c.ID] = !r.testFile(f.File)
				out = append(out, c)
			}
		}
	}
	return out
}

// mute is the reason why the result of a test would prove nothing, "" where it would.
func (r *trialRun) mute(f detector.Tampering, c metric.Test) string {
	switch {
	case r.Flaky[c.ID] || c.Flaky:
		return "it is flaky"
	case c.Status == metric.Skipped || c.Status == metric.NotRun:
		return "it did not run before either"
	case !r.testFile(f.File) && !r.isInline(f):
		return "it stands in a file with the code that it tests"
	}
	return ""
}

func (r *trialRun) oldPath(file string) string {
	for from, to := range r.Evidence.Renamed {
		if to == file {
			return from
		}
	}
	return file
}

// inTree runs the tests in a copy of the new tree.
func (r *trialRun) inTree(ctx context.Context, tests []metric.Test) error {
	if r.Limit > 0 {
		r.until = time.Now().Add(r.Limit)
	}
	return r.In(ctx, r.Is, func(t Tree) error {
		r.tree = t
		if err := r.asTheyWere(ctx, tests); err != nil {
			return err
		}
		return r.control(ctx, tests)
	})
}

// asTheyWere puts the test files back that the findings name, with what is beside
// them, and runs the tests. Those in files of code come last, with their
// modules put into the new code: where that does not build, it keeps no other test
// from running.
func (r *trialRun) asTheyWere(ctx context.Context, tests []metric.Test) error {
	apart := slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return r.beside[t.ID] })
	inline := slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return !r.beside[t.ID] })
	few := r.flagged()
	if err := r.putBack(ctx, few); err != nil {
		return err
	}
	if len(apart) > 0 {
		if err := r.inFiles(ctx, apart, few); err != nil {
			return err
		}
	}
	if len(inline) == 0 {
		return nil
	}
	if err := r.putInto(); err != nil {
		return err
	}
	return r.run(ctx, inline)
}

// inFiles runs the tests in test files. Those that do not build are tried once more with
// all test files as they were: code may have moved from one to another.
func (r *trialRun) inFiles(ctx context.Context, tests []metric.Test, few []string) error {
	if err := r.run(ctx, tests); err != nil || len(few) == len(r.Evidence.TestFiles) {
		return err
	}
	unbuilt := slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return r.ends[t.ID].outcome != detector.Unbuilt })
	if len(unbuilt) == 0 {
		return nil
	}
	if err := r.putBack(ctx, r.Evidence.TestFiles); err != nil {
		return err
	}
	return r.run(ctx, unbuilt)
}

// flagged are the changed test files that the findings name, under both names
// where they were renamed, and those that hold no test: what tests share.
func (r *trialRun) flagged() []string {
	holds := map[string]bool{}
	for _, d := range slices.Concat(r.Evidence.Before, r.Evidence.After) {
		holds[d.File] = true
	}
	var out []string
	for _, f := range r.Evidence.TestFiles {
		named := slices.ContainsFunc(r.named, func(n namedTest) bool {
			return n.finding.File == f || r.oldPath(n.finding.File) == f
		})
		if named || !holds[f] {
			out = append(out, f)
		}
	}
	return out
}

func (r *trialRun) putBack(ctx context.Context, files []string) error {
	r.out.PutBack = files
	return r.tree.Restore(ctx, r.Was, files...)
}

// run runs tests in the tree and notes how they end.
func (r *trialRun) run(ctx context.Context, tests []metric.Test) error {
	ends, err := r.elsewhere(ctx, tests)
	for id, e := range ends {
		r.ends[id] = r.verdict(e)
	}
	return err
}

func (r *trialRun) elsewhere(ctx context.Context, tests []metric.Test) (map[metric.ID]measure.Ending, error) {
	limit := time.Duration(0)
	if r.Limit > 0 {
		limit = max(time.Until(r.until), time.Nanosecond)
	}
	ends, runs, err := r.Meter.Elsewhere(ctx, r.tree.Project(), tests, limit)
	r.out.Runs = append(r.out.Runs, Runs(runs)...)
	return ends, err
}

func (r *trialRun) verdict(e measure.Ending) verdict {
	why := r.shown(cmp.Or(e.Why, e.Test.Message))
	switch {
	case e.Unbuilt:
		return verdict{detector.Unbuilt, why}
	case e.Test.Status == 0:
		return verdict{detector.NotHeld, why}
	case e.Test.Status == metric.Passed:
		return verdict{outcome: detector.Held}
	case !r.Evidence.TestsAlone && misfit.MatchString(e.Test.Message):
		return verdict{detector.Unbuilt, why}
	}
	return verdict{detector.Broke, why}
}

// misfit matches the errors of interpreted languages for a test that does not match the
// code: what it uses does not exist, or has another signature.
var misfit = regexp.MustCompile(`\b(AttributeError|NameError|ImportError|ModuleNotFoundError|NoMethodError|ReferenceError|UndefinedFunctionError)\b|` +
	`\bis not a (function|constructor)\b|Cannot find module|Call to undefined (method|function)|Class "[^"]*" not found|` +
	`TypeError: .*(unexpected keyword argument|takes \d+ positional|missing \d+ required|got multiple values)|wrong number of arguments|ArgumentCountError`)

// shown is the message of a test in one short line, without the path of the copy.
func (r *trialRun) shown(text string) string {
	text = strings.ReplaceAll(text, r.tree.Path+"/", "")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			const limit = 200
			if cut := []rune(line); len(cut) > limit {
				return string(cut[:limit-1]) + "…"
			}
			return line
		}
	}
	return ""
}

// control runs the tests that passed before and fail now over the old code, in the same
// copy. If one fails there as well, the copy is the reason, and its result proves
// nothing.
func (r *trialRun) control(ctx context.Context, tests []metric.Test) error {
	failed := slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool {
		return t.Status != metric.Passed || r.ends[t.ID].outcome != detector.Broke
	})
	if len(failed) == 0 {
		return nil
	}
	changes, err := r.Store.Changes(ctx, r.Is, r.Was)
	if err != nil {
		return err
	}
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	if err := r.tree.Restore(ctx, r.Was, paths...); err != nil {
		return err
	}
	ends, err := r.elsewhere(ctx, failed)
	for id, e := range ends {
		if e.Test.Status != metric.Passed {
			why := cmp.Or(r.shown(cmp.Or(e.Why, e.Test.Message)), r.ends[id].why)
			r.ends[id] = verdict{detector.NotHeld, "away from the working tree it does not pass over the old code either: " + why}
		}
	}
	return err
}

// results records the result of every test that a finding names.
func (r *trialRun) results() {
	for _, n := range r.named {
		v, ran := r.ends[n.test.ID]
		if !ran {
			v = verdict{detector.NotHeld, "no check ran it"}
		}
		r.out.Results = append(r.out.Results, detector.HeldOut{
			File: n.finding.File, Finding: n.finding.Test, ID: n.test.ID, Outcome: v.outcome, Why: v.why,
		})
	}
	slices.SortStableFunc(r.out.Results, func(a, b detector.HeldOut) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Finding, b.Finding), a.ID.Compare(b.ID))
	})
	r.out.Results = slices.Compact(r.out.Results)
}
