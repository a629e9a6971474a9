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

// findRemovedRows finds tables of tests that have fewer rows than before, and loops over tables
// that were cut short.
func findRemovedRows(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	before, after := f.Before(), f.After()
	if !before.MayHoldTests() || !after.MayHoldTests() {
		return
	}
	reported := map[facts.Finding]bool{} // one list may be read in two ways
	for _, x := range findFewerRows(c, before, after) {
		if !reported[x] {
			reported[x] = true
			report(x)
		}
	}
	findEmptyLoops(f, report)
}

// findFewerRows compares each table of a file with the table of the same test that has most rows in
// common with it.
func findFewerRows(c *facts.Change, before, after *facts.Side) []facts.Finding {
	var out []facts.Finding
	now := facts.FindTables(after)
	for _, b := range facts.FindTables(before) {
		if len(b.Keys) < 2 || hasNamedElements(b) || b.Test != nil && isLost(c, b.Test, before) {
			continue
		}

		best, bestScore := -1, 0
		for i, a := range now {
			if n := countCommonRows(b, a); n > bestScore {
				best, bestScore = i, n
			}
		}

		kept := 0
		if best >= 0 {
			kept = len(now[best].Keys)
			if kept >= len(b.Keys) {
				continue
			}
		} else if !isTableEmptied(b, now, before, after) {
			continue
		}

		if !hasAllRows(b, after) {
			out = append(out, removedRowsFinding(c, b, now, best, after))
		}
	}
	return out
}

// hasAllRows reports whether all rows of a table still occur in a file, one after another. The
// scanner may no longer see a list because the keys lost their quotes.
func hasAllRows(t facts.Table, s *facts.Side) bool {
	return len(t.Keys) > 1 && facts.QuotedKeyRE.MatchString(facts.NotationReplacer.Replace(facts.RemoveSpace(t.Rows[0]))) &&
		strings.Contains(facts.NormalizeNotation(string(s.WithoutComments())), strings.Join(t.Keys, ","))
}

// maxLostShare is the divisor for the share of rows that a table may lose if the source changed as
// well: a third.
const maxLostShare = 3

// removedRowsFinding returns the finding about a table that lost rows. best is the index in now of
// the table in its place, -1 if there is none.
func removedRowsFinding(c *facts.Change, b facts.Table, now []facts.Table, best int, after *facts.Side) facts.Finding {
	f := facts.Finding{File: after.Path, Line: 0}
	var removed []string
	kept := 0
	if best >= 0 {
		kept, f.Line = len(now[best].Keys), now[best].Line
	}

	for i, row := range b.Keys {
		if best < 0 || !slices.Contains(now[best].Keys, row) {
			removed = append(removed, b.Rows[i])
		}
	}

	if b.Test != nil {
		f.Test = b.Test.Name
	} else { // maybe no table of a test at all
		f.Severity = metric.Medium
	}

	f.Evidence = facts.ShortenEvidence(fmt.Sprintf("%d of %d rows are left; gone: %s", kept, len(b.Keys), strings.Join(removed, " · ")))
	f.ExplainedBy = explainRemovedRows(c, removed, b)
	if maxLostShare*len(removed) <= len(b.Keys) && facts.TouchesSource.Of(c) || isUnrolled(c, b, after) {
		f.Severity = metric.Medium
	}
	return f
}

// isUnrolled reports whether product code changed, and a new test, which is not a copy, has a name
// similar to that of the test that lost rows. Then each case may have a separate test now.
func isUnrolled(c *facts.Change, b facts.Table, after *facts.Side) bool {
	inv := facts.Tests.Of(c)
	return b.Test != nil && c.TouchesProduct() && slices.ContainsFunc(inv.Added, func(t *facts.Test) bool {
		isCopy := inv.Closest[t].Similarity >= facts.MinCopySimilarity
		checksSomething := !t.NeverRuns() && len(t.Assertions) > len(facts.Tautologies(t))
		return t.Side == after && !isCopy && checksSomething && facts.CountCommonNameWords(&facts.Test{TestDef: b.Test}, t) >= facts.MinCommonNameWords
	})
}

// explainRemovedRows returns what makes the loss of rows harmless: they are in other test code, or
// their subject is gone. It returns "" if neither is true of half of them.
func explainRemovedRows(c *facts.Change, removed []string, b facts.Table) string {
	added := facts.AddedTestCode.Of(c)
	n, without := 0, 0
	names := facts.RemovedNames.Of(c)
	for _, row := range removed {
		if r := facts.RemoveSpace(row); len(r) > 6 && strings.Contains(added, strings.TrimSuffix(strings.Trim(r, "(){}[]"), ",")) {
			n++
		}
		for w := range facts.SubjectWords(row) {
			if len(w) > 2 && names[w] {
				without++
				break
			}
		}
	}

	switch {
	case len(removed) > 0 && 2*n >= len(removed):
		return facts.ExplainedByMove
	case len(removed) > 0 && 2*without >= len(removed):
		return facts.ExplainedBySubject
	case b.Test != nil && len(names) > 0 && c.IsSubjectRemoved(&facts.Test{TestDef: b.Test, Side: &facts.Side{Path: b.Path}}):
		return facts.ExplainedBySubject
	}
	return ""
}

// namedElementRE matches an element after the name of a field or a parameter, such as "size: 3".
var namedElementRE = regexp.MustCompile(`^[A-Za-z_]\w*\s*(?:=|:)[^=:]`)

// hasNamedElements reports whether most elements of a list have names, so that it is a value with
// fields or the arguments of a call rather than a table.
func hasNamedElements(t facts.Table) bool {
	return 2*facts.Count(t.Rows, namedElementRE.MatchString) > len(t.Rows)
}

// countCommonRows counts the rows that two tables have in common, 0 if they belong to different
// tests.
func countCommonRows(a, b facts.Table) int {
	isSameTest := a.Test == nil && b.Test == nil || a.Test != nil && b.Test != nil && a.Test.Name == b.Test.Name
	if !isSameTest {
		return 0
	}
	return facts.Count(a.Keys, func(key string) bool { return slices.Contains(b.Keys, key) })
}

// isLost reports whether a test, defined in a file before the change, is gone.
func isLost(c *facts.Change, t *source.TestDef, s *facts.Side) bool {
	return slices.ContainsFunc(facts.Tests.Of(c).Lost, func(l facts.Loss) bool { return l.Side == s && l.Line == t.Line })
}

// emptyLiteralRE matches a literal without rows, such as "[]" and "in ()".
var emptyLiteralRE = regexp.MustCompile(`\[\s*\]|\{\s*\}|(?:=|\bin|,)\s*\(\s*\)`)

// rowAnnotationRE matches a row that is an annotation, such as "InlineData(1, 2)". rowSourceRE
// matches an annotation that has rows or names their source, such as MethodSource.
var (
	rowAnnotationRE = regexp.MustCompile(`^(?:InlineData|TestCase|DataRow|case|test_case|TestWith|Arguments)\s*\(`)
	rowSourceRE     = regexp.MustCompile(`\b(?:\w+Data|\w+Source|DataRow|TestCase|case|test_case|TestWith\w*|Arguments|values|files|Values|Range|Combinatorial|Random)\b|@dataProvider`)
)

// isTableEmptied reports whether a table lost all rows: its test still exists, and has an empty
// literal that it did not have before.
func isTableEmptied(t facts.Table, now []facts.Table, before, after *facts.Side) bool {
	if t.Test == nil || isTableReplaced(t, now, before) {
		return false
	}
	for _, d := range after.Inspection().Tests {
		if d.Name != t.Test.Name {
			continue
		}
		from := max(d.Line-6, 1)
		was, is := linesWithoutRows(t, before, before.FirstAnnotationLine(t.Test), t.Test.End), after.LinesWithoutStrings(after.FirstAnnotationLine(&d), d.End)
		if rowAnnotationRE.MatchString(t.Rows[0]) {
			return !rowSourceRE.MatchString(after.LinesWithoutStrings(from, d.Line+1))
		}
		if t.End < before.FirstAnnotationLine(t.Test) || t.Line > t.Test.End { // of a provider
			was, is = linesWithoutRows(t, before, 1, len(before.LineOffsets())), string(after.WithoutStrings())
		}
		return len(d.Assertions) >= len(t.Test.Assertions) &&
			len(emptyLiteralRE.FindAllString(is, -1)) > len(emptyLiteralRE.FindAllString(was, -1))
	}
	return false
}

// linesWithoutRows returns some lines of the text that contains a table, without the lines between
// the first and the last of the table.
func linesWithoutRows(t facts.Table, s *facts.Side, from, to int) string {
	if t.Line == t.End {
		return s.LinesWithoutStrings(from, to)
	}
	return s.LinesWithoutStrings(from, t.Line) + "…" + s.LinesWithoutStrings(max(t.End, from), to)
}

// isTableReplaced reports whether the test of a table now has a different, new table.
func isTableReplaced(t facts.Table, after []facts.Table, before *facts.Side) bool {
	had := facts.FindTables(before)
	return slices.ContainsFunc(after, func(a facts.Table) bool {
		return a.Test != nil && a.Test.Name == t.Test.Name && len(a.Keys) > 1 &&
			!slices.ContainsFunc(had, func(old facts.Table) bool { return slices.Equal(old.Keys, a.Keys) })
	})
}

// emptyLoopRE matches what makes a loop run over nothing, such as cases[:0] and range(0).
var emptyLoopRE = regexp.MustCompile(`\[\s*0?\s*:\s*0\s*\]|\.slice\(\s*0\s*,\s*0\s*\)|\.(?:take|first|limit|Take)\(\s*0\s*\)|\[\s*\]\.(?:forEach|each|map)\b(?:[^)]|$)|\bin\s+\[\s*\]\s*:|\brange\(\s*0\s*\)|\[\.\.0\]|\[0\.\.0\]|\[0, 0\]\.each|\[\]\s*\.each|\.each\(\s*\[\s*\]\s*\)|parametrize\([^\n]*,\s*(?:\[\s*\]|\(\s*\))\s*[,)]`)

// truncatedLoopRE matches an expression for the first few elements of a list, such as [:2] and
// .slice(0, 1).
var truncatedLoopRE = regexp.MustCompile(`\[\s*0?\s*:\s*[1-3]\s*\]|\.(?:slice|Slice)\(\s*0\s*,\s*[1-3]\s*\)|\.(?:iter\(\)\.)?(?:take|first|limit|Take)\(\s*[1-3]\s*\)|\.prefix\(\s*[1-3]\s*\)`)

// isTruncated reports whether a line now takes only the first few elements of a list, and is
// otherwise unchanged.
func isTruncated(f *facts.ChangedFile, text string) bool {
	m := truncatedLoopRE.FindStringIndex(text)
	if m == nil {
		return false
	}
	want := facts.RemoveSpace(text[:m[0]] + text[m[1]:])
	return slices.ContainsFunc(f.RemovedLines(), func(l facts.Line) bool { return facts.RemoveSpace(l.Text) == want })
}

// findEmptyLoops finds the first added loop of a test file that runs over nothing, or was cut
// short.
func findEmptyLoops(f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	for _, l := range f.AddedLines() {
		text := s.MaskedAt(l.Number)
		isEmpty := emptyLoopRE.MatchString(text) && emptyLoopRE.MatchString(l.Text) && strings.ContainsAny(text, "[(")
		if loopRE.MatchString(text) && (isEmpty || isTruncated(f, l.Text)) {
			report(s.FindingAt(l.Number, l.Text))
			return
		}
	}
}

// loopRE matches what visits the elements of a list, such as "for" and .forEach.
var loopRE = regexp.MustCompile(`\bfor\b|\.(?:forEach|each|map|iter)\b|parametrize|\brange\b`)
