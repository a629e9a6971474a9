// Package cleanroom runs what became green again in a clean copy: the tree of the base, outside the
// working tree and with an empty home folder, in which only the product code and the tests of the
// change are new. If something does not pass there and does in the working tree, the change
// made it pass in another way: by configuration, a script or data, or by files that are ignored or
// outside the tree. A [Trial] adds the rest of the change part by part, and names the smallest part
// that is needed.
package cleanroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Criterion is the command by which a task is done.
type Criterion struct {
	Command string
	// Run runs the command in a folder with additional variables, and reports whether it succeeds.
	Run func(ctx context.Context, dir string, env []string) (bool, error)
}

// Trial runs what became green in a clean copy.
type Trial struct {
	treecopy.Workspace

	Base, Current snapshot.ID
	Changes       []snapshot.Change       // from Base to Current
	Evidence      ledger.Evidence         // of these changes
	Product       []string                // patterns of files that are product code whatever they look like
	Tests         []metric.Test           // that failed at the base and pass now
	OldNames      map[metric.ID]metric.ID // of Tests that had another name at the base
	Lint          []LintGoal              // what linters find no longer
	Criterion     *Criterion              // that is met in the working tree; nil: none
	Since         time.Time               // files outside the tree that changed before are as they were; zero: it is not known
	PassedAtStart map[metric.ID]bool      // of Tests: those that passed on the base in a clean copy when the loop began
	// Repeatable says that the results at the base are those of this machine, so that the tests of the
	// base must still fail there.
	Repeatable bool
	// All says that all checks run if the change has only product code and tests. What they measure is
	// a measurement of the tree then.
	All   bool
	Known *metric.Tests // of the working tree, for All
}

// Result is the result of a trial.
type Result struct {
	*ledger.CleanRoom
	Measured *Measurement // nil if not all checks ran
}

// IsNeeded reports whether there is something to run.
func (t Trial) IsNeeded() bool { return len(t.Tests)+len(t.Lint) > 0 || t.Criterion != nil }

// Refused returns the record of a trial that does not run, with the reason.
func (t Trial) Refused(why string) *ledger.CleanRoom {
	return &ledger.CleanRoom{Reliances: []detector.Reliance{}, NotRunReason: why}
}

// HasOtherParts reports whether the change has more than product code and tests, or product code with
// weaker types that may hide what linters find no longer.
func (t Trial) HasOtherParts(ctx context.Context) (bool, error) {
	p, err := t.split(ctx)
	if err != nil || slices.ContainsFunc(added, func(k detector.RelianceKind) bool { return len(p[k]) > 0 }) {
		return true, err
	}
	texts, err := t.restoredTypes(ctx)
	return len(texts) > 0, err
}

// Run makes the copy, runs the tests and the criterion in it, and removes it. The error is that of
// ctx, or a fault of the machine.
func (t Trial) Run(ctx context.Context) (Result, error) {
	started := time.Now()
	out := t.Refused("")
	out.Tests = len(t.Tests)
	if t.Criterion != nil {
		out.Criterion = t.Criterion.Command
	}
	r := &trialRun{Trial: t, out: out}
	var err error
	if r.parts, err = t.split(ctx); err == nil {
		err = r.runAll(ctx)
	}
	out.Took = time.Since(started)
	if err != nil {
		return Result{CleanRoom: out}, fmt.Errorf("run in a clean copy: %w", err)
	}
	return Result{out, r.measured}, nil
}

// goals are what has to pass.
type goals struct {
	tests     []metric.Test
	lint      []LintGoal
	criterion bool
}

func (g goals) isEmpty() bool { return len(g.tests)+len(g.lint) == 0 && !g.criterion }

// minus returns the goals that others do not have.
func (g goals) minus(others goals) goals {
	return goals{
		tests: slices.DeleteFunc(slices.Clone(g.tests), func(t metric.Test) bool {
			return slices.ContainsFunc(others.tests, func(o metric.Test) bool { return o.ID == t.ID })
		}),
		lint:      slices.DeleteFunc(slices.Clone(g.lint), func(l LintGoal) bool { return slices.Contains(others.lint, l) }),
		criterion: g.criterion && !others.criterion,
	}
}

// trialRun is a trial while it runs.
type trialRun struct {
	Trial
	parts parts
	tree  treecopy.Tree // the copy of the base
	env   []string      // additional variables: those of the clean home
	limit time.Duration // of a run of tests; 0: that of the checks
	out   *ledger.CleanRoom

	measured *Measurement // what all checks measured
}

// runAll runs the goals, and the tests that passed again on the base.
func (r *trialRun) runAll(ctx context.Context) error {
	all := goals{r.Tests, r.Lint, r.Criterion != nil}
	var left goals
	start := r.Base
	if r.isAll() {
		start = r.Current
	}
	err := r.WithKept(ctx, start, func(tree treecopy.Tree) (err error) {
		r.tree = tree
		left, err = r.run(ctx, all)
		return err
	})
	if err != nil {
		return err
	}
	return r.repeatBase(ctx, all.minus(left))
}

// run runs the goals with the product code of the change, and finds out what else those that do
// not pass need. It returns the goals that pass in the working tree only.
func (r *trialRun) run(ctx context.Context, all goals) (left goals, err error) {
	if err := r.useCleanHome(); err != nil {
		return all, err
	}
	if err := errors.Join(r.tree.Restore(ctx, r.Current, r.parts[""]...), r.tree.Touch(r.parts[""]...)); err != nil {
		return all, err
	}
	if left, err = r.measureAll(ctx, all); err == nil {
		left, err = r.try(ctx, left)
	}
	if err == nil {
		err = r.tryTypes(ctx, all.minus(left).lint)
	}
	if err == nil && !left.isEmpty() {
		left, err = r.addParts(ctx, left)
	}
	left.lint = nil // what linters find outside of the change is not theirs to judge
	if err == nil && !left.isEmpty() {
		left, err = r.addOutside(ctx, left)
	}
	return left, err
}

// isAll reports whether all checks run, since product code and tests are the complete change.
func (r *trialRun) isAll() bool { return r.All && len(r.parts) == 1 && len(r.parts[""]) > 0 }

// measureAll runs all checks if the copy is as the current tree, and returns the goals that are left.
func (r *trialRun) measureAll(ctx context.Context, all goals) (left goals, err error) {
	if !r.isAll() {
		return all, nil
	}
	r.measured, err = measureTree(ctx, r.tree, r.env, r.Known)
	if err == nil {
		r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(r.measured.Runs)...)
		all.tests = notPassing(all.tests, func(id metric.ID) metric.Status {
			t, _ := r.measured.Set.Tests.Lookup(id)
			return t.Status
		}, r.OldNames)
	}
	return all, err
}

// useCleanHome makes the home folder of the copy. Another user has its own home folder.
func (r *trialRun) useCleanHome() (err error) {
	r.env, err = cleanHome(r.tree)
	return err
}

// try runs the goals in the copy as it is, and returns those that do not pass. What fails runs
// again, since it may be flaky.
func (r *trialRun) try(ctx context.Context, g goals) (left goals, err error) {
	left = g
	for range 2 {
		if len(left.tests) == 0 {
			break
		}
		if left.tests, err = r.failing(ctx, left.tests); err != nil {
			return left, err
		}
	}
	if len(g.lint) > 0 {
		if left.lint, err = r.stillFound(ctx, g.lint); err != nil {
			return left, err
		}
	}
	if !g.criterion {
		return left, nil
	}
	env := slices.Concat(r.tree.Env(ctx, r.Meter.Environ()), r.env)
	met, err := r.Criterion.Run(ctx, r.tree.ProjectDir(), env)
	left.criterion = !met
	return left, err
}

// failing runs tests and returns those that do not pass.
func (r *trialRun) failing(ctx context.Context, tests []metric.Test) ([]metric.Test, error) {
	all := slices.Clone(tests)
	for _, t := range tests {
		if old, renamed := r.OldNames[t.ID]; renamed {
			all = append(all, metric.Test{ID: old, File: t.File})
		}
	}
	out, err := r.Meter.RunInTree(ctx, measure.TreeRun{Plan: planFor(ctx, r.tree, r.env), Tests: all, Limit: r.limit})
	r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(out.Runs)...)
	return notPassing(tests, func(id metric.ID) metric.Status { return out.ByTest[id].Test.Status }, r.OldNames), err
}

// notPassing returns the tests that pass under neither of their names.
func notPassing(tests []metric.Test, statusOf func(metric.ID) metric.Status, oldNames map[metric.ID]metric.ID) []metric.Test {
	passed := func(id metric.ID) bool { return statusOf(id) == metric.Passed }
	return slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return passed(t.ID) || passed(oldNames[t.ID]) })
}

// put replaces files of the copy by those of a snapshot.
func (r *trialRun) put(ctx context.Context, id snapshot.ID, files ...string) error {
	if err := r.tree.Restore(ctx, id, files...); err != nil {
		return err
	}
	return r.touch()
}

// maxSingle is up to how many files of a part are tried one by one.
const maxSingle = 6

// addParts adds the rest of the change, records which part the goals need that pass then, and
// returns the others. The copy has the complete change afterwards.
func (r *trialRun) addParts(ctx context.Context, g goals) (left goals, err error) {
	var kinds []detector.RelianceKind
	var files []string
	for _, k := range added {
		if len(r.parts[k]) > 0 {
			kinds, files = append(kinds, k), append(files, r.parts[k]...)
		}
	}
	if len(kinds) == 0 {
		return g, nil
	}
	if err := r.put(ctx, r.Current, files...); err != nil {
		return g, err
	}
	left, err = r.try(ctx, g)
	solved := g.minus(left)
	if err != nil || solved.isEmpty() {
		return left, err
	}
	needed, err := r.narrow(ctx, solved, kinds, files)
	if err != nil {
		return left, err
	}
	onlySources, err := r.namesOnlySources(ctx, solved, intersect(needed, r.parts[detector.OnBuild]))
	if err != nil {
		return left, err
	}
	if err := r.recordParts(ctx, solved, needed, onlySources); err != nil {
		return left, err
	}
	return left, r.put(ctx, r.Current, files...)
}

// recordParts records what goals need of the change. onlySources says that the files of the build are
// needed only for the names of new source files.
func (r *trialRun) recordParts(ctx context.Context, g goals, needed []string, onlySources bool) error {
	var settings []string
	list := make([]detector.Reliance, 0, len(added))
	for _, k := range added {
		files := intersect(r.parts[k], needed)
		if k == detector.OnBuild && onlySources {
			k = detector.OnSources
		}
		if len(files) > 0 {
			list = append(list, detector.Reliance{On: k, Files: files})
		}
		if k != detector.OnManifest && k != detector.OnSources {
			settings = append(settings, files...)
		}
	}
	off, err := r.isSwitchedOff(ctx, g, settings)
	for _, x := range list {
		x.SwitchesOff = off && slices.Contains(settings, x.Files[0])
		r.record(x, g)
	}
	return err
}

// narrow returns the smallest part of the files that suffices for the goals, as far as it is one
// kind, or one file of that kind.
func (r *trialRun) narrow(ctx context.Context, g goals, kinds []detector.RelianceKind, files []string) ([]string, error) {
	candidates := make([][]string, 0, len(kinds))
	for _, k := range kinds {
		candidates = append(candidates, r.parts[k])
	}
	needed := files
	for _, single := range []bool{false, true} {
		if single {
			candidates = nil
			for _, f := range needed {
				candidates = append(candidates, []string{f})
			}
		}
		if len(candidates) < 2 || single && len(candidates) > maxSingle {
			continue
		}
		for _, list := range candidates {
			enough, err := r.isEnough(ctx, g, files, list)
			if err != nil {
				return nil, err
			}
			if enough {
				needed = list
				break
			}
		}
	}
	return needed, nil
}

// namesOnlySources reports whether the goals pass if files of the build are as at the base, but with
// the added lines that name new files of product code.
func (r *trialRun) namesOnlySources(ctx context.Context, g goals, files []string) (bool, error) {
	names := r.newSources()
	if len(files) == 0 || len(names) == 0 {
		return false, nil
	}
	var texts treecopy.Files
	for _, f := range files {
		before, err := r.Store.ReadFile(ctx, r.Base, f)
		after, fault := r.Store.ReadFile(ctx, r.Current, f)
		text, ok := withoutOtherLines(before, after, names)
		if err != nil || fault != nil || !ok {
			return false, ctx.Err()
		}
		texts = append(texts, treecopy.File{Path: f, Text: text})
	}
	if err := errors.Join(texts.Write(r.tree.Path), r.touch()); err != nil {
		return false, err
	}
	left, err := r.try(ctx, g)
	return left.isEmpty(), err
}

// newSources returns the names of new files of product code, without extensions.
func (r *trialRun) newSources() []string {
	var out []string
	for _, c := range r.Changes {
		if c.Kind == snapshot.Added && slices.Contains(r.parts[""], c.Path) {
			base := path.Base(c.Path)
			out = append(out, strings.TrimSuffix(base, path.Ext(base)))
		}
	}
	return out
}

// withoutOtherLines returns a new text without the added lines that contain none of the names. It is
// false if lines of the old text are gone.
func withoutOtherLines(before, after []byte, names []string) ([]byte, bool) {
	old := map[string]int{}
	for line := range bytes.Lines(before) {
		old[strings.TrimSpace(string(line))]++
	}
	var out []byte
	for line := range bytes.Lines(after) {
		key := strings.TrimSpace(string(line))
		if old[key] > 0 {
			old[key]--
		} else if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(key, n) }) {
			continue
		}
		out = append(out, line...)
	}
	for _, n := range old {
		if n > 0 {
			return nil, false
		}
	}
	return out, true
}

// isEnough reports whether the goals pass with some of the files of the change.
func (r *trialRun) isEnough(ctx context.Context, g goals, files, some []string) (bool, error) {
	if err := r.tree.Restore(ctx, r.Base, files...); err != nil {
		return false, err
	}
	if err := r.put(ctx, r.Current, some...); err != nil {
		return false, err
	}
	left, err := r.try(ctx, g)
	return left.isEmpty(), err
}

// repeatBase runs the tests that passed again on the code of the base. Those that pass there now, three
// times, and failed there before, pass because something outside the tree changed.
func (r *trialRun) repeatBase(ctx context.Context, g goals) error {
	tests := slices.DeleteFunc(slices.Clone(g.tests), func(t metric.Test) bool { return r.PassedAtStart[t.ID] })
	if len(tests) == 0 || !r.Repeatable {
		return nil
	}
	return r.WithKept(ctx, r.Base, func(tree treecopy.Tree) error {
		base := &trialRun{Trial: r.Trial, tree: tree, out: r.out}
		if err := base.useCleanHome(); err != nil {
			return err
		}
		for range 3 {
			failed, err := base.failing(ctx, tests)
			if err != nil {
				return err
			}
			if tests = (goals{tests: tests}).minus(goals{tests: failed}).tests; len(tests) == 0 {
				return nil
			}
		}
		r.record(detector.Reliance{On: detector.OnEnvironment, Recent: true}, goals{tests: tests})
		return nil
	})
}

// record records what goals rely on.
func (r *trialRun) record(x detector.Reliance, g goals) {
	for _, t := range g.tests {
		x.Tests = append(x.Tests, t.ID)
	}
	for _, l := range g.lint {
		x.Findings += l.Before - l.Now
	}
	if g.criterion {
		x.Criterion = r.Criterion.Command
	}
	r.out.Reliances = append(r.out.Reliances, x)
}

// intersect returns the elements of a list that another one has.
func intersect(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
}
