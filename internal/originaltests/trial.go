// Package originaltests runs tests in private copies of a tree: original tests on changed code,
// and hidden tests, which the agent does not see (hidden.go).
//
// A [Trial] shows whether the change weakened tests. It selects the tests that failed before and
// those that the change touches (choose.go), copies the new tree, and restores their original
// files in the copy. Then it runs them in several steps, since original tests may not fit the new
// code: all at once, with the current manifests, file by file, and within files of code
// (inline.go). What fails is run again, on the old code and with the ignored files of the
// working tree, to exclude faults of the copy (verdict.go).
package originaltests

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// Options say whether and how long original tests run.
type Options struct {
	Never   bool          `json:"never,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // of one complete trial; 0: the limits of the checks
}

// Trial runs the tests of one tree, the base, on the product code of another, the current one. It
// runs tests that failed before and tests that the change touches, in their original form and
// with all files on which they depended.
type Trial struct {
	treecopy.Workspace

	Base, Current snapshot.ID // the trees of the tests and of the code
	Changes       []snapshot.Change
	BaseTests     *metric.Tests      // results measured in Base
	CurrentTests  *metric.Tests      // results measured in Current
	Evidence      ledger.Evidence    // of the change from Base to Current
	Flaky         map[metric.ID]bool // tests whose results prove nothing
	Limit         time.Duration      // for the complete trial; 0: the limits of the checks
}

// RefusedRecord returns the record of a trial that does not run, with the reason.
func (t Trial) RefusedRecord(why string) *ledger.Goals {
	return &ledger.Goals{TestsSnapshot: t.Base, CodeSnapshot: t.Current, Results: []detector.Goal{}, ProductSame: t.Evidence.OnlyTestsChanged, NotRunReason: why}
}

// IsNeeded reports whether there is a test to run.
func (t Trial) IsNeeded() bool { return !t.selectTests().isEmpty() }

// Key identifies what the trial runs: the tests, and the tree in which they run. Trials with the
// same key have the same result.
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

// Run makes the copy, runs the tests and removes the copy. The record has a result for each
// selected test. The error is that of ctx, or a fault of the machine.
func (t Trial) Run(ctx context.Context) (ledger.Goals, error) {
	started := time.Now()
	r := &trialRun{Trial: t, out: *t.RefusedRecord(""), verdicts: map[metric.ID]verdict{}, unfit: map[metric.ID]bool{}, choice: t.selectTests()}
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

// trialRun is the state of a running trial.
type trialRun struct {
	Trial
	choice       selection
	out          ledger.Goals
	tree         treecopy.Tree         // the private copy
	verdicts     map[metric.ID]verdict // the latest result of each test that ran
	unfit        map[metric.ID]bool    // tests that do not pass in the copy whatever the code is
	unnamedTests []metric.Test         // tests of suites that could not run before, so that they have no earlier result
	until        time.Time             // the end of the trial's time; zero: no limit
	inlineTexts  map[string][]byte     // by path: the new code with the original modules of tests
	laid         map[string][]byte     // by path: the original files of code in the copy

	shownTexts int // how many tests have recorded texts
}

// runSteps runs the tests in a copy of the new tree, step by step. A later step replaces verdicts
// of earlier ones.
func (r *trialRun) runSteps(ctx context.Context) error {
	if r.Limit > 0 {
		r.until = time.Now().Add(r.Limit)
	}
	return r.ForOriginalTests().WithCopy(ctx, r.Current, func(t treecopy.Tree) error {
		r.tree = t
		for _, step := range []func(context.Context) error{r.runRestored, r.runWithCurrentManifests, r.runFileByFile, r.runInline, r.runOnOldCode, r.runCurrentVersions, r.runWithIgnored} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// runRestored restores all original files of tests, and runs the tests in test files.
func (r *trialRun) runRestored(ctx context.Context) error {
	apart := slices.DeleteFunc(slices.Clone(r.choice.tests), r.isInlineTest)
	if len(apart) == 0 && !r.choice.fullSuite {
		return nil
	}
	r.out.RestoredFiles = restoredFiles(r.Evidence)
	if err := r.restoreOriginals(ctx, r.out.RestoredFiles...); err != nil {
		return err
	}
	return r.run(ctx, apart, r.choice.fullSuite)
}

// runWithCurrentManifests runs the tests that do not build again, with the current versions of
// files that configure both tests and other things, such as package.json. The new code may need
// what is new in them.
func (r *trialRun) runWithCurrentManifests(ctx context.Context) error {
	tests := r.unbuiltTests()
	if len(tests) == 0 || len(r.Evidence.MixedRunnerFiles) == 0 {
		return nil
	}
	if err := r.tree.Restore(ctx, r.Current, r.Evidence.MixedRunnerFiles...); err != nil {
		return err
	}
	for _, f := range r.Evidence.MixedRunnerFiles {
		delete(r.laid, f)
	}
	r.out.RestoredFiles = slices.DeleteFunc(r.out.RestoredFiles, func(f string) bool { return slices.Contains(r.Evidence.MixedRunnerFiles, f) })
	return r.run(ctx, tests, false)
}

// maxFiles bounds the files of tests that are tried one by one.
const maxFiles = 5

// runFileByFile runs the tests that do not build again, one original file at a time among current
// test files, so that one file that does not fit the code does not block the others.
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
		if err := r.restoreOriginals(ctx, file, r.Evidence.NewPath(file)); err != nil {
			return err
		}
		if err := r.run(ctx, byFile[file], false); err != nil {
			return err
		}
	}
	return nil
}

// runInline runs the tests in files of code, with their original modules in the new code. It comes
// after the other tests, so that it does not block them if that code does not build.
func (r *trialRun) runInline(ctx context.Context) error {
	inline := slices.DeleteFunc(slices.Clone(r.choice.tests), func(t metric.Test) bool { return !r.isInlineTest(t) })
	if len(inline) == 0 {
		return nil
	}
	if err := r.writeInlineTests(); err != nil {
		return err
	}
	r.laid = r.inlineTexts
	return r.run(ctx, inline, false)
}

// isInlineTest reports whether a test is in a file of code.
func (r *trialRun) isInlineTest(t metric.Test) bool {
	home, ok := r.choice.definitions[t.ID]
	return ok && r.isInline(home)
}

// unbuiltTests returns the selected tests that did not build in the steps so far.
func (r *trialRun) unbuiltTests() []metric.Test {
	return slices.DeleteFunc(slices.Clone(r.choice.tests), func(t metric.Test) bool { return r.verdicts[t.ID].outcome != detector.Unbuilt })
}

// run runs tests in the copy and records their verdicts. full means that the complete suite runs.
func (r *trialRun) run(ctx context.Context, tests []metric.Test, full bool) error {
	out, err := r.runInTree(ctx, tests, full)
	rewritten := r.rewrittenOriginal()
	r.out.Rewritten = cmp.Or(r.out.Rewritten, rewritten)
	for id, e := range out.ByTest {
		r.verdicts[id] = r.verdict(e)
		if rewritten != "" && r.verdicts[id].outcome == detector.Passed {
			r.verdicts[id] = verdict{detector.NotRun, "it passed, and the checks changed " + rewritten + " while it ran"}
		}
	}
	if full {
		r.addUnnamed(out)
	}
	if err != nil || rewritten != "" {
		return err
	}
	return r.rerunFailed(ctx, tests)
}

// rerunFailed runs the failed tests again. One that passes then is flaky, and proves nothing.
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

// restoreOriginals restores files of the base in the copy, and remembers those of code.
func (r *trialRun) restoreOriginals(ctx context.Context, files ...string) error {
	r.laid = map[string][]byte{}
	for _, f := range files {
		if text, err := r.Store.ReadFile(ctx, r.Base, f); err == nil && source.DetectLanguage(f, nil) != source.Unknown {
			r.laid[f] = text
		}
	}
	return r.tree.Restore(ctx, r.Base, files...)
}

// rewrittenOriginal returns an original file of code in the copy whose meaning the checks changed,
// "" if there is none.
func (r *trialRun) rewrittenOriginal() string {
	tree, err := projectfile.Open(r.tree.Path)
	if err != nil {
		return ""
	}
	defer tree.Close()
	for _, name := range sortedKeys(r.laid) {
		text, err := tree.Read(name, projectfile.Source)
		if err != nil || !bytes.Equal(r.laid[name], text) && !evidence.IsReformatted(name, r.laid[name], text) {
			return name
		}
	}
	return ""
}

// addUnnamed records the results of tests whose suites could not run before, and the suites that
// still cannot run in the copy although they can in the current tree.
func (r *trialRun) addUnnamed(out measure.TreeResults) {
	for _, t := range out.Others {
		_, known := r.BaseTests.Lookup(t.ID)
		if !known && r.BaseTests.IsBroken(t.ID) && !r.failsNow(t.ID) && t.Status != metric.Skipped {
			r.unnamedTests = append(r.unnamedTests, t)
			r.verdicts[t.ID] = r.verdict(measure.TestResult{Test: t})
		}
	}
	for _, s := range out.Broken {
		id := metric.ID{Suite: s.Name}
		if _, noted := r.verdicts[id]; !noted && r.hasTests(s.Name) && r.BaseTests.IsBroken(id) && !r.CurrentTests.IsBroken(id) {
			r.unnamedTests = append(r.unnamedTests, metric.Test{ID: id, Status: metric.NotRun})
			r.verdicts[id] = verdict{detector.Failed, r.firstLine(s.Why)}
		}
	}
}

// hasTests reports whether a suite has tests. One about the whole run, or about what happened
// outside of all tests, has none.
func (r *trialRun) hasTests(suite string) bool {
	return slices.ContainsFunc(r.CurrentTests.Cases, func(c metric.Test) bool { return c.Suite == suite }) ||
		slices.ContainsFunc(r.Evidence.Before, func(t detector.TestSource) bool { return t.File == suite })
}

// runInTree runs original tests in the copy.
func (r *trialRun) runInTree(ctx context.Context, tests []metric.Test, full bool) (measure.TreeResults, error) {
	return r.runWith(ctx, r.tree.Meter, tests, full)
}

// runWith runs tests in the copy by a meter, within the time of the trial.
func (r *trialRun) runWith(ctx context.Context, m *measure.Meter, tests []metric.Test, full bool) (measure.TreeResults, error) {
	limit := time.Duration(0)
	if r.Limit > 0 {
		limit = max(time.Until(r.until), time.Nanosecond)
	}
	out, err := m.RunInTree(ctx, measure.TreeRun{Plan: r.tree.CheckPlan(ctx, m), Tests: tests, Full: full, Limit: limit})
	r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(out.Runs)...)
	return out, err
}
