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

// measureAll measures the commits.
func (h *history) measureAll(ctx context.Context, list []Commit) error {
	return each(ctx, h, list, func(ctx context.Context, s *site, c Commit) (finish, error) {
		began := time.Now()
		e, err := s.measure(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("measure commit %s: %w", c.Short(), err)
		}
		return func(done int) {
			h.entries[c.tree] = e
			h.opts.OnProgress(Progress{Done: done, Total: len(list), Commit: c, Took: time.Since(began), Why: e.Why})
		}, nil
	})
}

// measure measures one commit by itself, whatever was checked out before, so that the results
// can be used wherever the same tree occurs again.
func (s *site) measure(ctx context.Context, c Commit) (entry, error) {
	e := entry{Tree: c.tree, Commit: c.ID}
	at, why, err := s.ready(ctx, e, c)
	if err != nil {
		return e, err
	}
	if why != "" { // the machine may be the reason: it is tried again next time
		e.Why = why
		return e, nil
	}
	res, err := at.meter.Run(ctx, nil)
	if err != nil {
		return e, err
	}
	set := res.Set
	if set.Tests == nil {
		set.Tests = res.Reported // what carries over depends on the commit before
	}
	e.Set, e.Learnt = secrets.NewMask(s.opts.Env).Set(set).WithoutCoveredLines(), at.meter.Memory()
	e.Why = unmeasured(e.Set)
	if err := s.cache.put(linesOf(c), set.Coverage); err != nil {
		return e, err
	}
	return e, s.cache.put(e.Tree, e)
}

// ready is a commit that is checked out and prepared.
type ready struct {
	meter *measure.Meter
	plan  measure.Plan // for the checkout
	taken snapshot.ID
}

// ready checks a commit out and prepares it. why is the reason if there is nothing to
// measure.
func (s *site) ready(ctx context.Context, e entry, c Commit) (at ready, why string, err error) {
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
	if at.plan, err = moved(s.opts.Plan, s.opts.Plan.Root, root); err != nil {
		return at, "", err
	}
	at.plan = treecopy.PlanForCopy(ctx, at.plan, s.opts.Plan.Root, s.opts.Env)
	at.meter = measure.New(at.plan, measure.Options{
		Scratch: filepath.Join(s.tree.Base, "reports"), Hold: []*os.File{s.tree.Lock}, Memory: e.Learnt, Reruns: s.opts.Settings.Confirm,
	})
	return at, "", nil
}

// confirm runs the tests again that fail in a commit and passed in the one before,
// as a loop does before it accuses anybody.
func (h *history) confirm(ctx context.Context) (err error) {
	var s *site
	defer func() { err = s.close(err) }()
	for p := range h.steps() {
		suspects := ids(p.suspects) // none if nothing was measured
		if len(suspects) == 0 || slices.Equal(suspects, p.entry.Suspects) {
			continue
		}
		if s == nil {
			if s, err = h.site(ctx, 0); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := s.confirm(ctx, p, suspects); err != nil {
			return fmt.Errorf("run failing tests of commit %s again: %w", p.commit.Short(), err)
		}
		h.opts.OnProgress(Progress{Commit: p.commit, Took: time.Since(began), IsRerun: true})
	}
	return nil
}

func (s *site) confirm(ctx context.Context, p step, suspects []metric.ID) error {
	at, why, err := s.ready(ctx, p.entry, p.commit)
	if err != nil || why != "" {
		return err
	}
	found, err := at.meter.Confirm(ctx, p.before, p.set)
	if err != nil {
		return err
	}
	e := p.entry
	e.Suspects, e.Flaky = suspects, found.Flaky
	s.entries[p.commit.tree] = e
	return s.cache.put(e.Tree, e)
}

func ids(tests []metric.Test) []metric.ID {
	var out []metric.ID
	for _, t := range tests {
		out = append(out, t.ID)
	}
	return out
}
