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

// group are test files that are compared as one: what one of them lost may have moved to
// another.
type group struct {
	oldFiles, newFiles []string              // files before, by their new names, and after
	defs               []detector.TestSource // definitions that changed, before and after
	oldTests, newTests []metric.Test
	shared             bool   // what its tests share changed, or what tests of all files may depend on
	widened            *group // with all tests of the files, where before and now are the changed ones alone
	result             detector.MutationResult
}

// isOpen reports whether the group has no result yet.
func (g *group) isOpen() bool { return g.result.Why == "" && g.result.Mutants == 0 || g.isMisfit() }

// misfitReason is the reason of a group whose tests do not pass over the new code as they were.
const misfitReason = "none of the original tests passes on the new code"

func (g *group) isMisfit() bool { return g.result.Why == misfitReason }

// keepPassing reports whether tests of both sides pass without a fault.
func (g *group) keepPassing(old, current *side, apart bool) bool {
	passing := func(s *side, list []metric.Test) []metric.Test {
		return slices.DeleteFunc(slices.Clone(list), func(t metric.Test) bool { return !s.passing[t.ID] })
	}
	before, now := passing(old, g.oldTests), passing(current, g.newTests)
	switch {
	case len(now) == 0 && len(g.newTests) > 0:
		g.result.Why = "in a copy of the tree none of them passes: " + current.why
	case len(before) == 0 && apart:
		g.result.Why = "as they were, none of them passes over the old code in a copy of the tree: " + old.why
	case len(before) == 0:
		g.result.Why = misfitReason
	default:
		g.oldTests, g.newTests, g.result.Why, g.result.OnOldCode = before, now, "", apart
		return true
	}
	return false
}

// addOutcome counts a mutant.
func (g *group) addOutcome(m mutation.Mutant, f outcome) {
	g.result.Mutants++
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

// groups finds the tests that changed or are gone, by files. Files that lost tests and
// files that have new ones are one group.
func (t Trial) groups(ctx context.Context) []*group {
	t = t.withUnchanged(ctx)
	files := t.testFiles(ctx)
	var out []*group
	var moved *group
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		g := &group{}
		switch {
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
	}

	if moved != nil && len(moved.oldFiles) > 0 {
		out = append(out, moved)
	}

	for _, g := range out {
		t.findTests(g)
	}

	return slices.DeleteFunc(out, func(g *group) bool { return len(g.oldTests) == 0 })
}

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

// findTests finds the tests of the group's files among those that were measured.
func (t Trial) findTests(g *group) {
	seen := map[metric.ID]bool{}
	for _, name := range g.oldFiles {
		for _, c := range (detector.Tampering{File: name}).AffectedTests(t.BaseTests, t.Evidence.Before, t.Evidence.Renamed) {
			if !seen[c.ID] && (c.Status == metric.Passed || c.Failed()) && !c.Flaky && !t.Flaky[c.ID] {
				g.oldTests = append(g.oldTests, c)
			}
			seen[c.ID] = true
		}
	}
	clear(seen)
	for _, name := range g.newFiles {
		for _, c := range (detector.Tampering{File: name}).AffectedTests(t.CurrentTests, t.Evidence.After, nil) {
			if !seen[c.ID] && c.Status == metric.Passed && !c.Flaky && !t.Flaky[c.ID] {
				g.newTests = append(g.newTests, c)
			}
			seen[c.ID] = true
		}
	}
	for _, c := range g.oldTests {
		g.result.Tests = append(g.result.Tests, c.ID)
	}
	g.narrow(t.changedTests(g, t.BaseTests, t.Evidence.Before, g.oldTests), t.changedTests(g, t.CurrentTests, t.Evidence.After, g.newTests))
}

// narrow leaves the tests that changed: the others notice the same on both sides, unless
// what they share changed. All are left where one side has none that changed.
func (g *group) narrow(before, now []metric.Test) {
	if !g.shared && len(before) > 0 && len(now) > 0 && len(before)+len(now) < len(g.oldTests)+len(g.newTests) {
		g.widened = &group{oldTests: g.oldTests, newTests: g.newTests}
		g.oldTests, g.newTests = before, now
	}
}

// widen takes all tests of the files.
func (g *group) widen() {
	if g.widened != nil {
		g.oldTests, g.newTests, g.widened = g.widened.oldTests, g.widened.newTests, nil
	}
}

func (g *group) isNarrowed() bool { return g.widened != nil }

// changedTests are the tests among some that changed, are gone or were added.
func (t Trial) changedTests(g *group, measured *metric.Tests, defs []detector.TestSource, list []metric.Test) []metric.Test {
	homes := detector.DefinitionsOf(measured, defs)
	return slices.DeleteFunc(slices.Clone(list), func(c metric.Test) bool {
		home, known := homes[c.ID]
		return !known || !slices.ContainsFunc(g.defs, func(d detector.TestSource) bool {
			return d.File == home.File && d.Def.Name == home.Def.Name && d.Def.Class == home.Def.Class
		})
	})
}

// file is a test file, by its new name, with what happened to its tests.
type file struct {
	path                       string
	gone, added, changed, same []detector.TestSource
	helpersLost                bool // a line of what its tests share is gone
	sharedChanged              bool // that is not the same
}

// hasLostTests reports whether a test changed or is gone.
func (f *file) hasLostTests() bool {
	return len(f.gone)+len(f.changed) > 0 || f.helpersLost && len(f.same) > 0
}

func (t Trial) testFiles(ctx context.Context) map[string]*file {
	texts := &lineReader{Trial: t, lines: map[fileVersion][]string{}}
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

	for _, d := range t.Evidence.Before {
		name := t.newPath(d.File)
		key := testKey{name, d.Def.Class, d.Def.Name}
		current, exists := after[key]
		delete(after, key)
		switch f := fileFor(name); {
		case !exists:
			f.gone = append(f.gone, d)
		case texts.isUnchanged(ctx, d, current) && !t.HasOtherRunner():
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

	support := slices.ContainsFunc(t.RestoredFiles, func(name string) bool { return out[t.newPath(name)] == nil })
	for _, f := range out {
		lost, added := texts.sharedChanged(ctx, f)
		f.sharedChanged = lost || added || support
		f.helpersLost = lost && len(f.same) > 0 && len(f.gone)+len(f.changed) == 0
	}

	return out
}

// maxUnchanged is how many unchanged test files are looked at.
const maxUnchanged = 500

// withUnchanged returns the trial with the tests in files that did not change, where
// another runner runs them now: what they notice is its matter as well.
func (t Trial) withUnchanged(ctx context.Context) Trial {
	files, err := t.Store.Files(t.Current)
	if err != nil || !t.HasOtherRunner() {
		return t
	}
	known, n := map[string]bool{}, 0
	for _, d := range slices.Concat(t.Evidence.Before, t.Evidence.After) {
		known[d.File] = true
	}
	for _, f := range files {
		if known[f.Path] || !f.Mode.IsRegular() || f.Size > evidence.MaxText || !integrity.BelongsToTests(f.Path) || source.IsVendored(f.Path) {
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

func (t Trial) newPath(name string) string {
	if to := t.Evidence.Renamed[name]; to != "" {
		return to
	}
	return name
}

func (t Trial) oldPath(name string) string {
	for from, to := range t.Evidence.Renamed {
		if to == name {
			return from
		}
	}
	return name
}

// lineReader reads test files, without comments in lines of their own.
type lineReader struct {
	Trial
	lines map[fileVersion][]string
}

type fileVersion struct {
	id   snapshot.ID
	name string
}

// linesOf returns the lines of a file; those without code are empty. It is nil for a file that
// cannot be read.
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

// isUnchanged reports whether nothing of a test changed.
func (t *lineReader) isUnchanged(ctx context.Context, old, current detector.TestSource) bool {
	body := func(id snapshot.ID, d detector.TestSource) []string {
		lines := t.linesOf(ctx, id, d.File)
		return withoutEmptyLines(lines[min(max(0, d.Def.Line-1), len(lines)):min(d.Def.End, len(lines))])
	}
	return slices.Equal(body(t.Base, old), body(t.Current, current))
}

// sharedChanged reports whether a line outside of the tests of a file is gone, and whether
// one was added, imports and comments aside: helpers, tables, set-up.
func (t *lineReader) sharedChanged(ctx context.Context, f *file) (gone, added bool) {
	balance := map[string]int{}
	for _, line := range linesOutsideTests(t.linesOf(ctx, t.Current, f.path), f.path, t.Evidence.After) {
		balance[line]++
	}
	old := t.oldPath(f.path)
	for _, line := range linesOutsideTests(t.linesOf(ctx, t.Base, old), old, t.Evidence.Before) {
		balance[line]--
	}
	for _, n := range balance {
		gone, added = gone || n < 0, added || n > 0
	}
	return gone, added
}

// linesOutsideTests are the lines of a file outside of its tests, but for imports.
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
