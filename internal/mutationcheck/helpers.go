package mutationcheck

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/metric"
	"supervise/source"
)

// helpers are the changed files of tests that define no test: assertions, matchers and tables that
// tests share, or the program of a test framework whose tests have no definitions.
type helpers struct {
	files  []string        // by their new paths
	users  map[string]bool // the test files that use them, by their original paths
	isAll  bool            // no test has a definition, so that all may use them
	before map[string]int  // the tokens of the files before the change
	after  map[string]int  // and after it
}

// findHelpers finds the changed helpers of the tests. It finds none if the texts of the tests are
// too large to see who uses them.
func (t *lineReader) findHelpers(ctx context.Context) helpers {
	h := helpers{users: map[string]bool{}, before: map[string]int{}, after: map[string]int{}}
	defines := map[string]bool{}
	for _, d := range t.Evidence.Before {
		defines[t.Evidence.NewPath(d.File)] = true
	}
	for _, d := range t.Evidence.After {
		defines[d.File] = true
	}
	var original []string
	for _, name := range t.Evidence.TestFiles {
		current := t.Evidence.NewPath(name)
		if defines[current] || source.DetectLanguage(current, nil) == source.Unknown {
			continue
		}
		was, is := withoutEmptyLines(t.linesOf(ctx, t.Base, name)), withoutEmptyLines(t.linesOf(ctx, t.Current, current))
		if len(was) == 0 || slices.Equal(was, is) {
			continue // added, moved, or only comments changed
		}
		original, h.files = append(original, name), append(h.files, current)
		for token, n := range countTokens(was) {
			h.before[token] += n
		}
		for token, n := range countTokens(is) {
			h.after[token] += n
		}
	}
	if len(original) == 0 {
		return h
	}
	texts, ok := evidence.ReadTestDependencies(ctx, t.Store, t.Base)
	if !ok {
		return helpers{}
	}
	h.addUsers(texts, original)
	return h
}

// addUsers finds the test files that use the helpers, which are given by their original paths.
func (h *helpers) addUsers(texts evidence.TestDependencies, original []string) {
	var defining []string
	for name, text := range texts {
		if len(evidence.TestsIn(name, text)) > 0 {
			defining = append(defining, name)
		}
	}
	h.isAll = len(defining) == 0
	for _, name := range original {
		users, all := texts.TestFilesUsing(name)
		if all {
			users = defining
		}
		for _, u := range users {
			h.users[u] = true
		}
	}
}

// addTo adds the helpers to what the change of a group removed and added.
func (h helpers) addTo(g *group) {
	g.text.addShared(h.before, h.after)
	g.shared = true
}

// groups returns the group of all tests, for a framework whose tests have no definitions. It is
// empty if they have some.
func (h helpers) groups(t Trial) []*group {
	if !h.isAll || len(h.files) == 0 {
		return nil
	}
	text := rewrite{before: map[string]bool{}, after: map[string]bool{}}
	g := &group{oldFiles: h.files, newFiles: h.files, text: text, result: detector.MutationResult{Files: h.files}}
	h.addTo(g)
	isRun := func(c metric.Test) bool { return c.Status == metric.Passed && !t.isFlaky(c) }
	for _, c := range t.BaseTests.Cases {
		if isRun(c) {
			g.oldTests, g.result.Tests = append(g.oldTests, c), append(g.result.Tests, c.ID)
		}
	}
	for _, c := range t.CurrentTests.Cases {
		if isRun(c) {
			g.newTests = append(g.newTests, c)
		}
	}
	t.judgeRewrite(g, nil)
	return []*group{g}
}
