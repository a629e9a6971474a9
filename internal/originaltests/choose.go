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

// choice are the tests that a trial runs.
type choice struct {
	tests []metric.Test
	whole bool // any test may end otherwise, or is not known by name
	homes map[metric.ID]detector.TestSource
	muted []detector.Goal // tests whose result would prove nothing
}

// empty reports whether there is nothing to run.
func (c choice) empty() bool { return len(c.tests) == 0 && !c.whole }

// choose finds the tests that failed before and do not fail now, and those that the
// change touches: by their own file, by expected output, or by what all of them lean on.
func (t Trial) choose() choice {
	c := choice{homes: detector.DefinitionsOf(t.BaseTests, t.Evidence.Before), whole: t.recoveredSuite() || t.HasOtherRunner()}
	touched := t.expecting(&c)
	if t.BaseTests == nil {
		return c
	}
	for _, was := range t.BaseTests.Cases {
		home, defined := c.homes[was.ID]
		defined = defined && t.changedTest(home)
		failed := was.Failed()
		if !c.whole && !failed && !defined && !touched[was.ID] || t.failsNow(was.ID) {
			continue
		}
		switch why := t.mute(was, home, defined); {
		case why == "":
			c.tests = append(c.tests, was)
		case defined || failed:
			c.muted = append(c.muted, detector.Goal{ID: was.ID, File: home.File, Outcome: detector.NotRun, FailedBefore: failed, Why: why})
		}
	}
	return c
}

// expecting finds the tests that changed files without tests concern; where it is not
// known which, all.
func (t Trial) expecting(c *choice) map[metric.ID]bool {
	c.whole = c.whole || len(t.Evidence.RunnerFiles) > 0
	touched, holds := map[metric.ID]bool{}, t.defining()
	for _, change := range t.Changes {
		file := change.Path
		if holds[file] || !slices.Contains(t.Evidence.TestFiles, file) {
			continue
		}
		tests := detector.TestsExpecting(file, t.BaseTests)
		for _, x := range tests {
			touched[x.ID] = true
		}
		// What is new and holds data is read by tests that name it alone.
		data := source.DetectLanguage(file, nil) == source.Unknown && !strings.HasPrefix(path.Base(file), ".")
		if len(tests) == 0 && (change.Kind != snapshot.Added || !data) {
			c.whole = true
		}
	}
	return touched
}

// defining are the changed files that hold tests, before or now.
func (t Trial) defining() map[string]bool {
	out := map[string]bool{}
	for _, d := range slices.Concat(t.Evidence.Before, t.Evidence.After) {
		out[d.File] = true
	}
	return out
}

// changedTest reports whether the file of a test, or its module of tests, changed.
func (t Trial) changedTest(d detector.TestSource) bool {
	if t.testFile(d.File) || slices.Contains(t.Evidence.InlineTestFiles, t.newPath(d.File)) {
		return true
	}
	is, there := t.nowDefined(d)
	return !there || !detector.SameTokens(d, is)
}

// nowDefined is the definition that has the name and file of an earlier one.
func (t Trial) nowDefined(was detector.TestSource) (detector.TestSource, bool) {
	file := t.newPath(was.File)
	for _, d := range t.Evidence.After {
		if d.File == file && d.Def.Name == was.Def.Name && d.Def.Class == was.Def.Class {
			return d, true
		}
	}
	for _, d := range t.Evidence.After { // moved
		if d.Def.Name == was.Def.Name {
			return d, true
		}
	}
	return detector.TestSource{}, false
}

// recoveredSuite reports whether a suite that could not run before can run now: its
// tests have no names yet.
func (t Trial) recoveredSuite() bool {
	return t.BaseTests != nil && slices.ContainsFunc(t.BaseTests.Broken, func(s metric.Suite) bool { return !brokenIn(t.CurrentTests, s.Name) })
}

func brokenIn(t *metric.Tests, suite string) bool {
	return t != nil && slices.ContainsFunc(t.Broken, func(s metric.Suite) bool { return s.Name == suite })
}

func (t Trial) failsNow(id metric.ID) bool {
	c, there := t.CurrentTests.Lookup(id)
	return there && c.Failed()
}

// mute is the reason why the result of a test would prove nothing, "" where it would.
func (t Trial) mute(c metric.Test, home detector.TestSource, defined bool) string {
	switch {
	case c.Flaky || !defined && t.Flaky[c.ID]: // whether what the change touches is flaky, nobody knows
		return "it is flaky"
	case c.Status == metric.Skipped:
		return "it did not run before either"
	case defined && !t.testFile(home.File) && !slices.Contains(t.Evidence.InlineTestFiles, t.newPath(home.File)):
		return "it stands in a file with the code that it tests"
	}
	return ""
}

// RestoredFiles are the files that are put back.
func (t Trial) RestoredFiles() []string { return restored(t.Evidence) }

// restored are the files that are put back: tests, and what they lean on.
func restored(e ledger.Evidence) []string {
	out := slices.Concat(e.TestFiles, e.RunnerFiles)
	slices.Sort(out)
	return slices.Compact(out)
}
