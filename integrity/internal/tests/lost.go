package tests

import (
	"fmt"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// lossKind is how a test was lost.
type lossKind int

const (
	lostByDeletion     lossKind = iota // the test is gone, but not its file
	lostByFileDeletion                 // the file is gone
	lostByRenaming                     // runners do not find its new name
	lostByComment                      // it is commented out
	lostByChoice                       // it is defined under a condition now, see findChosenSkips
)

// lostTest is a test that is gone: how, and where that shows.
type lostTest struct {
	facts.Loss
	kind   lossKind
	side   *facts.Side // the file that shows it
	line   int         // the line of side that shows it; 0 for the entire file
	nested bool        // the test around it is lost, too, and reported instead
}

// lostTests are the tests that are gone, in the order in which they were defined.
var lostTests = facts.Define(func(c *facts.Change) []lostTest {
	var out []lostTest
	seen := map[*facts.Test]bool{}
	for _, l := range facts.Tests.Of(c).Lost {
		t := lostTest{Loss: l}
		t.kind, t.side, t.line = classifyLoss(c, l)
		for p := l.Parent; p != nil; p = p.Parent {
			t.nested = t.nested || seen[p]
		}
		seen[l.Test] = true
		out = append(out, t)
	}
	return out
})

// classifyLoss returns how a test was lost, and the file and the line that show it.
func classifyLoss(c *facts.Change, l facts.Loss) (lossKind, *facts.Side, int) {
	after := l.File.After()
	if l.ExplainedBy == facts.ExplainedByNoChecks {
		return lostByDeletion, l.Side, l.Line
	}
	if line := chosenLine(l); line > 0 {
		return lostByChoice, after, line
	}
	if line := commentedOutLine(l); line > 0 {
		return lostByComment, after, line
	}
	if line := renamedOutLine(l); line > 0 {
		return lostByRenaming, after, line
	}
	switch {
	case after.Exists() && c.LeavesDiscovery(l.File) && containsMostLines(l, after):
		return lostByRenaming, after, 0
	case l.File.Deleted:
		return lostByFileDeletion, l.Side, 0
	}
	return lostByDeletion, l.Side, l.Line
}

// codeLines returns the lines of a lost test without comments, except very short ones.
func codeLines(l facts.Loss) []string {
	var out []string
	for n := l.Line; n <= l.End; n++ {
		if code := stripComment(l.Side.LineAt(n)); len(code) > 3 {
			out = append(out, code)
		}
	}
	return out
}

// stripLine is stripComment for a line with its number.
func stripLine(l facts.Line) string { return stripComment(l.Text) }

// containsMostLines reports whether a file contains at least half of the lines of a lost test. A
// renamed file with nearly the same text may be a different one.
func containsMostLines(l facts.Loss, s *facts.Side) bool {
	there := facts.SetOf(s.Lines(), stripLine)
	all := codeLines(l)
	return 2*facts.Count(all, func(code string) bool { return there[code] }) >= len(all)
}

// commentedOutLine returns the first line of comment with code of a lost test, if comments have at
// least half of that code now. Otherwise it returns 0.
func commentedOutLine(l facts.Loss) int {
	after := l.File.After()
	if !after.Exists() || after.Language() == source.Unknown {
		return 0
	}
	wanted := facts.SetOf(codeLines(l), func(code string) string { return code })
	oldComments := facts.SetOf(l.File.Before().CommentLines(), stripLine) // these say nothing

	found := facts.Filter(after.CommentLines(), func(line facts.Line) bool {
		return wanted[stripLine(line)] && !oldComments[stripLine(line)]
	})
	if len(found) > 0 && 2*len(facts.SetOf(found, stripLine)) >= len(wanted) {
		return found[0].Number
	}
	return 0
}

// deferralNoteRE matches a note in front of commented-out code, as in "TODO: ".
var deferralNoteRE = regexp.MustCompile(`^(?:OLD|TODO|DISABLED|WIP|BROKEN|FLAKY|FIXME|SKIP|TEMP)\b:?\s*`)

// stripComment returns a line without indentation, marks of comments and a note.
func stripComment(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"//", "#", "/*", "*", "--", `"""`, "'''", ";"} {
		s = strings.TrimPrefix(s, mark)
	}
	s = strings.TrimSuffix(s, "*/")
	return strings.TrimSpace(deferralNoteRE.ReplaceAllString(strings.TrimSpace(s), ""))
}

// renamedOutLine returns the line of a function that has the body of a lost test and that nothing
// calls, 0 if there is none.
func renamedOutLine(l facts.Loss) int {
	if fn, called := facts.FindSuccessor(l.Test); fn.Line > 0 && !called {
		return fn.Line
	}
	return 0
}

// finding returns the finding about a lost test, with a text that shows the loss.
func (l lostTest) finding(text string) facts.Finding {
	return facts.Finding{File: l.side.Path, Line: l.line, Test: l.Name, Evidence: facts.ShortenEvidence(text), ExplainedBy: l.ExplainedBy}
}

// findDeletedTests finds tests that were deleted from a file that still exists.
func findDeletedTests(c *facts.Change, l lostTest, report facts.Report) {
	if l.kind != lostByDeletion || l.nested {
		return
	}
	f := l.finding(l.side.LineAt(l.line))
	if c.IsPlausibleRemoval(l.Loss) {
		f.Severity = metric.Medium
	}
	report(f)
}

// findDeletedFiles finds deleted test files. The tests of one file are one finding.
func findDeletedFiles(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	lost := facts.Filter(lostTests.Of(c), func(l lostTest) bool {
		return l.File == f && l.kind == lostByFileDeletion && l.Parent == nil
	})
	if len(lost) == 0 {
		return
	}
	unexplained := facts.Filter(lost, func(l lostTest) bool { return l.ExplainedBy == "" })
	if len(unexplained) == 0 {
		finding := f.NewFinding(0, fmt.Sprintf("%d tests, all found again or explained", len(lost)))
		finding.ExplainedBy = lost[len(lost)-1].ExplainedBy
		report(finding)
		return
	}

	names := facts.Map(unexplained, func(l lostTest) string { return l.Name })
	finding := f.NewFinding(0, fmt.Sprintf("%d of %d tests are nowhere else: %s", len(names), len(lost), strings.Join(names, ", ")))
	finding.Test = names[0]
	if plausible := facts.Count(unexplained, func(l lostTest) bool { return c.IsPlausibleRemoval(l.Loss) }); 2*plausible > len(names) {
		finding.Severity = metric.Medium
	}
	report(finding)
}

// lossRule returns the function that finds the tests that were lost in one way and still exist.
func lossRule(kind lossKind) func(*facts.Change, lostTest, facts.Report) {
	return func(c *facts.Change, l lostTest, report facts.Report) {
		if l.kind != kind || l.nested {
			return
		}
		text := l.side.LineAt(l.line)
		if l.line == 0 {
			text = "the file is now " + l.side.Path
		}
		f := l.finding(text)
		f.Severity, f.SeverityIfRan = lossSeverity(c, l)
		report(f)
	}
}

// typeAssertionRE matches assertions that only the compiler checks, such as expectTypeOf(x).
var typeAssertionRE = regexp.MustCompile(`\b(?:expectTypeOf|expectType|assertType|expectAssignable|assert_type)\b`)

// assertsOnlyTypes reports whether a test asserts only types, so that running it checks nothing.
func assertsOnlyTypes(t *facts.Test) bool {
	return len(t.Assertions) > 0 && facts.All(t.Assertions, typeAssertionRE.MatchString)
}

// lossSeverity returns the severity of a test that still exists but is not run, 0 for that of the
// rule. ifRan is the severity if the test is known to have run before; 0 if it is the same.
func lossSeverity(c *facts.Change, l lostTest) (severity, ifRan metric.Severity) {
	where := l.File.After()
	switch {
	case c.LeavesDiscovery(l.File) && c.MovedToNewSuite(l.File), l.kind == lostByComment && assertsOnlyTypes(l.Test):
		return metric.High, 0
	case l.kind == lostByComment && (hasRemarkAbove(l.File, l.line) || c.IsPlausibleRemoval(l.Loss)):
		return metric.High, metric.Critical
	case l.line == 0 && !facts.IsInUnusedFolder(where.Path) && where.Language() == l.Side.Language() && !facts.DiscoversByName(where.Language()):
		return metric.High, 0 // it may still be built
	}
	return 0, 0
}
