// Package originaltests runs tests in private copies of a tree: tests of one tree over the
// code of another, and tests that the agent does not see.
package originaltests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Options say when tests are run as they were.
type Options struct {
	Never   bool          `json:"never,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // of one trial as a whole; 0: the limits of the checks
}

// Trial runs the tests of one tree, the base, over the product code of another: those
// that failed before, and those that the change touches, in their original form and with
// all that they depended on.
type Trial struct {
	treecopy.Workspace

	Base, Current snapshot.ID // the trees of the tests and of the code
	Changes       []snapshot.Change
	BaseTests     *metric.Tests      // as they were measured in Was
	CurrentTests  *metric.Tests      // as they were measured in Is
	Evidence      ledger.Evidence    // of the change from Was to Is
	Flaky         map[metric.ID]bool // whose results prove nothing
	Limit         time.Duration      // for the whole trial; 0: the limits of the checks
}

// RefusedRecord is the record of a trial that is not run.
func (t Trial) RefusedRecord(why string) *ledger.Goals {
	return &ledger.Goals{TestsSnapshot: t.Base, CodeSnapshot: t.Current, Results: []detector.Goal{}, ProductSame: t.Evidence.OnlyTestsChanged, NotRunReason: why}
}

// IsNeeded reports whether there is a test to run.
func (t Trial) IsNeeded() bool { return !t.selectTests().isEmpty() }

// Key names what the trial runs: the tests, and the tree that they run in. The same
// again ends the same.
func (t Trial) Key() (string, error) {
	files, err := t.Store.Files(t.Current)
	if err != nil {
		return "", err
	}

	old, err := t.Store.Files(t.Base)
	if err != nil {
		return "", err
	}

	back := map[string]bool{}
	for _, f := range restoredFiles(t.Evidence) {
		back[f] = true
	}

	h := sha256.New()
	for i, list := range [][]snapshot.File{files, old} {
		for _, f := range list {
			if back[f.Path] == (i == 1) {
				fmt.Fprintf(h, "%s\x00%s\x00%o\x00", f.Path, f.Hash, f.Mode)
			}
		}
	}

	c := t.selectTests()
	fmt.Fprintf(h, "%s\x00%t\x00%v", t.Base, c.fullSuite, t.Evidence.InlineTestFiles)
	for _, x := range c.tests {
		fmt.Fprintf(h, "\x00%s", x.ID)
	}

	return hex.EncodeToString(h.Sum(nil)), nil
}

// Run makes the copy, runs the tests and removes the copy. The error is that of ctx, or
// a fault of the machine.
func (t Trial) Run(ctx context.Context) (ledger.Goals, error) {
	started := time.Now()
	r := &trialRun{Trial: t, out: *t.RefusedRecord(""), verdicts: map[metric.ID]verdict{}, choice: t.selectTests()}
	var err error
	if !r.choice.isEmpty() {
		r.out.FullSuite = r.choice.fullSuite
		r.readInline(ctx)
		err = r.runSteps(ctx)
	}
	r.recordResults(ctx)
	r.addDependencies(ctx)
	r.out.Took = time.Since(started)
	if err != nil {
		err = fmt.Errorf("run tests as they were: %w", err)
	}
	return r.out, err
}

// verdict is the result of one test of the trial.
type verdict struct {
	outcome detector.Outcome
	why     string
}

// trialRun is a trial under way.
type trialRun struct {
	Trial
	choice       selection
	out          ledger.Goals
	tree         treecopy.Tree
	verdicts     map[metric.ID]verdict
	unnamedTests []metric.Test // tests that have no result of before
	until        time.Time
	inlineTexts  map[string][]byte // by path: the new code with the old modules of tests

	shownTexts int
}

// runSteps runs the tests in a copy of the new tree.
func (r *trialRun) runSteps(ctx context.Context) error {
	if r.Limit > 0 {
		r.until = time.Now().Add(r.Limit)
	}
	return r.ForOriginalTests().WithCopy(ctx, r.Current, func(t treecopy.Tree) error {
		r.tree = t
		for _, step := range []func(context.Context) error{r.runRestored, r.runWithCurrentManifests, r.runFileByFile, r.runInline, r.runOnOldCode, r.runCurrentVersions} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// runRestored puts everything back, and runs the tests in files of their own.
func (r *trialRun) runRestored(ctx context.Context) error {
	apart := slices.DeleteFunc(slices.Clone(r.choice.tests), r.isInlineTest)
	if len(apart) == 0 && !r.choice.fullSuite {
		return nil
	}
	r.out.RestoredFiles = restoredFiles(r.Evidence)
	if err := r.tree.Restore(ctx, r.Base, r.out.RestoredFiles...); err != nil {
		return err
	}
	return r.run(ctx, apart, r.choice.fullSuite)
}

// runWithCurrentManifests runs the tests that do not build again, with the files as they are
// that configure other things than the tests as well: the code may need what is new in
// them.
func (r *trialRun) runWithCurrentManifests(ctx context.Context) error {
	tests := r.unbuiltTests()
	if len(tests) == 0 || len(r.Evidence.MixedRunnerFiles) == 0 {
		return nil
	}
	if err := r.tree.Restore(ctx, r.Current, r.Evidence.MixedRunnerFiles...); err != nil {
		return err
	}
	r.out.RestoredFiles = slices.DeleteFunc(r.out.RestoredFiles, func(f string) bool { return slices.Contains(r.Evidence.MixedRunnerFiles, f) })
	return r.run(ctx, tests, false)
}

// maxFiles bounds the files of tests that are tried one by one.
const maxFiles = 5

// runFileByFile runs the tests that do not build, with the other test files as they are:
// one that does not fit the code keeps no other from running.
func (r *trialRun) runFileByFile(ctx context.Context) error {
	byFile := map[string][]metric.Test{}
	for _, t := range r.unbuiltTests() {
		if home, ok := r.choice.definitions[t.ID]; ok {
			byFile[home.File] = append(byFile[home.File], t)
		}
	}
	testFiles := slices.DeleteFunc(slices.Clone(r.Evidence.TestFiles), func(f string) bool { return !r.filesWithTests()[f] })
	if len(byFile) == 0 || len(byFile) > maxFiles || len(testFiles) < 2 {
		return nil
	}
	for _, file := range sortedKeys(byFile) {
		if err := r.tree.Restore(ctx, r.Current, testFiles...); err != nil {
			return err
		}
		if err := r.tree.Restore(ctx, r.Base, file, r.newPath(file)); err != nil {
			return err
		}
		if err := r.run(ctx, byFile[file], false); err != nil {
			return err
		}
	}
	return nil
}

// runInline runs the tests in files of code, with their modules put into the new code. They
// come last: where that does not build, it keeps no other test from running.
func (r *trialRun) runInline(ctx context.Context) error {
	inline := slices.DeleteFunc(slices.Clone(r.choice.tests), func(t metric.Test) bool { return !r.isInlineTest(t) })
	if len(inline) == 0 {
		return nil
	}
	if err := r.writeInlineTests(); err != nil {
		return err
	}
	return r.run(ctx, inline, false)
}

// isInlineTest reports whether a test is in a file of code.
func (r *trialRun) isInlineTest(t metric.Test) bool {
	home, ok := r.choice.definitions[t.ID]
	return ok && r.isInline(home)
}

func (r *trialRun) unbuiltTests() []metric.Test {
	return slices.DeleteFunc(slices.Clone(r.choice.tests), func(t metric.Test) bool { return r.verdicts[t.ID].outcome != detector.Unbuilt })
}

// run runs tests in the tree and notes how they end.
func (r *trialRun) run(ctx context.Context, tests []metric.Test, full bool) error {
	out, err := r.runInTree(ctx, tests, full)
	for id, e := range out.ByTest {
		r.verdicts[id] = r.verdict(e)
	}
	if full {
		r.addUnnamed(out)
	}
	if err != nil {
		return err
	}
	return r.rerunFailed(ctx, tests)
}

// rerunFailed runs the tests that broke again: one that passes then is flaky, and proves
// nothing.
func (r *trialRun) rerunFailed(ctx context.Context, tests []metric.Test) error {
	broke := slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return r.verdicts[t.ID].outcome != detector.Failed })
	if len(broke) == 0 {
		return nil
	}
	again, err := r.runInTree(ctx, broke, false)
	for id, e := range again.ByTest {
		if e.Test.Status == metric.Passed {
			r.verdicts[id] = verdict{detector.NotRun, "as it was it failed, and passed when run again: it is flaky"}
		}
	}
	return err
}

// addUnnamed notes how the tests end that belong to suites which could not run before, and
// the suites that still cannot.
func (r *trialRun) addUnnamed(out measure.TreeResults) {
	for _, t := range out.Others {
		_, known := r.BaseTests.Lookup(t.ID)
		if !known && isSuiteBroken(r.BaseTests, t.Suite) && !r.failsNow(t.ID) && t.Status != metric.Skipped {
			r.unnamedTests = append(r.unnamedTests, t)
			r.verdicts[t.ID] = r.verdict(measure.TestResult{Test: t})
		}
	}
	for _, s := range out.Broken {
		id := metric.ID{Suite: s.Name}
		if _, noted := r.verdicts[id]; !noted && isSuiteBroken(r.BaseTests, s.Name) && !isSuiteBroken(r.CurrentTests, s.Name) {
			r.unnamedTests = append(r.unnamedTests, metric.Test{ID: id, Status: metric.NotRun})
			r.verdicts[id] = verdict{detector.Failed, r.firstLine(s.Why)}
		}
	}
}

// runInTree runs tests as they were in the tree.
func (r *trialRun) runInTree(ctx context.Context, tests []metric.Test, full bool) (measure.TreeResults, error) {
	return r.runWith(ctx, r.tree.Meter, tests, full)
}

// runWith runs tests in the tree.
func (r *trialRun) runWith(ctx context.Context, m *measure.Meter, tests []metric.Test, full bool) (measure.TreeResults, error) {
	limit := time.Duration(0)
	if r.Limit > 0 {
		limit = max(time.Until(r.until), time.Nanosecond)
	}
	out, err := m.RunInTree(ctx, measure.TreeRun{Plan: r.tree.CheckPlan(ctx, m), Tests: tests, Full: full, Limit: limit})
	r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(out.Runs)...)
	return out, err
}
