package loop

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

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

// criterionTimeout bounds the command of the criterion.
const criterionTimeout = 10 * time.Minute

// checker runs the checks of a loop.
type checker struct {
	base      *measure.Meter // by the plan that the loop began with
	began     measure.Plan
	meter     *measure.Meter // by plan
	plan      measure.Plan   // of the present tree: see [detectedplan.At]
	mask      secrets.Mask
	ledger    *ledger.Ledger
	journal   *event.Journal
	iteration func() int // the present one
	env       []string
	user      *runner.User // whom checks and agent run as; nil: as this process does
	entry     string       // folder that this user can enter, for what the checks need; "" without such a user

	outputs []string      // files that the checks themselves left in the tree
	clock   measure.Clock // since the iteration began
}

// scratch is where private trees and reports are made.
func (c *checker) scratch() string { return cmp.Or(c.entry, c.ledger.ScratchDir()) }

// progress passes the progress of the checks on.
func (c *checker) progress(p measure.Progress) {
	check := event.Check{Name: p.Check.Name, Command: p.Check.CommandLine()}
	if p.Run == nil {
		c.journal.Note(event.CheckStarted, c.iteration(), check)
		return
	}
	c.clock.Add(*p.Run)
	check.ExitCode, check.DurationMS, check.Why, check.Done = p.Run.ExitCode, p.Run.Duration.Milliseconds(), c.mask.String(p.Run.Why), true
	c.journal.Note(event.CheckFinished, c.iteration(), check)
}

// choose finds out by which plan the tree is measured as it is now.
func (c *checker) choose() {
	now, moved := detectedplan.PlanFor(c.began.Root, c.began, exec.LookPath)
	switch {
	case !moved:
		c.plan, c.meter = c.began, c.base
	case now.Hash() != c.plan.Hash():
		c.plan, c.meter = now, c.base.WithPlan(now)
	}
}

// extent says whether a measurement may take verdicts from the caches of the tools.
type extent func(*measure.Meter, context.Context, *metric.Tests) (measure.Result, error)

// quick is for an iteration, anew for what a decision rests on.
var quick, anew extent = (*measure.Meter).RunQuick, (*measure.Meter).Run

// measured measures the tree by the runners that it declares. Where their results cannot
// be read, those that the loop began with are tried.
func (c *checker) measured(ctx context.Context, how extent, known *metric.Tests) (measure.Result, error) {
	c.choose()
	res, err := how(c.meter, ctx, known)
	if err != nil || res.Set.Tests != nil || c.meter == c.base {
		return res, err
	}
	again, err := how(c.base, ctx, known)
	if err == nil && again.Set.Tests != nil {
		c.plan, c.meter, res = c.began, c.base, again
	}
	return res, err
}

// original is how tests were run at the baseline, nil where they are run so still.
func (c *checker) original() *treecopy.Original {
	if c.meter == c.base {
		return nil
	}
	return &treecopy.Original{Meter: c.base}
}

// measure measures the tree. The texts of failures and checks are stored and shown to
// the agent, so the secrets in them are masked.
func (c *checker) measure(ctx context.Context, how extent, previous *metric.Tests) (measure.Result, error) {
	res, err := c.measured(ctx, how, previous)
	if err != nil || c.mask.Masker == nil {
		return res, err
	}
	res.Runs, res.Set = c.mask.Runs(res.Runs), c.mask.Set(res.Set)
	for i := range res.Parts {
		res.Parts[i].Set = c.mask.Set(res.Parts[i].Set)
	}
	return res, nil
}

// once measures a tree for the judge, who masks by himself, or takes the numbers of an
// earlier measurement of the very same one. Where last finds that the loop may end with
// such numbers, and some of them are carried, the tree is measured anew.
func (c *checker) once(ctx context.Context, tree string, past *judge.History, last func(metric.Set) bool) (judge.Measured, error) {
	m, ok := past.Measured(tree)
	how := quick
	if ok {
		if c.choose(); m.Set.Tests != nil && m.Set.Tests.Runner == past.Baseline.Set.Tests.Runner {
			c.plan, c.meter = c.began, c.base
		}
		if m.Set.Tests.Counts().Cached == 0 || !last(m.Set) {
			return m, nil
		}
		how = anew
	}
	known := past.Previous.Set.Tests
	res, err := c.measured(ctx, how, known)
	if err == nil && res.Set.Tests.Counts().Cached > 0 && last(res.Set) {
		res, err = c.measured(ctx, anew, known)
	}
	if err != nil {
		return judge.Measured{}, err
	}
	return judge.Measured{Set: res.Set, Checks: treecopy.CheckRuns(res.Runs)}, c.save()
}

// save writes down what the checks taught about themselves.
func (c *checker) save() error { return c.ledger.SaveMeasureState(c.base.Memory()) }

// maxCriterion is how much of what the command of the criterion prints is kept, in bytes.
const maxCriterion = 2 << 10

// succeeds reports whether a command of the shell does, and the end of what it printed.
func (c *checker) succeeds(ctx context.Context, command, dir string) (ok bool, said string, err error) {
	env := c.env
	if c.user != nil {
		env = c.user.Environ(env)
	}
	words := runner.NewTail(maxCriterion)
	res, err := runner.Run(ctx, runner.Command{
		Args: []string{"/bin/sh", "-c", command}, Dir: dir, Env: append(env, "CI=true"), Timeout: criterionTimeout, Stdout: words, Stderr: words,
		KeepOpen: c.ledger.TreeLocks(), BeforeStart: c.journal.Starting(event.ChildCriterion, c.iteration), User: c.user,
	})
	if errors.Is(err, runner.ErrUnstartable) { // the agent may have taken its folder away
		return false, "", nil
	}
	return err == nil && res.Cause == runner.Exited && res.ExitCode == 0, c.mask.String(words.String()), err
}

// tidy removes the reports that the checks wrote into the tree and that had not been
// there before the loop, and has the tree belong to the agent's user again, where that
// is another one: what was restored, and what the checks left, belongs to root.
func (c *checker) tidy(root string, warn func(what string, err error)) error {
	for _, path := range c.outputs {
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

func (c *checker) close() error {
	if c.entry == "" {
		return nil
	}
	return ledger.RemoveTree(c.entry)
}
