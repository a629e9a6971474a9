package tests

import (
	"fmt"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// way is how a test was lost.
type way int

const (
	byDeletion way = iota
	byFileDeletion
	byRenamingOut
	byComment
	byChoice // it is defined under a condition now, see chosenSkips
)

// lostTest is a test that is gone: how, and where that shows.
type lostTest struct {
	facts.Loss
	how    way
	where  *facts.Side
	at     int
	nested bool // the test around it is lost, too: it is reported once
}

// lostTests are all of them.
var lostTests = facts.Define(func(c *facts.Set) []lostTest {
	var out []lostTest
	seen := map[*facts.Test]bool{}
	for _, l := range facts.Tests.Of(c).Lost {
		t := lostTest{Loss: l}
		t.how, t.where, t.at = findWay(c, l)
		for p := l.Parent; p != nil; p = p.Parent {
			t.nested = t.nested || seen[p]
		}
		seen[l.Test] = true
		out = append(out, t)
	}
	return out
})

func findWay(c *facts.Set, l facts.Loss) (way, *facts.Side, int) {
	after := l.File.After()
	if l.ExplainedBy == facts.ByNothing {
		return byDeletion, l.Side, l.Line
	}
	if line := chosenAt(l); line > 0 {
		return byChoice, after, line
	}
	if line := commentedOut(l); line > 0 {
		return byComment, after, line
	}
	if line := renamedOut(l); line > 0 {
		return byRenamingOut, after, line
	}
	switch {
	case after.Exists() && c.LeavesDiscovery(l.File) && containsMost(l, after):
		return byRenamingOut, after, 0
	case l.File.Deleted:
		return byFileDeletion, l.Side, 0
	}
	return byDeletion, l.Side, l.Line
}

// containsMost reports whether a file contains most of the lines of a lost test: a file
// with nearly the same text may be a different one.
func containsMost(l facts.Loss, s *facts.Side) bool {
	there := map[string]bool{}
	for _, line := range s.Lines() {
		there[squeeze(line.Text)] = true
	}
	all, found := 0, 0
	for n := l.Line; n <= l.End; n++ {
		if code := squeeze(l.Side.LineAt(n)); len(code) > 3 {
			all++
			if there[code] {
				found++
			}
		}
	}
	return 2*found >= all
}

// commentedOut returns the line of the comment that holds most of the text of a
// lost test, 0 for none.
func commentedOut(l facts.Loss) int {
	after := l.File.After()
	if !after.Exists() || after.Language() == source.Unknown {
		return 0
	}
	want := map[string]bool{}
	for n := l.Line; n <= l.End; n++ {
		if code := squeeze(l.Side.LineAt(n)); len(code) > 3 {
			want[code] = true
		}
	}
	for _, com := range l.File.Before().Comments() { // what was a comment before says nothing
		if code := squeeze(com.Text); want[code] {
			want[code] = false
		}
	}
	found, first := map[string]bool{}, 0
	for _, com := range after.Comments() {
		code := squeeze(com.Text)
		if want[code] {
			if first == 0 {
				first = com.Number
			}
			found[code] = true
		}
	}
	if len(want) > 0 && 2*len(found) >= len(want) {
		return first
	}
	return 0
}

// putOff matches notes in front of commented-out code.
var putOff = regexp.MustCompile(`^(?:OLD|TODO|DISABLED|WIP|BROKEN|FLAKY|FIXME|SKIP|TEMP)\b:?\s*`)

// squeeze drops comment marks and indentation from a line.
func squeeze(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"//", "#", "/*", "*", "--", `"""`, "'''", ";"} {
		s = strings.TrimPrefix(s, mark)
	}
	s = strings.TrimSuffix(s, "*/")
	return strings.TrimSpace(putOff.ReplaceAllString(strings.TrimSpace(s), ""))
}

// renamedOut returns the line of a new function that has the body of a lost test and is
// not a test; 0 for none.
func renamedOut(l facts.Loss) int {
	if fn, called := facts.Successor(l.Test); fn.Line > 0 && !called {
		return fn.Line
	}
	return 0
}

func findDeleted(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, l := range lostTests.Of(c) {
		if l.how != byDeletion || l.nested {
			continue
		}
		f := facts.Finding{File: l.Side.Path, Line: l.Line, Test: l.Name, Evidence: facts.Evidence(l.Side.LineAt(l.Line)), ExplainedBy: l.ExplainedBy}
		if c.Plausible(l.Loss) {
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	return out
}

// findFileDeleted reports the tests of a deleted file as one finding.
func findFileDeleted(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	byFile := map[*facts.ChangedFile][]facts.Loss{}
	var order []*facts.ChangedFile
	for _, l := range lostTests.Of(c) {
		if l.how == byFileDeletion && l.Parent == nil {
			if byFile[l.File] == nil {
				order = append(order, l.File)
			}
			byFile[l.File] = append(byFile[l.File], l.Loss)
		}
	}
	for _, f := range order {
		var names []string
		by, plausible := "", 0
		for _, l := range byFile[f] {
			if by = l.ExplainedBy; by == "" {
				names = append(names, l.Name)
				if c.Plausible(l) {
					plausible++
				}
			}
		}
		if len(names) > 0 {
			by = ""
		}
		x := facts.Finding{File: f.Path, Test: first(names), Evidence: facts.Evidence(fileEvidence(len(byFile[f]), names)), ExplainedBy: by}
		if 2*plausible > len(names) {
			x.Severity = metric.Medium
		}
		out = append(out, x)
	}
	return out
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func fileEvidence(all int, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("%d tests, all found again or explained", all)
	}
	return fmt.Sprintf("%d of %d tests are nowhere else: %s", len(names), all, strings.Join(names, ", "))
}

func findRenamedOut(c *facts.Set) []facts.Finding { return lostAs(c, byRenamingOut) }

func findCommentedOut(c *facts.Set) []facts.Finding { return lostAs(c, byComment) }

// ofTypes matches assertions that only the compiler checks.
var ofTypes = regexp.MustCompile(`\b(?:expectTypeOf|expectType|assertType|expectAssignable|assert_type)\b`)

// onlyTypes reports whether a test asserts only types: it never fails when run.
func onlyTypes(t *facts.Test) bool {
	return len(t.Assertions) > 0 && !slices.ContainsFunc(t.Assertions, func(a string) bool { return !ofTypes.MatchString(a) })
}

func lostAs(c *facts.Set, want way) []facts.Finding {
	var out []facts.Finding
	for _, l := range lostTests.Of(c) {
		if l.how != want || l.nested {
			continue
		}
		text := l.where.LineAt(l.at)
		if l.at == 0 {
			text = "the file is now " + l.where.Path
		}
		f := facts.Finding{File: l.where.Path, Line: l.at, Test: l.Name, Evidence: facts.Evidence(text), ExplainedBy: l.ExplainedBy}
		f.Severity, f.SeverityIfRan = weightOfLoss(c, l)
		out = append(out, f)
	}
	return out
}

// weightOfLoss is the severity of a test that is still there but not run, 0 for that of
// the rule, and the severity if it is known to have run before.
func weightOfLoss(c *facts.Set, l lostTest) (severity, ifRan metric.Severity) {
	where := l.File.After()
	switch {
	case c.LeavesDiscovery(l.File) && c.SuiteMoved(l.File), l.how == byComment && onlyTypes(l.Test):
		return metric.High, 0
	case l.how == byComment && (remarkAbove(l.File, l.at) || c.Plausible(l.Loss)):
		return metric.High, metric.Critical
	case l.at == 0 && !facts.PutAway(where.Path) && where.Language() == l.Side.Language() && !facts.DiscoveredByName(where.Language()):
		return metric.High, 0 // it may still be built
	}
	return 0, 0
}
