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

// findRemovedRows finds tables of tests that have fewer rows than before.
func findRemovedRows(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range c.Files {
		before, after := f.Before(), f.After()
		if !before.MayTest() || !after.MayTest() {
			continue
		}
		for _, x := range fewerRows(c, before, after) {
			if !slices.Contains(out, x) { // one list may be read in two ways
				out = append(out, x)
			}
		}
		out = append(out, emptyLoops(f)...)
	}
	return out
}

// fewerRows compares the tables of a file, those in one test with each other.
func fewerRows(c *facts.Set, before, after *facts.Side) []facts.Finding {
	var out []facts.Finding
	now := facts.TablesOf(after)
	for _, b := range facts.TablesOf(before) {
		if len(b.Keys) < 2 || fields(b) || b.Test != nil && isLost(c, b.Test, before) {
			continue
		}
		best, most := -1, 0
		for i, a := range now {
			if n := commonRows(b, a); n > most {
				best, most = i, n
			}
		}
		kept := 0
		if best >= 0 {
			kept = len(now[best].Keys)
			if kept >= len(b.Keys) {
				continue
			}
		} else if !emptied(b, now, before, after) {
			continue
		}
		if !stillIn(b, after) {
			out = append(out, rowFinding(c, b, now, best, after))
		}
	}
	return out
}

// stillIn reports whether all rows still occur in a file one after another, although the
// scanner no longer sees a list: their keys lost their quotes.
func stillIn(t facts.Table, s *facts.Side) bool {
	return len(t.Keys) > 1 && facts.QuotedKey.MatchString(facts.Notation.Replace(facts.Squash(t.Rows[0]))) &&
		strings.Contains(facts.InNotation(string(s.WithoutComments())), strings.Join(t.Keys, ","))
}

// fewRows is the divisor for the share of rows that a table may lose when the source
// changed as well.
const fewRows = 3

func rowFinding(c *facts.Set, b facts.Table, now []facts.Table, best int, after *facts.Side) facts.Finding {
	f := facts.Finding{File: after.Path, Line: 0}
	var gone []string
	kept := 0
	if best >= 0 {
		kept, f.Line = len(now[best].Keys), now[best].Line
	}
	for i, row := range b.Keys {
		if best < 0 || !slices.Contains(now[best].Keys, row) {
			gone = append(gone, b.Rows[i])
		}
	}
	if b.Test != nil {
		f.Test = b.Test.Name
	} else { // maybe no table of a test at all
		f.Severity = metric.Medium
	}
	f.Evidence = facts.Evidence(fmt.Sprintf("%d of %d rows are left; gone: %s", kept, len(b.Keys), strings.Join(gone, " · ")))
	f.ExplainedBy = whyRowsGone(c, gone, b)
	if fewRows*len(gone) <= len(b.Keys) && facts.TouchesSource.Of(c) || unrolled(c, b, after) {
		f.Severity = metric.Medium
	}
	return f
}

// unrolled reports whether product code changed and a new test, not a copy, has a name
// similar to that of the test that lost rows: each case has its own test now.
func unrolled(c *facts.Set, b facts.Table, after *facts.Side) bool {
	inv := facts.Tests.Of(c)
	return b.Test != nil && c.TouchesProduct() && slices.ContainsFunc(inv.Added, func(t *facts.Test) bool {
		return t.Side == after && !t.NeverRuns() && inv.Models[t].Similarity < facts.CopyEnough && len(t.Assertions) > len(facts.Tautologies(t)) && facts.CommonInNames(&facts.Test{TestDef: b.Test}, t) >= facts.LeastInName
	})
}

// whyRowsGone explains rows that are in another place, or whose subject is gone.
func whyRowsGone(c *facts.Set, gone []string, b facts.Table) string {
	added := facts.AddedTestCode.Of(c)
	n, without := 0, 0
	names := facts.GoneNames.Of(c)
	for _, row := range gone {
		if r := facts.Squash(row); len(r) > 6 && strings.Contains(added, strings.TrimSuffix(strings.Trim(r, "(){}[]"), ",")) {
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
	case len(gone) > 0 && 2*n >= len(gone):
		return facts.ByAbsorbed
	case len(gone) > 0 && 2*without >= len(gone):
		return facts.BySubject
	case b.Test != nil && len(names) > 0 && c.SubjectGone(&facts.Test{TestDef: b.Test, Side: &facts.Side{Path: b.Path}}):
		return facts.BySubject
	}
	return ""
}

// field matches an element with the name of a field or a parameter before it.
var field = regexp.MustCompile(`^[A-Za-z_]\w*\s*(?:=|:)[^=:]`)

// fields reports whether a list is a value with named fields, or the arguments of a
// call, rather than a table.
func fields(t facts.Table) bool {
	n := 0
	for _, r := range t.Rows {
		if field.MatchString(r) {
			n++
		}
	}
	return 2*n > len(t.Rows)
}

// commonRows counts the rows that two tables of the same test have in common.
func commonRows(a, b facts.Table) int {
	if (a.Test == nil) != (b.Test == nil) || a.Test != nil && a.Test.Name != b.Test.Name {
		return 0
	}
	n := 0
	for _, r := range a.Keys {
		if slices.Contains(b.Keys, r) {
			n++
		}
	}
	return n
}

func isLost(c *facts.Set, t *source.TestDef, s *facts.Side) bool {
	return slices.ContainsFunc(facts.Tests.Of(c).Lost, func(l facts.Loss) bool { return l.Side == s && l.Line == t.Line })
}

// emptyLiteral matches a literal without rows.
var emptyLiteral = regexp.MustCompile(`\[\s*\]|\{\s*\}|(?:=|\bin|,)\s*\(\s*\)`)

// rowMark matches the rows that are annotations, otherRows annotations that
// name where rows come from.
var (
	rowMark   = regexp.MustCompile(`^(?:InlineData|TestCase|DataRow|case|test_case|TestWith|Arguments)\s*\(`)
	otherRows = regexp.MustCompile(`\b(?:\w+Data|\w+Source|DataRow|TestCase|case|test_case|TestWith\w*|Arguments|values|files|Values|Range|Combinatorial|Random)\b|@dataProvider`)
)

// emptied reports whether a table lost all rows: its test is still there, and now has an
// empty literal.
func emptied(t facts.Table, now []facts.Table, before, after *facts.Side) bool {
	if t.Test == nil || replaced(t, now, before) {
		return false
	}
	for _, d := range after.Source().Tests {
		if d.Name != t.Test.Name {
			continue
		}
		from := max(d.Line-6, 1)
		was, is := without(t, before, before.HeadOf(t.Test), t.Test.End), after.MaskedRange(after.HeadOf(&d), d.End)
		if rowMark.MatchString(t.Rows[0]) {
			return !otherRows.MatchString(after.MaskedRange(from, d.Line+1))
		}
		if t.End < before.HeadOf(t.Test) || t.Line > t.Test.End { // of a provider
			was, is = without(t, before, 1, len(before.Starts())), string(after.WithoutStrings())
		}
		return len(d.Assertions) >= len(t.Test.Assertions) &&
			len(emptyLiteral.FindAllString(is, -1)) > len(emptyLiteral.FindAllString(was, -1))
	}
	return false
}

// without returns some lines of the text that contains a table, without rows that have
// their own lines.
func without(t facts.Table, s *facts.Side, from, to int) string {
	if t.Line == t.End {
		return s.MaskedRange(from, to)
	}
	return s.MaskedRange(from, t.Line) + "…" + s.MaskedRange(max(t.End, from), to)
}

// replaced reports whether the test of a table now has a different, new table.
func replaced(t facts.Table, now []facts.Table, before *facts.Side) bool {
	had := facts.TablesOf(before)
	return slices.ContainsFunc(now, func(a facts.Table) bool {
		return a.Test != nil && a.Test.Name == t.Test.Name && len(a.Keys) > 1 &&
			!slices.ContainsFunc(had, func(o facts.Table) bool { return slices.Equal(o.Keys, a.Keys) })
	})
}

// noRows matches loops over nothing.
var noRows = regexp.MustCompile(`\[\s*0?\s*:\s*0\s*\]|\.slice\(\s*0\s*,\s*0\s*\)|\.(?:take|first|limit|Take)\(\s*0\s*\)|\[\s*\]\.(?:forEach|each|map)\b(?:[^)]|$)|\bin\s+\[\s*\]\s*:|\brange\(\s*0\s*\)|\[\.\.0\]|\[0\.\.0\]|\[0, 0\]\.each|\[\]\s*\.each|\.each\(\s*\[\s*\]\s*\)|parametrize\([^\n]*,\s*(?:\[\s*\]|\(\s*\))\s*[,)]`)

// firstRows matches an expression for the first few elements of a list.
var firstRows = regexp.MustCompile(`\[\s*0?\s*:\s*[1-3]\s*\]|\.(?:slice|Slice)\(\s*0\s*,\s*[1-3]\s*\)|\.(?:iter\(\)\.)?(?:take|first|limit|Take)\(\s*[1-3]\s*\)|\.prefix\(\s*[1-3]\s*\)`)

// cutShort reports whether a loop now covers only the first few rows, and is otherwise
// unchanged.
func cutShort(f *facts.ChangedFile, text string) bool {
	m := firstRows.FindStringIndex(text)
	if m == nil {
		return false
	}
	want := facts.Squash(text[:m[0]] + text[m[1]:])
	return slices.ContainsFunc(f.RemovedLines(), func(l facts.Line) bool { return facts.Squash(l.Text) == want })
}

// emptyLoops finds loops over nothing, or cut short, that were added to existing
// test files.
func emptyLoops(f *facts.ChangedFile) []facts.Finding {
	s := f.After()
	if !s.MayTest() {
		return nil
	}
	masked := facts.Lines(s.WithoutStrings())
	for _, l := range f.AddedLines() {
		if l.Number > len(masked) || !loops.MatchString(masked[l.Number-1].Text) {
			continue
		}
		text := masked[l.Number-1].Text
		if !(noRows.MatchString(text) && noRows.MatchString(l.Text) && strings.ContainsAny(text, "[(")) && !cutShort(f, l.Text) {
			continue
		}
		return []facts.Finding{s.FindingAt(l.Number, l.Text)}
	}
	return nil
}

// loops matches what goes through a list.
var loops = regexp.MustCompile(`\bfor\b|\.(?:forEach|each|map|iter)\b|parametrize|\brange\b`)
