package assertions

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findRewrittenValues finds assertions whose literals changed and nothing else.
func findRewrittenValues(c *facts.Change, d assertionDiff, report facts.Report) {
	for _, r := range d.revised {
		if !r.differsOnlyInLiterals() || r.after.Trivial || !r.changesValue() {
			continue
		}
		f := d.finding(r.after, r.before.Text+" → "+r.after.Text)
		if r.changesOnlyWait() {
			f.Severity = metric.Low
		} else if isExplainedRewrite(c, d, r) {
			f.Severity = metric.Medium
		}
		report(f)
	}
}

// isExplainedRewrite reports whether something in the change may be the reason why an assertion
// expects another value.
func isExplainedRewrite(c *facts.Change, d assertionDiff, r revision) bool {
	if facts.TouchesSource.Of(c) && !isIsolatedRewrite(c, d, r) || r.isShortened() || d.isReworked() {
		return true
	}
	return countsNewFiles(c, r) || areInputsChanged(c, d.Before) || isReplacedInManyTests(c, literalReplacements(r.before.Literals, r.after.Literals))
}

// waitCallRE matches calls that say how long a test waits, as in sleep(100).
var waitCallRE = regexp.MustCompile(`(?i)\b((?:set)?timeout|after|sleep|wait|delay|ofmillis|ofseconds)\(\s*[\d._]+\w?\s*\)`)

// changesOnlyWait reports whether only the waiting time of an assertion changed.
func (r revision) changesOnlyWait() bool {
	before, after := waitCallRE.ReplaceAllString(r.before.Text, "$1()"), waitCallRE.ReplaceAllString(r.after.Text, "$1()")
	return facts.RemoveSpace(before) == facts.RemoveSpace(after) && r.before.Text != r.after.Text
}

// minInputName is the length in bytes from which a file name is distinctive.
const minInputName = 5

// areInputsChanged reports whether a file changed that a test names and reads, and that is neither
// code nor expected output.
func areInputsChanged(c *facts.Change, t *facts.Test) bool {
	body := sync.OnceValue(func() string { return t.Side.TextWithAnnotations(t.TestDef) })
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		name := path.Base(f.Path)
		isEdited := !f.Added && !f.Deleted && f != t.File && f.HasChangedLines()
		isOutput := facts.GoldenFileRE.MatchString(f.Path) || configtext.DetectKind(f.Path, nil) != configtext.None
		return isEdited && !isOutput && len(name) >= minInputName && isTestInput(f) && strings.Contains(body(), name)
	})
}

// isTestInput reports whether a file belongs to tests but is not one.
func isTestInput(f *facts.ChangedFile) bool {
	return f.BelongsToTests() && !f.After().IsTestFile()
}

// countsNewFiles reports whether each expected number rose by at most the number of new files that
// tests read. Then the test may count them.
func countsNewFiles(c *facts.Change, r revision) bool {
	newFiles := facts.Count(c.Files, func(f *facts.ChangedFile) bool { return f.Added && isTestInput(f) })
	return slices.EqualFunc(literalValues(r.before.Literals), literalValues(r.after.Literals), func(before, after string) bool {
		if before == after {
			return true
		}
		a, errA := strconv.Atoi(before)
		b, errB := strconv.Atoi(after)
		areNumbers := errA == nil && errB == nil
		return areNumbers && b >= a && b-a <= newFiles
	})
}

// findChangedLiterals finds tests in which only literals outside of assertions changed: expected
// values or inputs.
func findChangedLiterals(c *facts.Change, p facts.Pair, report facts.Report) {
	removed, added := changedLiterals(p)
	if len(removed) == 0 || slices.Equal(literalValues(removed), literalValues(added)) {
		return
	}
	f := p.After.NewFinding(p.After.Line, "only values changed: "+strings.Join(removed, ", "))
	touchesSource := facts.TouchesSource.Of(c)
	switch {
	case touchesSource && !areArgumentsOfSubject(c, p, removed), areOnlyMessages(p, removed):
		f.Severity = metric.Low
	case touchesSource, !areExpectedValues(p, removed), areInputsChanged(c, p.Before), isReplacedInManyTests(c, literalReplacements(removed, added)):
		f.Severity = metric.Medium
	}
	report(f)
}

// areArgumentsOfSubject reports whether literals are arguments of the function that a test is
// about, and the function did not change. Then the input was made to fit the code.
func areArgumentsOfSubject(c *facts.Change, p facts.Pair, literals []string) bool {
	if callsChangedFunction(c, p.Before) || changesSubjectOf(c, p.After.Side.Path) {
		return false
	}
	tested := testedFunctions(p.Before)
	return slices.ContainsFunc(removedLinesWith(p, literals), func(l facts.Line) bool { return callsAny(codeOfLine(p.Before, l), tested) })
}

// changedLiterals returns the literals of a test that differ, sorted. It returns nil if anything
// else differs, or if assertions do.
func changedLiterals(p facts.Pair) (removed, added []string) {
	isEdited := p.MatchedBy != facts.MatchedByBody && p.Before.Parent == nil && len(p.Before.Assertions) > 0
	if !isEdited || !slices.Equal(p.Before.Assertions, p.After.Assertions) {
		return nil, nil
	}
	removed, ok := differingLiterals(p.Before.Tokens, p.After.Tokens)
	if !ok {
		return nil, nil
	}
	added, _ = differingLiterals(p.After.Tokens, p.Before.Tokens)
	return removed, added
}

// changesValue reports whether the literals of an assertion have other values, and not only another
// notation.
func (r revision) changesValue() bool {
	return !slices.Equal(literalValues(r.before.Literals), literalValues(r.after.Literals))
}

// escapeReplacer removes the escapes that one notation of a string needs and another does not.
var escapeReplacer = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `""`, `"`, `\\`, `\`)

// typedNumberRE matches a number followed by letters for its type: 1.5D and 1L.
var typedNumberRE = regexp.MustCompile(`^(-?\d[\d.]*(?:[eE][+-]?\d+)?)(?:[dDfFmM]|[uUlL]{1,3})$`)

// literalValues returns what literals mean, without their notation: quotes, prefixes, escapes,
// white space, case, and the separators of numbers.
func literalValues(literals []string) []string {
	out := make([]string, len(literals))
	for i, l := range literals {
		if at := strings.IndexAny(l, "\"'`"); at >= 0 && at <= 2 {
			l = strings.Trim(l[at:], "\"'`#")
			l = strings.ToLower(strings.Join(strings.Fields(escapeReplacer.Replace(l)), " "))
		} else {
			l = typedNumberRE.ReplaceAllString(strings.ReplaceAll(l, "_", ""), "$1")
		}
		out[i] = l
	}
	return out
}

// minTextPart is the length in bytes from which on a part of a text says what is expected.
const minTextPart = 8

// isShortened reports whether the text that an assertion looks for is a part of what it was. That
// is weaker, but still says what is expected.
func (r revision) isShortened() bool {
	if r.before.Strength == source.Exact {
		return false
	}
	return slices.EqualFunc(literalValues(r.before.Literals), literalValues(r.after.Literals), func(before, after string) bool {
		isLongEnough := len(after) >= minTextPart && 3*len(after) >= len(before)
		return before == after || isLongEnough && strings.Contains(before, after)
	})
}

// literalReplacements returns what was replaced in each literal that differs, without the common
// prefix and suffix. Each element has the old and the new part, separated by a zero byte.
func literalReplacements(before, after []string) []string {
	var out []string
	for i := range min(len(before), len(after)) {
		a, b := before[i], after[i]
		if a == b {
			continue
		}
		for a != "" && b != "" && a[0] == b[0] {
			a, b = a[1:], b[1:]
		}
		for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
			a, b = a[:len(a)-1], b[:len(b)-1]
		}
		out = append(out, a+"\x00"+b)
	}
	return out
}

// minRenamedTests is the number of tests from which on the same replacement is a renaming.
const minRenamedTests = 3

// replacementTests are the tests in which each replacement of literals was made, by the
// replacement.
var replacementTests = facts.Define(func(c *facts.Change) map[string]map[*facts.Test]bool {
	out := map[string]map[*facts.Test]bool{}
	add := func(t *facts.Test, list []string) {
		for _, e := range list {
			if out[e] == nil {
				out[e] = map[*facts.Test]bool{}
			}
			out[e][t] = true
		}
	}
	for _, d := range assertionDiffs.Of(c) {
		for _, r := range d.revised {
			add(d.After, literalReplacements(r.before.Literals, r.after.Literals))
		}
	}
	for _, p := range facts.Tests.Of(c).Pairs {
		add(p.After, literalReplacements(changedLiterals(p)))
	}
	return out
})

// isReplacedInManyTests reports whether one of the replacements was made in several tests.
func isReplacedInManyTests(c *facts.Change, list []string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return len(replacementTests.Of(c)[e]) >= minRenamedTests })
}

var (
	// failureMessageLineRE matches lines that say why a test failed, as in t.Errorf(.
	failureMessageLineRE = regexp.MustCompile(`\bt\.(?:Error|Fatal|Log|Skip)f?\(|\bfail\w*\(|\bXCTFail\(|\bprint\w*[!(]|\bconsole\.|\blog\w*\.`)
	// timingRE matches lines about how long something takes, such as "timeout = 5".
	timingRE = regexp.MustCompile(`(?i)time_?out|sleep|delay|millis|seconds?\b|duration|\bwait|interval|\btick|expires|time\(|timer`)
	// expectedNameRE matches names of what is expected, such as wantTotal.
	expectedNameRE = regexp.MustCompile(`(?i)want|expect|\bexp\b|golden|correct|should`)
	// assignedNameRE matches the name to which a line assigns: "total" of "total := 3".
	assignedNameRE = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?::=|=|:)(?:[^=]|$)`)
	// timerEndRE matches the end of what a timer runs: "}, 10);".
	timerEndRE = regexp.MustCompile(`^\s*\}\)?,\s*[\d_]+\s*\)`)
)

// removedLinesWith returns the lines that a test lost and that have one of the literals.
func removedLinesWith(p facts.Pair, literals []string) []facts.Line {
	return facts.Filter(p.Before.File.RemovedLines(), func(l facts.Line) bool {
		return p.Before.Contains(l.Number) && slices.ContainsFunc(literals, func(literal string) bool {
			firstLine, _, _ := strings.Cut(strings.Trim(literal, "\"'`"), "\n")
			return strings.Contains(l.Text, firstLine)
		})
	})
}

// areOnlyMessages reports whether literals occur only where a failure is described, or where the
// test waits for something.
func areOnlyMessages(p facts.Pair, literals []string) bool {
	lines := removedLinesWith(p, literals)
	return len(lines) > 0 && facts.All(lines, func(l facts.Line) bool {
		return failureMessageLineRE.MatchString(l.Text) || timingRE.MatchString(l.Text) || timerEndRE.MatchString(l.Text)
	})
}

// areExpectedValues reports whether one of the literals is what a test expects: a name in an
// assertion has it as its value, or it is in a table.
func areExpectedValues(p facts.Pair, literals []string) bool {
	tables := facts.FindTables(p.Before.Side)
	return slices.ContainsFunc(removedLinesWith(p, literals), func(l facts.Line) bool {
		if expectedNameRE.MatchString(l.Text) || isInTable(tables, l.Number) {
			return true
		}
		m := assignedNameRE.FindStringSubmatch(l.Text)
		return m != nil && isAsserted(p.Before, m[1])
	})
}

// isReworked reports whether other lines of a test than assertions and messages were both removed
// and added.
func (d assertionDiff) isReworked() bool {
	names := renamedNames(d.Before.Tokens, d.After.Tokens)
	addedLines := linesInTest(d.After, d.After.File.AddedLines())
	added := facts.SetOf(addedLines, func(l facts.Line) string { return facts.RemoveSpace(l.Text) })
	addsOtherLine := slices.ContainsFunc(addedLines, func(l facts.Line) bool { return !isPartOfAssertion(d.After, l) })
	return addsOtherLine && slices.ContainsFunc(linesInTest(d.Before, d.Before.File.RemovedLines()), func(l facts.Line) bool {
		return !isPartOfAssertion(d.Before, l) && !added[facts.RemoveSpace(replaceNames(l.Text, names))]
	})
}

// isPartOfAssertion reports whether a line is part of an assertion of a test, a message or
// a comment.
func isPartOfAssertion(t *facts.Test, l facts.Line) bool {
	code := facts.RemoveSpace(t.Side.LinesWithoutComments(l.Number, l.Number))
	if code == "" || failureMessageLineRE.MatchString(l.Text) {
		return true
	}
	code = strings.TrimRight(strings.TrimPrefix(code, "if"), "{;,:")
	return slices.ContainsFunc(t.Assertions, func(a string) bool { return strings.Contains(facts.RemoveSpace(a), code) })
}

// differingLiterals returns the tokens of before that after has less often, sorted. It is false if
// the bodies differ in names, or in the number of literals.
func differingLiterals(before, after map[string]int) ([]string, bool) {
	var removed []string
	n := 0
	for token, k := range before {
		if after[token] == k {
			continue
		}
		if facts.IsName(token) {
			return nil, false
		}
		if d := k - after[token]; d > 0 {
			removed, n = append(removed, token), n+d
		}
	}

	for token, k := range after {
		if before[token] != k && facts.IsName(token) {
			return nil, false
		}
		n -= max(k-before[token], 0)
	}

	slices.Sort(removed)
	return removed, n == 0
}
