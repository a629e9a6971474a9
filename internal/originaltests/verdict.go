package originaltests

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/measure"
	"supervise/internal/regexp"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// verdict returns what the result of a test in the copy means. A test that no longer fits the code
// proves nothing, unless it failed with such an error before: then the task was not done.
func (r *trialRun) verdict(e measure.TestResult) verdict {
	why := r.firstLine(cmp.Or(e.Why, e.Test.Message))
	if e.Aborted && !r.until.IsZero() && time.Until(r.until) <= 0 {
		why += ": raise goal_tests.timeout"
	}
	old, _ := r.BaseTests.Lookup(e.Test.ID)
	switch {
	case e.Unbuilt:
		return verdict{detector.Unbuilt, why}
	case e.Test.Status == 0:
		return verdict{detector.NotRun, why}
	case e.Test.Status == metric.Passed:
		return verdict{outcome: detector.Passed}
	case !r.Evidence.OnlyTestsChanged && misfitRE.MatchString(e.Test.Message) && !misfitRE.MatchString(old.Message):
		return verdict{detector.Unbuilt, why}
	}
	return verdict{detector.Failed, why}
}

// misfitRE matches the errors of interpreted languages for a test that does not fit the code, since
// what it uses does not exist or has another signature: "AttributeError: 'Cart' object has no
// attribute 'add'", "cart.add is not a function".
var misfitRE = regexp.MustCompile(`\b(AttributeError|NameError|ImportError|ModuleNotFoundError|NoMethodError|ReferenceError|UndefinedFunctionError)\b|` +
	`\bis not a (function|constructor)\b|Cannot find module|Call to undefined (method|function)|Class "[^"]*" not found|` +
	`TypeError: .*(unexpected keyword argument|takes \d+ positional|missing \d+ required|got multiple values)|wrong number of arguments|ArgumentCountError`)

// firstLine returns the first line of a test's message, cut to 200 characters and without the path
// of the copy. A line that only announces others, as "got:" of an example in Go, is followed by
// them. It is "" if the message is blank.
func (r *trialRun) firstLine(text string) string {
	text = strings.ReplaceAll(text, r.tree.Path+"/", "")
	var out string
	announces := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case out == "":
			out, announces = line, strings.HasSuffix(line, ":")
		case strings.HasSuffix(out, ":"):
			out += " " + line
		case announces && strings.HasSuffix(line, ":"):
			out += ", " + line
		default:
			return clipLine(out)
		}
	}
	return clipLine(out)
}

func clipLine(line string) string {
	const limit = 200
	if cut := []rune(line); len(cut) > limit {
		return string(cut[:limit-1]) + "…"
	}
	return line
}

// runOnOldCode runs the tests that passed before and failed on the new code on the old code, in the
// same copy. If one fails there too, the copy is the reason, and its result proves nothing.
func (r *trialRun) runOnOldCode(ctx context.Context) error {
	failed := slices.DeleteFunc(r.failedTests(), metric.Test.Failed)
	if len(failed) == 0 {
		return nil
	}
	if err := r.tree.Restore(ctx, r.Base, r.changedPaths()...); err != nil {
		return err
	}
	out, err := r.runInTree(ctx, failed, false)
	for id, e := range out.ByTest {
		if e.Test.Status != metric.Passed {
			r.markNotRun(id, "away from the working tree it does not pass over the old code either", e)
		}
	}
	return err
}

// runCurrentVersions runs the current versions of the tests that failed before and whose originals
// still fail. They pass in the working tree, so if they fail in the copy, the copy is the reason.
func (r *trialRun) runCurrentVersions(ctx context.Context) error {
	tests := map[metric.ID][]metric.Test{} // by original test: the current tests to run
	var list []metric.Test
	for _, t := range slices.Concat(r.failedTests(), r.unnamedTests) {
		if r.verdicts[t.ID].outcome == detector.Failed && (t.Failed() || r.BaseTests.IsBroken(t.ID)) && !r.lostItsFile(t.ID) {
			tests[t.ID] = r.successors(t.ID)
			list = append(list, tests[t.ID]...)
		}
	}

	if len(list) == 0 {
		return nil
	}
	if err := r.tree.Restore(ctx, r.Current, r.changedPaths()...); err != nil {
		return err
	}

	slices.SortFunc(list, func(a, b metric.Test) int { return a.Compare(b.ID) })
	list = slices.CompactFunc(list, func(a, b metric.Test) bool { return a.ID == b.ID })
	out, err := r.runWith(ctx, r.Meter, list, false)
	for id, now := range tests {
		passes := slices.ContainsFunc(now, func(t metric.Test) bool { return out.ByTest[t.ID].Test.Status == metric.Passed })
		if len(now) > 0 && !passes {
			r.markNotRun(id, "away from the working tree its new version does not pass either", out.ByTest[now[0].ID])
		}
	}

	return err
}

// runWithIgnored runs the tests again for which the copy is unfit, with the ignored files of the
// working tree. Only a failure counts, because an ignored file may contain the answers.
func (r *trialRun) runWithIgnored(ctx context.Context) error {
	all, before := r.choice, maps.Clone(r.verdicts)
	r.choice.fullSuite = false
	r.choice.tests = slices.DeleteFunc(slices.Clone(all.tests), func(t metric.Test) bool { return !r.unfit[t.ID] || r.isInlineTest(t) })
	defer func() { r.choice = all }()
	if len(r.choice.tests) == 0 {
		return nil
	}
	err := treecopy.CopyIgnored(ctx, r.Root, r.tree.Path)
	if err == nil {
		err = r.tree.Restore(ctx, r.Current, r.changedPaths()...)
	}
	for _, step := range []func(context.Context) error{r.runRestored, r.runOnOldCode, r.runCurrentVersions} {
		if err == nil {
			err = step(ctx)
		}
	}
	for _, t := range r.choice.tests {
		if r.verdicts[t.ID].outcome != detector.Failed {
			r.verdicts[t.ID] = before[t.ID]
		}
	}
	return err
}

// lostItsFile reports whether a test still runs although its file was deleted from the tree, since
// git now ignores it. A copy has no current version to run.
func (r *trialRun) lostItsFile(id metric.ID) bool {
	home, known := r.choice.definitions[id]
	_, ran := r.CurrentTests.Lookup(id)
	if !known || !ran {
		return false
	}
	_, exists := r.currentDefinition(home)
	return !exists && slices.ContainsFunc(r.Changes, func(c snapshot.Change) bool { return c.Path == home.File && c.Kind == snapshot.Deleted })
}

// maxSuccessors bounds the tests that run in place of one that is gone.
const maxSuccessors = 20

// successors returns passing tests that show whether the copy is the reason of a failure: the test
// itself or, if it is gone, others of its suite and class.
func (r *trialRun) successors(id metric.ID) []metric.Test {
	if t, exists := r.CurrentTests.Lookup(id); exists {
		if t.Status == metric.Passed {
			return []metric.Test{t}
		}
		return nil
	}
	var out []metric.Test
	if r.CurrentTests == nil {
		return nil
	}
	for _, t := range r.CurrentTests.Cases {
		if t.Suite == id.Suite && (id.Class == "" || t.Class == id.Class) && t.Status == metric.Passed && len(out) < maxSuccessors {
			out = append(out, t)
		}
	}
	return out
}

// markNotRun changes the verdict on a test to not run, for a reason that ends with its message.
func (r *trialRun) markNotRun(id metric.ID, text string, e measure.TestResult) {
	r.unfit[id] = true
	why := cmp.Or(r.firstLine(cmp.Or(e.Why, e.Test.Message)), r.verdicts[id].why)
	r.verdicts[id] = verdict{detector.NotRun, text + ": " + why}
}

// failedTests returns the selected tests whose originals fail.
func (r *trialRun) failedTests() []metric.Test {
	return slices.DeleteFunc(slices.Clone(r.choice.tests), func(t metric.Test) bool { return r.verdicts[t.ID].outcome != detector.Failed })
}

// changedPaths returns the paths of all files that differ between the trees.
func (r *trialRun) changedPaths() []string {
	var out []string
	for _, c := range r.Changes {
		out = append(out, c.Path)
	}
	return out
}

// recordResults records the verdicts. It counts tests that pass, and names only those that failed
// before, that the change touches, or that are gone.
func (r *trialRun) recordResults(ctx context.Context) {
	r.out.Results = append(r.out.Results, r.choice.excluded...)
	for _, t := range slices.Concat(r.choice.tests, r.unnamedTests) {
		v, ran := r.verdicts[t.ID]
		if !ran {
			v = verdict{detector.NotRun, "no check ran it"}
		}
		home, defined := r.choice.definitions[t.ID]
		_, exists := r.CurrentTests.Lookup(t.ID)
		failed := t.Failed() || r.BaseTests.IsBroken(t.ID)
		if v.outcome == detector.Passed {
			r.out.Passed++
			if exists && !defined && !failed {
				continue
			}
		}
		g := detector.Goal{ID: t.ID, File: cmp.Or(home.File, t.File), Outcome: v.outcome, FailedBefore: failed, Why: v.why}
		if v.outcome == detector.Failed {
			r.addTexts(ctx, &g, home)
		}
		r.out.Results = append(r.out.Results, g)
	}
	slices.SortStableFunc(r.out.Results, func(a, b detector.Goal) int { return a.ID.Compare(b.ID) })
}

// maxTexts bounds the tests whose texts are recorded, maxNamedFiles the files that are named
// instead.
const maxTexts, maxNamedFiles = 50, detector.MaxDependencies

// addTexts adds the original and the current text of a test. If they are the same, it adds the
// restored files on which the test may depend, and the texts of a single one.
func (r *trialRun) addTexts(ctx context.Context, g *detector.Goal, home detector.TestSource) {
	current, exists := detector.TestSource{}, false
	if home.File != "" {
		if current, exists = r.currentDefinition(home); exists {
			g.MachineDependent = detector.AddsMachineCheck(home, current)
		}
	}
	if home.File == "" || exists && detector.SameTokens(home, current) {
		withTests := r.filesWithTests()
		for _, f := range restoredFiles(r.Evidence) {
			if (!withTests[f] || f == home.File) && len(g.DependsOn) < maxNamedFiles {
				g.DependsOn = append(g.DependsOn, f)
			}
		}
		if len(g.DependsOn) != 1 {
			return
		}
		home = detector.TestSource{File: g.DependsOn[0], Def: source.TestDef{Line: 1, End: math.MaxInt}}
		current, exists = home, true
	}
	if r.shownTexts++; r.shownTexts > maxTexts {
		return
	}
	before, after := r.definitionLines(ctx, r.Base, home), []string(nil)
	if exists {
		after = r.definitionLines(ctx, r.Current, current)
	}
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	g.Before, g.After = excerpt(home, before, same), excerpt(current, after, same)
}

// maxLines bounds an excerpt, contextLines are those above the first difference in a longer one.
const maxLines, contextLines = 12, 3

// definitionLines returns the lines of a test in a snapshot, nil if they cannot be read.
func (r *trialRun) definitionLines(ctx context.Context, id snapshot.ID, d detector.TestSource) []string {
	text, err := r.Store.ReadFile(ctx, id, d.File)
	lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
	if err != nil || bytes.IndexByte(text, 0) >= 0 || d.Def.Line < 1 || d.Def.Line > len(lines) {
		return nil
	}
	return lines[d.Def.Line-1 : min(max(d.Def.End, d.Def.Line), len(lines))]
}

// excerpt returns the part of a test that is shown, where the other version has the same lines at
// its start. It is nil if there are no lines.
func excerpt(d detector.TestSource, lines []string, same int) *detector.Excerpt {
	if len(lines) == 0 {
		return nil
	}
	skip := max(0, min(same-contextLines, len(lines)-maxLines))
	lines = lines[skip:]
	out := strings.Join(lines[:min(len(lines), maxLines)], "\n")
	if len(lines) > maxLines {
		out += "\n…"
	}
	return &detector.Excerpt{File: d.File, Line: d.Def.Line + skip, Text: out}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
