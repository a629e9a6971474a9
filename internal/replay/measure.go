package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// measureAll measures the commits in parallel, and adds the results to h.measurements.
func (h *historyReplay) measureAll(ctx context.Context, list []Commit) error {
	return runWorkers(ctx, h, list, func(ctx context.Context, s *site, c Commit) (recordResult, error) {
		began := time.Now()
		e, err := s.measure(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("measure commit %s: %w", c.Short(), err)
		}
		return func(done int) {
			h.measurements[c.tree] = e
			h.opts.OnProgress(Progress{Done: done, Total: len(list), Commit: c, Took: time.Since(began), Why: e.Failure})
		}, nil
	})
}

// measure measures one commit and stores the result in the cache. The result does not depend on
// other commits, so that it is valid for every commit with the same tree.
func (s *site) measure(ctx context.Context, c Commit) (measurement, error) {
	m := measurement{Tree: c.tree, Commit: c.ID}
	at, why, err := s.prepare(ctx, m, c)
	if err != nil {
		return m, err
	}

	if why != "" { // not cached, since the machine may be the reason
		m.Failure = why
		return m, nil
	}

	res, err := at.meter.Run(ctx, nil)
	if err != nil {
		return m, err
	}

	set := res.Set
	if set.Tests == nil {
		set.Tests = res.Reported // carried-over tests depend on the commit before
	}

	m.Set, m.Memory = secrets.NewMask(s.opts.Env).Set(set).WithoutCoveredLines(), at.meter.Memory()
	m.Failure = unmeasuredReason(m.Set)
	if err := s.cache.store(coverageKey(c), set.Coverage); err != nil {
		return m, err
	}
	return m, s.cache.store(m.Tree, m)
}

// preparedCommit is a commit whose files are in the checkout of a site, ready to be measured.
type preparedCommit struct {
	meter *measure.Meter
	plan  measure.Plan // with the paths of the checkout
	taken snapshot.ID  // snapshot of the commit's files
}

// prepare checks out a commit and prepares it: it links installed dependencies and runs the setup
// command. why says why the commit cannot be measured, "" if it can.
func (s *site) prepare(ctx context.Context, m measurement, c Commit) (at preparedCommit, why string, err error) {
	if at.taken, err = s.tree.Snapshot(ctx, s.store, c.ID); err != nil {
		return at, "", err
	}
	root, err := s.project().DirIn(s.tree.Dir)
	if err != nil {
		return at, "", err
	}
	if _, err := os.Stat(root); err != nil {
		return at, "the folder of the project is not there", nil //nolint:nilerr // that is the finding
	}

	files, err := s.store.Files(at.taken)
	if err != nil {
		return at, "", err
	}
	if why, err := s.project().Prepare(ctx, s.tree.Dir, files, s.tree.Lock); why != "" || err != nil {
		return at, why, err
	}

	at.plan = treecopy.PlanForCopy(ctx, treecopy.MovePlan(s.opts.Plan, root), s.opts.Plan.Root, s.opts.Env)
	at.meter = measure.New(at.plan, measure.Options{
		Scratch: filepath.Join(s.tree.Base, "reports"), Hold: []*os.File{s.tree.Lock}, Memory: m.Memory, Reruns: s.opts.Settings.Confirm,
	})
	return at, "", nil
}

// rerunSuspects reruns the tests that fail in a commit and passed before it, as a loop does
// before it reports a regression.
func (h *historyReplay) rerunSuspects(ctx context.Context) (err error) {
	var s *site
	defer func() { err = s.close(err) }()
	for p := range h.steps() {
		suspects := idsOf(p.suspects) // none if nothing was measured
		if len(suspects) == 0 || slices.Equal(suspects, p.measurement.Suspects) {
			continue
		}
		if s == nil {
			if s, err = h.newSite(ctx, 0); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := s.rerunSuspects(ctx, p, suspects); err != nil {
			return fmt.Errorf("run failing tests of commit %s again: %w", p.commit.Short(), err)
		}
		h.opts.OnProgress(Progress{Commit: p.commit, Took: time.Since(began), IsRerun: true})
	}
	return nil
}

// rerunSuspects reruns the suspects of one commit and stores those that passed as flaky.
func (s *site) rerunSuspects(ctx context.Context, p step, suspects []metric.ID) error {
	at, why, err := s.prepare(ctx, p.measurement, p.commit)
	if err != nil || why != "" {
		return err
	}
	found, err := at.meter.Confirm(ctx, p.before, p.set)
	if err != nil {
		return err
	}
	m := p.measurement
	m.Suspects, m.Flaky = suspects, found.Flaky
	s.measurements[p.commit.tree] = m
	return s.cache.store(m.Tree, m)
}

// idsOf returns the IDs of tests, nil for none.
func idsOf(tests []metric.Test) []metric.ID {
	var out []metric.ID
	for _, t := range tests {
		out = append(out, t.ID)
	}
	return out
}
