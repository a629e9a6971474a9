package mutationcheck

import (
	"context"
	"maps"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/mutation"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// group is a set of test files that are compared as one, since a test that one of them lost may
// have moved to another.
type group struct {
	oldFiles, newFiles []string              // files before the change, by their new names, and after it
	defs               []detector.TestSource // definitions of tests that changed, before and after
	lost, replacing    []metric.Test         // of oldTests: those that changed or are gone; of newTests: those that gained something
	oldTests, newTests []metric.Test         // the original and the current tests to run
	shared             bool                  // helpers or files that unchanged tests may depend on changed too
	generated          bool                  // newTests has tests without a definition: of a macro, a loop, shared examples
	text               rewrite
	widened            *group // if only changed tests are run: the tests of all files; otherwise nil
	result             detector.MutationResult
}

// isOpen reports whether the group has no result yet.
func (g *group) isOpen() bool { return g.result.Why == "" && g.result.Mutants == 0 || g.isMisfit() }

// misfitReason is the reason why a group has no result on the new code. The group runs again,
// with the original tests on the old code.
const misfitReason = "none of the original tests passes on the new code"

// isMisfit reports whether the group needs the old code, see misfitReason.
func (g *group) isMisfit() bool { return g.result.Why == misfitReason }

// keepPassing drops the tests that fail without a fault. It is false, and sets the reason in the
// result, if a side has none left. apart means that the original tests ran on the old code.
func (g *group) keepPassing(old, current *side, apart bool) bool {
	before, now := old.control.Keep(g.oldTests), current.control.Keep(g.newTests)
	switch {
	case len(now) == 0 && len(g.newTests) > 0:
		g.result.Why = "in a copy of the tree none of them passes: " + current.control.Why
	case len(before) == 0 && apart:
		g.result.Why = "as they were, none of them passes over the old code in a copy of the tree: " + old.control.Why
	case len(before) == 0 && !g.passedBefore():
		g.result.Why = "none of the original tests passed before the change, and none passes on the new code: " + old.control.Why
	case len(before) == 0:
		g.result.Why = misfitReason
	default:
		g.oldTests, g.newTests, g.result.Why, g.result.OnOldCode = before, now, "", apart
		return true
	}
	return false
}

// passedBefore reports whether an original test passed where it was measured. Otherwise none can
// kill a mutant of the old code.
func (g *group) passedBefore() bool {
	list := g.oldTests
	if g.widened != nil {
		list = g.widened.oldTests
	}
	return slices.ContainsFunc(list, func(t metric.Test) bool { return t.Status == metric.Passed })
}

// addOutcome adds the outcome of one mutant to the result.
func (g *group) addOutcome(m mutation.Mutant, f outcome) {
	g.result.Mutants++
	if f.isUnreplaced() {
		g.result.Unreplaced++
	}
	switch {
	case f.survives():
		g.result.Survivors = append(g.result.Survivors, survivor(m))
	case !f.killedByOld && !f.killedByNew:
		g.result.NeverKilled++
	}
	if f.killedByOld {
		g.result.KilledBefore++
	}
	if f.killedByNew {
		g.result.KilledAfter++
	}
}

// groups finds the tests that changed or were deleted. A file with changed tests is a group. All
// files with deleted or added tests are one more group, since tests may have moved between them.
func (t Trial) groups(ctx context.Context) []*group {
	texts := &lineReader{Trial: t, lines: map[fileVersion][]string{}}
	helpers := texts.findHelpers(ctx)
	t = t.withUnchanged(ctx, helpers.users)
	texts.Trial = t
	files := texts.testFiles(ctx, helpers.users)
	var out []*group
	var moved, unchanged *group
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		g := &group{}
		switch {
		case f.helpersLost && len(f.added) == 0 && helpers.users[t.Evidence.OldPath(name)]:
			if unchanged == nil {
				unchanged = g
				out = append(out, g)
			}
			g = unchanged
		case f.hasLostTests() && len(f.gone) == 0:
			out = append(out, g)
		case len(f.gone)+len(f.added) > 0:
			if moved == nil {
				moved = g
			}
			g = moved
		default:
			continue
		}
		g.add(f)
		texts.addRewrite(ctx, g, f)
		if helpers.users[t.Evidence.OldPath(name)] {
			helpers.addTo(g)
		}
	}

	if moved != nil && len(moved.oldFiles) > 0 {
		out = append(out, moved)
	}

	for _, g := range out {
		texts.addData(ctx, g)
		t.findTests(g)
	}
	out = append(out, helpers.groups(t)...)

	return slices.DeleteFunc(out, func(g *group) bool { return len(g.oldTests) == 0 })
}

// add adds a test file with its definitions to the group.
func (g *group) add(f *file) {
	if f.hasLostTests() {
		g.oldFiles = append(g.oldFiles, f.path)
	}
	g.newFiles = append(g.newFiles, f.path)
	g.shared = g.shared || f.sharedChanged
	g.defs = slices.Concat(g.defs, f.gone, f.changed, f.added)
	if len(f.gone)+len(f.changed) == 0 {
		g.defs = append(g.defs, f.same...) // what they share changed
	}
	if !slices.Contains(g.result.Files, f.path) {
		g.result.Files = append(g.result.Files, f.path)
	}
}

// findTests sets the tests of the group's files among those that were measured, without flaky
// ones. An original test may fail on the old code, a current one must pass.
func (t Trial) findTests(g *group) {
	isOld := map[metric.ID]bool{}
	for _, name := range g.oldFiles {
		for _, c := range (detector.Tampering{File: name}).AffectedTests(t.BaseTests, t.Evidence.Before, t.Evidence.Renamed) {
			if isOld[c.ID] || c.Status != metric.Passed && !c.Failed() {
				continue
			}
			isOld[c.ID] = true
			if t.isFlaky(c) {
				g.result.Flaky = append(g.result.Flaky, c.ID)
				continue
			}
			g.oldTests, g.result.Tests = append(g.oldTests, c), append(g.result.Tests, c.ID)
		}
	}
	t.findNewTests(g, isOld)
	lost := t.changedTests(g.defs, t.BaseTests, t.Evidence.Before, g.oldTests)
	t.judgeRewrite(g, lost)
	g.narrow(lost, t.changedTests(g.defs, t.CurrentTests, t.Evidence.After, g.newTests))
}

// findNewTests sets the current tests of the group: those that its files define, and those without a
// definition that are new or have the name of an original one.
func (t Trial) findNewTests(g *group, isOld map[metric.ID]bool) {
	isDefined := map[metric.ID]bool{}
	for _, name := range g.newFiles {
		for _, c := range (detector.Tampering{File: name}).AffectedTests(t.CurrentTests, t.Evidence.After, nil) {
			isDefined[c.ID] = true
		}
	}
	for _, c := range t.CurrentTests.Cases {
		_, known := t.BaseTests.Lookup(c.ID)
		isGenerated := !isDefined[c.ID] && (isOld[c.ID] || !known)
		if (isDefined[c.ID] || isGenerated) && c.Status == metric.Passed && !t.isFlaky(c) {
			g.newTests, g.generated = append(g.newTests, c), g.generated || isGenerated
		}
	}
}

func (t Trial) isFlaky(c metric.Test) bool { return c.Flaky || t.Flaky[c.ID] }

// narrow keeps only the changed tests, which saves time: unchanged tests detect the same faults on
// both sides unless something that they share changed. It keeps all tests if a side has no
// changed one.
func (g *group) narrow(before, now []metric.Test) {
	if !g.shared && !g.generated && len(before) > 0 && len(now) > 0 && len(before)+len(now) < len(g.oldTests)+len(g.newTests) {
		g.widened = &group{oldTests: g.oldTests, newTests: g.newTests}
		g.oldTests, g.newTests = before, now
	}
}

// widen makes the group run all tests of its files. It reverses narrow.
func (g *group) widen() {
	if g.widened != nil {
		g.oldTests, g.newTests, g.widened = g.widened.oldTests, g.widened.newTests, nil
	}
}

// isNarrowed reports whether the group runs only changed tests.
func (g *group) isNarrowed() bool { return g.widened != nil }

// changedTests returns the tests of a list that have one of the changed definitions. defs are the
// definitions of tests on the side on which they were measured.
func (t Trial) changedTests(changed []detector.TestSource, measured *metric.Tests, defs []detector.TestSource, list []metric.Test) []metric.Test {
	homes := detector.DefinitionsOf(measured, defs)
	return slices.DeleteFunc(slices.Clone(list), func(c metric.Test) bool {
		home, known := homes[c.ID]
		return !known || !slices.ContainsFunc(changed, func(d detector.TestSource) bool {
			return d.File == home.File && d.Def.Name == home.Def.Name && d.Def.Class == home.Def.Class
		})
	})
}

// file is a test file, by its new name, with what happened to its tests.
type file struct {
	path                       string
	gone, added, changed, same []detector.TestSource // deleted, added, changed and unchanged tests; changed has both versions
	helpersLost                bool                  // a line outside of its tests was deleted, and no test changed
	sharedChanged              bool                  // a line outside of its tests changed, or a file that all tests may use
}

// hasLostTests reports whether the file may detect fewer faults: a test changed or was deleted,
// or a helper of unchanged tests.
func (f *file) hasLostTests() bool {
	return len(f.gone)+len(f.changed) > 0 || f.helpersLost && len(f.same) > 0
}

// setHelpersLost records whether what unchanged tests share changed, and no test did.
func (f *file) setHelpersLost(changed bool) {
	f.helpersLost = changed && len(f.same) > 0 && len(f.gone)+len(f.changed) == 0
}

// testFiles returns the test files of the evidence by their new paths. usesHelper are those, by
// their original paths, that use a helper that changed.
func (t *lineReader) testFiles(ctx context.Context, usesHelper map[string]bool) map[string]*file {
	out := map[string]*file{}
	fileFor := func(name string) *file {
		if out[name] == nil {
			out[name] = &file{path: name}
		}
		return out[name]
	}

	type testKey struct{ file, class, name string }
	after := map[testKey]detector.TestSource{}
	for _, d := range t.Evidence.After {
		after[testKey{d.File, d.Def.Class, d.Def.Name}] = d
	}

	for _, d := range slices.DeleteFunc(slices.Clone(t.Evidence.Before), t.hasDuplicate) {
		name := t.Evidence.NewPath(d.File)
		key := testKey{name, d.Def.Class, d.Def.Name}
		current, exists := after[key]
		delete(after, key)
		switch f := fileFor(name); {
		case !exists:
			f.gone = append(f.gone, d)
		case t.isUnchanged(ctx, d, current) && !t.HasOtherRunner():
			f.same = append(f.same, d)
		default:
			f.changed = append(f.changed, d, current)
		}
	}

	for _, d := range t.Evidence.After {
		if _, added := after[testKey{d.File, d.Def.Class, d.Def.Name}]; added {
			fileFor(d.File).added = append(fileFor(d.File).added, d)
		}
	}

	support := slices.ContainsFunc(t.RestoredFiles, func(name string) bool { return out[t.Evidence.NewPath(name)] == nil })
	for _, f := range out {
		lost, added := t.sharedChanged(ctx, f)
		f.sharedChanged = lost || added || support
		f.setHelpersLost(lost || usesHelper[t.Evidence.OldPath(f.path)])
	}

	return out
}

// hasDuplicate reports whether an identical test stays.
func (t Trial) hasDuplicate(lost detector.TestSource) bool {
	return slices.ContainsFunc(t.Evidence.Duplicates, func(d detector.Duplicate) bool {
		return d.Lost.File == lost.File && d.Lost.Def.Class == lost.Def.Class && d.Lost.Def.Name == lost.Def.Name
	})
}

// maxUnchanged is how many unchanged test files withUnchanged adds.
const maxUnchanged = 500

// withUnchanged returns the trial with the tests of unchanged files too, since the faults that a
// test detects depend on it: of those that use a helper that changed, or of all if another
// framework runs the tests now.
func (t Trial) withUnchanged(ctx context.Context, usesHelper map[string]bool) Trial {
	files, err := t.Store.Files(t.Current)
	hasOther := t.HasOtherRunner()
	if err != nil || !hasOther && len(usesHelper) == 0 {
		return t
	}
	known, n := map[string]bool{}, 0
	for _, d := range slices.Concat(t.Evidence.Before, t.Evidence.After) {
		known[d.File] = true
	}
	for _, f := range files {
		if known[f.Path] || !hasOther && !usesHelper[f.Path] || !mayDefineTests(f) {
			continue
		}
		text, err := t.Store.ReadFile(ctx, t.Current, f.Path)
		if defs := evidence.TestsIn(f.Path, text); err == nil && len(defs) > 0 && n < maxUnchanged {
			t.Evidence.Before, t.Evidence.After = slices.Concat(t.Evidence.Before, defs), slices.Concat(t.Evidence.After, defs)
			n++
		}
	}
	return t
}

// mayDefineTests reports whether a file belongs to the project's tests.
func mayDefineTests(f snapshot.File) bool {
	return f.Mode.IsRegular() && f.Size <= evidence.MaxText && integrity.BelongsToTests(f.Path) && !source.IsVendored(f.Path)
}

// lineReader reads test files without comment lines, and caches their lines.
type lineReader struct {
	Trial
	lines map[fileVersion][]string
}

type fileVersion struct {
	id   snapshot.ID
	name string
}

// linesOf returns the lines of a file with single blanks between words. Lines without code are
// empty. The list is nil if the file is too large or cannot be read.
func (t *lineReader) linesOf(ctx context.Context, id snapshot.ID, name string) []string {
	version := fileVersion{id, name}
	if lines, known := t.lines[version]; known {
		return lines
	}
	t.lines[version] = nil
	text, err := t.Store.ReadFile(ctx, id, name)
	if err != nil || len(text) > evidence.MaxText {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	for i, masked := range strings.Split(string(source.Mask(source.DetectLanguage(name, nil), text)), "\n") {
		if strings.TrimSpace(masked) == "" {
			lines[i] = ""
		}
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	t.lines[version] = lines
	return lines
}

// isUnchanged reports whether two versions of a test have the same code.
func (t *lineReader) isUnchanged(ctx context.Context, old, current detector.TestSource) bool {
	body := func(id snapshot.ID, d detector.TestSource) []string {
		lines := t.linesOf(ctx, id, d.File)
		return withoutEmptyLines(lines[min(max(0, d.Def.Line-1), len(lines)):min(d.Def.End, len(lines))])
	}
	return slices.Equal(body(t.Base, old), body(t.Current, current))
}

// sharedChanged reports whether a line outside of the tests of a file was deleted, and whether one
// was added: helpers, tables, and set-up. It ignores imports, comments, and the order of lines.
func (t *lineReader) sharedChanged(ctx context.Context, f *file) (gone, added bool) {
	balance := map[string]int{}
	for _, line := range linesOutsideTests(t.linesOf(ctx, t.Current, f.path), f.path, t.Evidence.After) {
		balance[line]++
	}
	old := t.Evidence.OldPath(f.path)
	for _, line := range linesOutsideTests(t.linesOf(ctx, t.Base, old), old, t.Evidence.Before) {
		balance[line]--
	}
	for _, n := range balance {
		gone, added = gone || n < 0, added || n > 0
	}
	return gone, added
}

// linesOutsideTests returns the lines of a file outside of its tests, without imports and empty
// lines.
func linesOutsideTests(lines []string, name string, defs []detector.TestSource) []string {
	lines = slices.Clone(lines)
	for _, d := range defs {
		for i := d.Def.Line; d.File == name && i <= min(d.Def.End, len(lines)); i++ {
			lines[i-1] = ""
		}
	}
	return slices.DeleteFunc(withoutEmptyLines(lines), func(line string) bool {
		return strings.HasPrefix(line, "import") || strings.HasPrefix(line, "from ") || strings.HasPrefix(line, "use ") || line[0] == '"'
	})
}

func withoutEmptyLines(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line == "" })
}
