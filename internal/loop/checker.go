package loop

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"supervise/internal/criterion"
	"supervise/internal/detectedplan"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
)

// checker runs the checks of a loop. It has two meters: one for the plan of the baseline, and one
// for the plan of the current tree. They are the same unless the agent changed the test runners.
type checker struct {
	baseMeter *measure.Meter // meter for the plan of the baseline
	basePlan  measure.Plan
	meter     *measure.Meter // meter for the current plan
	plan      measure.Plan   // plan for the current tree, see [detectedplan.PlanFor]
	mask      secrets.Mask
	ledger    *ledger.Ledger
	journal   *event.Journal
	iteration func() int // returns the number of the current iteration
	env       []string
	user      *runner.User // user that checks and agent run as; nil means the user of this process
	userDir   string       // folder for files of the checks that this user can access; "" without such a user

	checkOutputs []string      // files that the checks wrote into the tree
	clock        measure.Clock // time of the checks since the start of the iteration
}

// scratchDir returns the folder for copies of trees and for reports.
func (c *checker) scratchDir() string { return cmp.Or(c.userDir, c.ledger.ScratchDir()) }

// reportProgress writes an event when a check starts, and one when it has finished.
func (c *checker) reportProgress(p measure.Progress) {
	check := event.Check{Name: p.Check.Name, Command: p.Check.CommandLine()}
	if p.Run == nil {
		c.journal.Note(event.CheckStarted, c.iteration(), check)
		return
	}
	c.clock.Add(*p.Run)
	check.ExitCode, check.DurationMS, check.Why, check.Done = p.Run.ExitCode, p.Run.Duration.Milliseconds(), c.mask.String(p.Run.Why), true
	c.journal.Note(event.CheckFinished, c.iteration(), check)
}

// selectPlan sets c.plan and c.meter for the current tree, whose test runners may differ from
// those of the baseline.
func (c *checker) selectPlan() {
	current, changed := detectedplan.PlanFor(c.basePlan.Root, c.basePlan, exec.LookPath)
	switch {
	case !changed:
		c.plan, c.meter = c.basePlan, c.baseMeter
	case current.Hash() != c.plan.Hash():
		c.plan, c.meter = current, c.baseMeter.WithPlan(current)
	}
}

// measureFunc measures a tree with a meter. The tests are those of the previous measurement.
type measureFunc func(*measure.Meter, context.Context, *metric.Tests) (measure.Result, error)

// measureQuickly may use the caches of the tools, and is for iterations in progress.
// measureUncached does not, and is for results that a final decision depends on.
var measureQuickly, measureUncached measureFunc = (*measure.Meter).RunQuick, (*measure.Meter).Run

// measureUnmasked measures the tree with its current test runners. If their results cannot be
// read, it measures again with the runners of the baseline.
func (c *checker) measureUnmasked(ctx context.Context, how measureFunc, known *metric.Tests) (measure.Result, error) {
	c.selectPlan()
	res, err := how(c.meter, ctx, known)
	if err != nil || res.Set.Tests != nil || c.meter == c.baseMeter {
		return res, err
	}
	baseResult, err := how(c.baseMeter, ctx, known)
	if err == nil && baseResult.Set.Tests != nil {
		c.plan, c.meter, res = c.basePlan, c.baseMeter, baseResult
	}
	return res, err
}

// originalMeter returns the meter of the baseline, nil if the current one is the same.
func (c *checker) originalMeter() *treecopy.Original {
	if c.meter == c.baseMeter {
		return nil
	}
	return &treecopy.Original{Meter: c.baseMeter}
}

// measure measures the tree and masks the secrets in the results, because the texts of failures
// and checks are stored and shown to the agent.
func (c *checker) measure(ctx context.Context, how measureFunc, previous *metric.Tests) (measure.Result, error) {
	res, err := c.measureUnmasked(ctx, how, previous)
	if err != nil || c.mask.Masker == nil {
		return res, err
	}
	res.Runs, res.Set = c.mask.Runs(res.Runs), c.mask.Set(res.Set)
	for i := range res.Parts {
		res.Parts[i].Set = c.mask.Set(res.Parts[i].Set)
	}
	return res, nil
}

// measureTree measures a tree, given by its ID, for the judge, which masks secrets itself. For a
// tree that was measured before, it returns the earlier results. If mayBeLast says that the loop
// may end with the results, and some of them come from caches, it measures again without caches.
func (c *checker) measureTree(ctx context.Context, tree string, past *judge.History, mayBeLast func(metric.Set) bool) (judge.Measured, error) {
	how := measureQuickly
	if m, known := past.Measured(tree); known {
		c.selectPlan()
		if m.Set.Tests != nil && m.Set.Tests.Runner == past.Baseline.Set.Tests.Runner {
			c.plan, c.meter = c.basePlan, c.baseMeter
		}
		if m.Set.Tests.Counts().Cached == 0 || !mayBeLast(m.Set) {
			return m, nil
		}
		how = measureUncached
	}
	known := past.Previous.Set.Tests
	res, err := c.measureUnmasked(ctx, how, known)
	if err == nil && res.Set.Tests.Counts().Cached > 0 && mayBeLast(res.Set) {
		res, err = c.measureUnmasked(ctx, measureUncached, known)
	}
	if err != nil {
		return judge.Measured{}, err
	}
	return judge.Measured{Set: res.Set, Checks: treecopy.CheckRuns(res.Runs)}, c.save()
}

// save stores what the meter learned about the checks.
func (c *checker) save() error { return c.ledger.SaveMeasureState(c.baseMeter.Memory()) }

// runCriterion runs the shell command of the criterion, with additional variables. It returns whether the command
// succeeded, and the end of its output.
func (c *checker) runCriterion(ctx context.Context, command, dir string, extra ...string) (ok bool, output string, err error) {
	env := c.env
	if c.user != nil {
		env = c.user.Environ(env)
	}
	ok, output, err = criterion.RunCommand(ctx, command, runner.Command{
		Dir: dir, Env: slices.Concat(env, extra), KeepOpen: c.ledger.TreeLocks(), BeforeStart: c.journal.Starting(event.ChildCriterion, c.iteration), User: c.user,
	})
	return ok, c.mask.String(output), err
}

// cleanUp removes the reports that the checks wrote into the tree. If the agent runs as another
// user, it then gives the tree to that user, because restored files and outputs of checks belong
// to root.
func (c *checker) cleanUp(root string, warn func(what string, err error)) error {
	for _, path := range c.checkOutputs {
		full := filepath.Join(root, filepath.FromSlash(path))
		if !c.meter.IsReport(full) {
			continue
		}
		if err := c.meter.RemoveReport(full); err != nil && !errors.Is(err, os.ErrNotExist) {
			warn("remove a report of the checks", err)
		}
	}
	if c.user == nil {
		return nil
	}
	return c.user.Chown(root)
}

// close removes the folder of the checks' user.
func (c *checker) close() error {
	if c.userDir == "" {
		return nil
	}
	return ledger.RemoveTree(c.userDir)
}
