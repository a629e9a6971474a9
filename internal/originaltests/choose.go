package originaltests

import (
	"path"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// selection are the tests that a trial runs.
type selection struct {
	tests       []metric.Test
	fullSuite   bool                              // the complete suite runs, since any test may have another result or tests have no names yet
	definitions map[metric.ID]detector.TestSource // the original definitions that are known
	excluded    []detector.Goal                   // tests whose result would prove nothing
}

// isEmpty reports whether there is nothing to run.
func (c selection) isEmpty() bool { return len(c.tests) == 0 && !c.fullSuite }

// selectTests finds the tests that failed before and do not fail now, and those that the
// change touches: by their own file, by expected output, or by what all of them depend on.
func (t Trial) selectTests() selection {
	c := selection{definitions: detector.DefinitionsOf(t.BaseTests, t.Evidence.Before), fullSuite: t.hasRecoveredSuite() || t.HasOtherRunner()}
	touched := t.testsOfChangedData(&c)
	if t.BaseTests == nil {
		return c
	}
	for _, old := range t.BaseTests.Cases {
		home, defined := c.definitions[old.ID]
		defined = defined && t.isChangedTest(home)
		failed := old.Failed()
		if !c.fullSuite && !failed && !defined && !touched[old.ID] || t.failsNow(old.ID) {
			continue
		}
		switch why := t.exclusionReason(old, home, defined); {
		case why == "":
			c.tests = append(c.tests, old)
		case defined || failed:
			c.excluded = append(c.excluded, detector.Goal{ID: old.ID, File: home.File, Outcome: detector.NotRun, FailedBefore: failed, Why: why})
		}
	}
	return c
}

// testsOfChangedData returns the tests that depend on changed files without tests, such as
// expected outputs. If it is unknown which tests depend on a file, it sets c.fullSuite.
func (t Trial) testsOfChangedData(c *selection) map[metric.ID]bool {
	c.fullSuite = c.fullSuite || len(t.Evidence.RunnerFiles) > 0
	touched, withTests := map[metric.ID]bool{}, t.filesWithTests()
	for _, change := range t.Changes {
		file := change.Path
		if withTests[file] || !slices.Contains(t.Evidence.TestFiles, file) {
			continue
		}
		tests := detector.TestsExpecting(file, t.BaseTests)
		for _, x := range tests {
			touched[x.ID] = true
		}
		// Only tests that name a new data file read it.
		data := source.DetectLanguage(file, nil) == source.Unknown && !strings.HasPrefix(path.Base(file), ".")
		if len(tests) == 0 && (change.Kind != snapshot.Added || !data) {
			c.fullSuite = true
		}
	}
	return touched
}

// filesWithTests returns the changed files that contain tests, before or after the change.
func (t Trial) filesWithTests() map[string]bool {
	out := map[string]bool{}
	for _, d := range slices.Concat(t.Evidence.Before, t.Evidence.After) {
		out[d.File] = true
	}
	return out
}

// isChangedTest reports whether the file of a test, or its module of tests, changed.
func (t Trial) isChangedTest(d detector.TestSource) bool {
	if t.isTestFile(d.File) || slices.Contains(t.Evidence.InlineTestFiles, t.Evidence.NewPath(d.File)) {
		return true
	}
	current, exists := t.currentDefinition(d)
	return !exists || !detector.SameTokens(d, current)
}

// currentDefinition returns the current definition with the name and file of an original one, or
// else with its name in another file. It is false if there is none.
func (t Trial) currentDefinition(old detector.TestSource) (detector.TestSource, bool) {
	file := t.Evidence.NewPath(old.File)
	for _, d := range t.Evidence.After {
		if d.File == file && d.Def.Name == old.Def.Name && d.Def.Class == old.Def.Class {
			return d, true
		}
	}
	for _, d := range t.Evidence.After { // moved
		if d.Def.Name == old.Def.Name {
			return d, true
		}
	}
	return detector.TestSource{}, false
}

// hasRecoveredSuite reports whether a suite that could not run before can run now. The names of
// its tests are unknown.
func (t Trial) hasRecoveredSuite() bool {
	return t.BaseTests != nil && slices.ContainsFunc(t.BaseTests.Broken, func(s metric.Suite) bool { return !t.CurrentTests.IsBroken(metric.ID{Suite: s.Name}) })
}

func (t Trial) failsNow(id metric.ID) bool {
	c, exists := t.CurrentTests.Lookup(id)
	return exists && c.Failed()
}

// exclusionReason returns why the result of a test would prove nothing, "" if it would prove
// something.
func (t Trial) exclusionReason(c metric.Test, home detector.TestSource, defined bool) string {
	switch {
	case c.Flaky || !defined && t.Flaky[c.ID]: // it is unknown whether a touched test is flaky
		return "it is flaky"
	case c.Status == metric.Skipped:
		return "it did not run before either"
	case defined && !t.isTestFile(home.File) && !slices.Contains(t.Evidence.InlineTestFiles, t.Evidence.NewPath(home.File)):
		return "it is in a file with the code that it tests"
	}
	return ""
}

// RestoredFiles returns the changed files whose original versions the trial restores, sorted.
func (t Trial) RestoredFiles() []string { return restoredFiles(t.Evidence) }

// restoredFiles returns the changed files that are restored: tests, and what they depend on.
func restoredFiles(e ledger.Evidence) []string {
	out := slices.Concat(e.TestFiles, e.RunnerFiles)
	slices.Sort(out)
	return slices.Compact(out)
}
