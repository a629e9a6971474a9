package mergegate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/internal/treediff"
	"supervise/metric"
	"supervise/snapshot"
)

// measured is what was measured of the tree.
type measured struct {
	set     metric.Set
	runs    []ledger.CheckRun
	flaky   []metric.ID // failed first and passed when run again
	heldOut *ledger.HoldOut

	silenced *ledger.Silenced // nil where no comment came that silences linters
	excluded *ledger.Excluded // nil where nothing came that takes code out of the coverage
}

// capture takes the tree as it is, and the base, into a store of snapshots. The
// checkout holds the base then.
func (g *gate) capture(ctx context.Context) (err error) {
	g.OnProgress("reading what changed")
	if err := g.commitHead(ctx); err != nil {
		return err
	}
	if err := g.tree.CheckOut(ctx, g.head); err != nil {
		return err
	}
	if g.store, err = snapshot.Open(ctx, g.tree.Dir, filepath.Join(g.Scratch, "snapshots"), snapshot.Options{MinFree: -1}); err != nil {
		return err
	}
	now, err := g.store.Take(ctx, "head")
	if err != nil {
		return err
	}
	g.is, g.files = now.ID, map[string]bool{}
	files, err := g.store.Files(g.is)
	if err != nil {
		return err
	}
	for _, f := range files {
		g.files[f.Path] = true
	}
	if g.texts == "" {
		return nil
	}
	base, err := g.tree.Git(ctx, "-c", "user.name=supervise", "-c", "user.email=supervise@localhost", "commit-tree", "-m", "base", g.texts)
	if err != nil {
		return err
	}
	if err := g.tree.CheckOut(ctx, strings.TrimSpace(base)); err != nil {
		return err
	}
	before, err := g.store.Take(ctx, "base")
	g.was = before.ID
	return err
}

// commitHead makes a commit of the working tree, with what is not committed and not
// ignored, in the repository of the checkout.
func (g *gate) commitHead(ctx context.Context) error {
	head, err := g.repo.tree(ctx, "HEAD^{tree}")
	if err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	exclude, err := g.repo.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return err
	}
	there := []string{"--git-dir=" + filepath.Join(g.tree.Dir, ".git"), "--work-tree=" + g.Root, "-c", "core.excludesFile=" + strings.TrimSuffix(exclude, "\n"), "-c", "advice.addEmbeddedRepo=false"}
	var tree string
	for _, args := range [][]string{{"read-tree", head}, {"add", "--all"}, {"write-tree"}} {
		if tree, err = g.tree.Git(ctx, append(there, args...)...); err != nil {
			return err
		}
	}
	tree = strings.TrimSpace(tree)
	g.commitID, g.dirty = g.repo.id(ctx, "HEAD"), tree != head
	commit, err := g.tree.Git(ctx, "-c", "user.name=supervise", "-c", "user.email=supervise@localhost", "commit-tree", "-m", "head", tree)
	g.head = strings.TrimSpace(commit)
	return err
}

// configure reads what the user asked for, as the base has it.
func (g *gate) configure(context.Context) (err error) {
	from := g.at(g.tree.Dir)
	if g.texts == "" {
		from = g.Project
		g.note("the configuration is that of the change itself, since the base's files are not here")
	} else if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("%w: the base has no folder %s", ErrBase, g.below)
	}
	g.settings, err = g.Configure(from, g.Project)
	return err
}

// measureBase measures the base in the checkout, where it has no record.
func (g *gate) measureBase(ctx context.Context) error {
	if g.record != nil {
		g.before = g.record.Set
		return nil
	}
	g.OnProgress("measuring the base, " + short(g.base.Commit))
	dir := g.at(g.tree.Dir)
	settings, err := g.Configure(dir, dir)
	if err != nil {
		return err
	}
	files, err := g.store.Files(g.was)
	if err != nil {
		return err
	}
	plan := settings.Plan
	if err := holdout.Reuse(g.tree.Dir, g.Root, plan, files); err != nil {
		return err
	}
	switch why, err := g.tree.Prepare(ctx, g.Setup, dir); {
	case err != nil:
		return err
	case why != "":
		return fmt.Errorf("%w: the base: %s", ErrUnmeasurable, why)
	}
	m := measure.New(plan, measure.Options{Scratch: filepath.Join(g.Scratch, "reports"), Hold: []*os.File{g.tree.Lock}})
	res, err := m.Run(ctx, nil)
	if err != nil {
		return err
	}
	if res.Set.Tests == nil {
		return fmt.Errorf("%w: the tests of the base, %s, could not be read: %s; --setup prepares its checkout, for instance 'npm ci'", ErrUnmeasurable, short(g.base.Commit), why(res.Set))
	}
	g.before = g.mask().Set(res.Set)
	return nil
}

// measureHead measures the tree in its place.
func (g *gate) measureHead(ctx context.Context) error {
	g.OnProgress("measuring the tree")
	m := measure.New(g.settings.Plan, measure.Options{Scratch: filepath.Join(g.Scratch, "reports"), Reruns: g.settings.Confirm})
	res, err := m.Run(ctx, g.before.Tests)
	if err != nil {
		return err
	}
	g.meter, g.now.runs = m, holdout.Runs(res.Runs)
	if res.Set.Tests == nil {
		return fmt.Errorf("%w: the tests could not be read: %s", ErrUnmeasurable, why(res.Set))
	}
	confirmed, err := m.Confirm(ctx, g.before, res.Set)
	if err != nil {
		return err
	}
	set := res.Set
	for _, id := range confirmed.Flaky {
		if t, ok := set.Tests.Lookup(id); ok {
			t.Status, t.Flaky = metric.Passed, true
			set.Tests = set.Tests.With(t)
		}
	}
	g.now.set, g.now.flaky = g.mask().Set(set), confirmed.Flaky
	return nil
}

func why(s metric.Set) string {
	if gap, ok := s.Gap(metric.SectionTests); ok {
		line, _, _ := strings.Cut(strings.TrimSpace(gap.Why), "\n")
		return line
	}
	return "there is no check that runs tests"
}

// compare reads what the texts that changed say.
func (g *gate) compare(ctx context.Context) error {
	g.change.Judged, g.change.Flaky = g.Now, g.now.flaky
	if g.texts == "" {
		return nil
	}
	changes, err := g.store.Changes(ctx, g.was, g.is)
	if err != nil {
		return err
	}
	opt := g.settings.Integrity
	opt.Base = treediff.Repo{Dir: g.tree.Dir}.Base(ctx, g.texts)
	e, err := evidence.Of(changes, opt, evidence.ReaderOf(ctx, g.store, g.was, g.is))
	if err != nil {
		return fmt.Errorf("read what changed: %w", err)
	}
	e.Judged, e.Flaky = g.Now, g.now.flaky
	g.change = e
	return nil
}

// tryHeldOut runs the tests that findings name as they were in the base over the
// tree.
func (g *gate) tryHeldOut(ctx context.Context) error {
	if g.settings.HoldOut.Never || g.texts == "" || len(g.change.Tampering) == 0 {
		return nil
	}
	is, was := detector.Observation{Iteration: 1, Set: g.now.set}, detector.Observation{Set: g.before}
	in := detector.Input{
		Current: is, Previous: was, Baseline: was, Before: g.change.Before, After: g.change.After, Renamed: g.change.Renamed,
		Tampering: g.change.Tampering, Now: g.Now, TestFiles: g.change.TestFiles, TestsAlone: g.change.TestsAlone,
	}
	t := holdout.Trial{
		Workspace: g.workspace(), Was: g.was, Is: g.is, Before: g.before.Tests, Evidence: g.change, Limit: g.settings.HoldOut.Timeout,
		Findings: detector.ToHoldOut(in, g.settings.Rules, detector.Medium),
	}
	build := g.now.set.Build
	if len(t.Findings) == 0 || build != nil && build.Status == metric.BuildFailure {
		return nil
	}
	g.OnProgress("running tests as they were over the new code")
	out, err := t.Run(ctx)
	if err != nil && ctx.Err() != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if err != nil { // the findings stand as they are then
		g.note("tests could not be run as they were: %v", err)
		return nil
	}
	g.now.heldOut = &out
	return nil
}

// Take measures the tree as the base of gates to come. dirty says that no commit
// holds it.
func Take(ctx context.Context, o Options, settings loop.Settings) (rec Record, dirty bool, err error) {
	r := repo{dir: o.Root}
	if dirty, err = r.dirty(ctx); err != nil {
		return rec, false, err
	}
	m := measure.New(settings.Plan, measure.Options{Scratch: o.Scratch, Reruns: settings.Confirm})
	first, err := m.Run(ctx, nil)
	if err != nil {
		return rec, dirty, err
	}
	if first.Set.Tests == nil {
		return rec, dirty, fmt.Errorf("%w: the tests could not be read: %s", ErrUnmeasurable, why(first.Set))
	}
	rec = Record{Version: recordVersion, At: o.Now.UTC().Truncate(time.Second), Supervise: o.Version, Set: secrets.MaskOf(o.Env).Set(first.Set).Slim()}
	if !dirty {
		rec.Commit = r.id(ctx, "HEAD")
	}
	return rec, dirty, nil
}
