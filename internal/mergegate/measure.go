package mergegate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/internal/detectedplan"
	"supervise/internal/git"
	"supervise/internal/judge"
	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/internal/secrets"
	"supervise/internal/textstream"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// capture takes snapshots of the working tree and of the base. Afterwards the files in the
// checkout are those of the base.
func (g *mergeGate) capture(ctx context.Context) (err error) {
	g.OnProgress("reading what changed")
	if err := g.commitHead(ctx); err != nil {
		return err
	}
	if g.store, err = g.tree.OpenSnapshots(ctx); err != nil {
		return err
	}
	if g.headSnapshot, err = g.tree.Snapshot(ctx, g.store, g.head); err != nil {
		return err
	}

	g.files = map[string]bool{}
	files, err := g.store.Files(g.headSnapshot)
	if err != nil {
		return err
	}

	for _, f := range files {
		g.files[f.Path] = true
	}
	if g.baseTree == "" {
		return nil
	}

	base, err := g.tree.Git(ctx, "-c", "user.name=supervise", "-c", "user.email=supervise@localhost", "commit-tree", "-m", "base", g.baseTree)
	if err != nil {
		return err
	}

	g.baseSnapshot, err = g.tree.Snapshot(ctx, g.store, strings.TrimSpace(base))
	return err
}

// commitHead creates a commit of the working tree in the repository of the checkout, so that the
// user's index does not change. It includes uncommitted and untracked files, but no ignored ones.
func (g *mergeGate) commitHead(ctx context.Context) error {
	head, err := g.repo.treeID(ctx, "HEAD^{tree}")
	if err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if err := g.checkFileSizes(ctx); err != nil {
		return err
	}

	exclude, err := g.repo.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return err
	}

	g.excludes = strings.TrimSuffix(exclude, "\n")
	if _, err = g.tree.Git(ctx, "read-tree", head); err != nil {
		return err
	}
	if g.headTree, err = g.writeTree(ctx, nil); err != nil {
		return err
	}
	g.commitID, g.dirty = g.repo.commitID(ctx, "HEAD"), g.headTree != head
	if g.headTree == g.baseTree {
		g.addNote("the files are those of the base: there is no change to judge")
	}
	commit, err := g.tree.Git(ctx, "-c", "user.name=supervise", "-c", "user.email=supervise@localhost", "commit-tree", "-m", "head", g.headTree)
	g.head = strings.TrimSpace(commit)
	return errors.Join(err, os.Rename(g.indexPath(), g.headIndexPath()))
}

// indexPath is the index of the checkout. headIndexPath is where that of the working tree is kept,
// so that git reads only what has changed since.
func (g *mergeGate) indexPath() string     { return filepath.Join(g.tree.Dir, ".git", "index") }
func (g *mergeGate) headIndexPath() string { return filepath.Join(g.tree.Base, "head.index") }

// writeTree adds the working tree to the index of the checkout, and returns the ID of the tree. It
// includes the named files even if git ignores them. Each git command gets the output of the one
// before as its input.
func (g *mergeGate) writeTree(ctx context.Context, ignored []string) (string, error) {
	there := []string{"--git-dir=" + filepath.Join(g.tree.Dir, ".git"), "--work-tree=" + g.Root, "-c", "core.excludesFile=" + g.excludes}
	var out []byte
	for _, args := range [][]string{
		{"ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard"},
		{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}, // git add would run git in each submodule
		{"write-tree"},
	} {
		var err error
		if out, err = (git.Command{Dir: g.tree.Dir, Args: slices.Concat(there, args), Stdin: bytes.NewReader(out)}).Output(ctx); err != nil {
			return "", err
		}
		if args[0] == "ls-files" && len(ignored) > 0 {
			out = append(out, strings.Join(ignored, "\x00")+"\x00"...)
		}
	}
	return strings.TrimSpace(string(out)), nil
}

// checkFileSizes returns an error if the working tree has a file that is so large that git
// would take minutes to add it.
func (g *mergeGate) checkFileSizes(ctx context.Context) error {
	if err := git.CheckFiles(g.Root, "add"); err != nil {
		return err
	}
	list, err := g.repo.git(ctx, nil, "ls-files", "-z", "--others", "--modified", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(list, "\x00") {
		path := filepath.Join(g.Root, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > int64(projectfile.Report) {
			return projectfile.TooLarge(path, projectfile.Report)
		}
	}
	return nil
}

// configure reads the configuration of the base, so that a change cannot weaken its own review.
// If the files of the base are missing, it reads that of the change and adds a note.
func (g *mergeGate) configure(context.Context) (err error) {
	from := g.projectIn(g.tree.Dir)
	if g.baseTree == "" {
		from = g.Project
		g.addNote("the configuration is that of the change itself, since the base's files are not here")
	} else if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("%w: the base has no folder %s", ErrBase, g.projectPath)
	}
	if g.settings, g.until, err = g.Configure(from, g.Project); err == nil && g.baseTree != "" {
		g.basePlan, g.runnersChanged = detectedplan.PlanFor(from, g.settings.Plan, exec.LookPath)
	}
	return err
}

// prepareBase prepares the checkout of the base for its checks. It runs before the plan is made,
// because the plan depends on the installed tools.
func (g *mergeGate) prepareBase(ctx context.Context) error {
	files, err := g.store.Files(g.baseSnapshot)
	if err != nil {
		return err
	}
	switch why, err := (treecopy.Project{Root: g.Root, Plan: g.settings.Plan, Setup: g.Setup}).Prepare(ctx, g.tree.Dir, files, g.tree.Lock); {
	case err != nil:
		return err
	case why != "":
		return fmt.Errorf("%w: the base: %s", ErrUnmeasurable, why)
	}
	return nil
}

// setBaseMeter creates the meter for the base from a plan.
func (g *mergeGate) setBaseMeter(ctx context.Context, plan measure.Plan) {
	g.baseMeter = measure.New(treecopy.PlanForCopy(ctx, plan, g.Project, nil), measure.Options{Scratch: filepath.Join(g.Scratch, "reports"), Hold: []*os.File{g.tree.Lock}, Baseline: true})
}

// originalRunners returns how the tests of the base run, nil if the change runs them in the same
// way.
func (g *mergeGate) originalRunners() *treecopy.Original {
	if !g.runnersChanged {
		return nil
	}
	return &treecopy.Original{Meter: g.baseMeter, Root: g.tree.Dir}
}

// measureBase sets g.baseSet: from the record, or by measuring the base in the checkout.
func (g *mergeGate) measureBase(ctx context.Context) error {
	if g.record != nil {
		if g.baseSet, g.baseChanges = g.record.Set, g.record.CheckChanges; !g.runnersChanged {
			return nil
		}
		g.setBaseMeter(ctx, g.basePlan)
		return g.prepareBase(ctx)
	}

	g.OnProgress("measuring the base, " + shortID(g.base.Commit))
	if err := g.prepareBase(ctx); err != nil {
		return err
	}

	dir := g.projectIn(g.tree.Dir)
	settings, _, err := g.Configure(dir, dir)
	if err != nil {
		return err
	}

	g.setBaseMeter(ctx, settings.Plan)
	res, err := g.baseMeter.Run(ctx, nil)
	if err != nil {
		return err
	}
	if why := unmeasuredReason(res.Set); why != "" {
		return fmt.Errorf("%w: the tests of the base, %s, could not be read: %s; --setup prepares its checkout, for instance 'npm ci'", ErrUnmeasurable, shortID(g.base.Commit), why)
	}

	g.baseSet = g.mask().Set(res.Set)
	g.baseChanges, err = repo{dir: g.tree.Dir}.checkChanges(ctx)
	return err
}

// measureHead measures the working tree in place, without a copy.
func (g *mergeGate) measureHead(ctx context.Context) error {
	g.OnProgress("measuring the tree")
	m := measure.New(g.settings.Plan, measure.Options{Scratch: filepath.Join(g.Scratch, "reports"), Reruns: g.settings.Confirm, Memory: measure.Memory{Excluded: g.baseSet.BrokenAtBaseline}})
	res, err := m.Run(ctx, g.baseSet.Tests)
	if err != nil {
		return err
	}
	g.meter, g.measured = m, judge.Measured{Set: res.Set, Checks: treecopy.CheckRuns(res.Runs)}
	if why := unmeasuredReason(res.Set); why != "" {
		return fmt.Errorf("%w: the tests could not be read: %s", ErrUnmeasurable, why)
	}
	if gap, ok := res.Set.Gap(metric.SectionTests); ok {
		g.addNote("%s: %s", res.Set.DescribeGap(gap), gap.Why)
	}
	g.measured.CheckChanges, err = g.findHeadChanges(ctx)
	return err
}

// unmeasuredReason says in one line why a set has no tests, "" if it has some. Suites that could not
// run are none: the tests in them may be deleted.
func unmeasuredReason(s metric.Set) string {
	switch t := s.Tests; {
	case t != nil && (len(t.Cases) > 0 || len(t.Broken) == 0):
		return ""
	case t != nil:
		return fmt.Sprintf("%s did not run: %s", t.Broken[0].Name, textstream.FirstLine(t.Broken[0].Why))
	}
	if gap, ok := s.Gap(metric.SectionTests); ok {
		line, _, _ := strings.Cut(strings.TrimSpace(gap.Why), "\n")
		return line
	}
	return "there is no check that runs tests"
}

// MeasureRecord measures the tree as the base of later gates. dirty is true if the tree has
// uncommitted changes; the record then names no commit.
func MeasureRecord(ctx context.Context, o Options, settings judge.Settings) (rec Record, dirty bool, err error) {
	r := repo{dir: o.Root}
	if dirty, err = r.isDirty(ctx); err != nil {
		return rec, false, err
	}
	m := measure.New(settings.Plan, measure.Options{Scratch: o.Scratch, Reruns: settings.Confirm, Baseline: true})
	first, err := m.Run(ctx, nil)
	if err != nil {
		return rec, dirty, err
	}
	if why := unmeasuredReason(first.Set); why != "" {
		return rec, dirty, fmt.Errorf("%w: the tests could not be read: %s", ErrUnmeasurable, why)
	}
	rec = Record{Version: recordVersion, MeasuredAt: o.Now.UTC().Truncate(time.Second), Supervise: o.Version, Set: secrets.NewMask(o.Env).Set(first.Set)}
	if !dirty {
		rec.Commit = r.commitID(ctx, "HEAD")
		rec.CheckChanges, err = r.checkChanges(ctx)
	}
	return rec, dirty, err
}
