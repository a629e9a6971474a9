package tests

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findGuardedAssertions finds assertions that were always reached, and now only under a condition.
func findGuardedAssertions(_ *facts.Change, p facts.Pair, report facts.Report) {
	after := p.After.MarksWithin(source.Guard)
	if len(after) == 0 || p.After.Parent != nil || len(p.Before.Assertions) == 0 {
		return
	}
	before := p.Before.MarksWithin(source.Guard)
	after = slices.DeleteFunc(after, func(m source.Mark) bool {
		return isSkipLine(p.After, m.Line) || slices.ContainsFunc(before, func(old source.Mark) bool { return facts.RemoveSpace(old.Condition) == facts.RemoveSpace(m.Condition) })
	})
	if f, found := guardedAssertion(p, before, after); found {
		report(f)
	}
}

// isSkipLine reports whether a line skips the test, which another rule finds.
func isSkipLine(t *facts.Test, line int) bool {
	return slices.ContainsFunc(t.MarksCovering(source.Skip), func(m source.Mark) bool { return m.Line == line })
}

// guardedAssertion returns the finding about the first assertion of a test that is under one of the
// new conditions and was under none before. before and after are the conditions. It is false if
// there is none.
func guardedAssertion(p facts.Pair, before, after []source.Mark) (f facts.Finding, found bool) {
	free := map[string]int{} // assertions that were under no condition
	for _, a := range p.Before.LocatedAssertions() {
		if guardOf(before, a.Line) == nil {
			free[facts.RemoveSpace(a.Text)]++
		}
	}

	var open, under []facts.Assertion
	for _, a := range p.After.LocatedAssertions() {
		if guardOf(after, a.Line) == nil {
			open = append(open, a)
			free[facts.RemoveSpace(a.Text)]--
			continue
		}
		under = append(under, a)
	}

	for _, a := range under {
		m := guardOf(after, a.Line)
		if !wasUnguarded(free, facts.RemoveSpace(a.Text)) || !dependsOnSubject(p, *m, a) {
			continue
		}
		f := p.After.NewFinding(m.Line, m.Text+": "+a.Text)
		if len(open) > 0 {
			f.Severity = metric.Medium
		}
		return f, true
	}
	return f, false
}

// wasUnguarded reports whether an assertion was under no condition. A condition on the same line is
// part of the text of the assertion now.
func wasUnguarded(unguarded map[string]int, assertion string) bool {
	for text, n := range unguarded {
		hasSuffixCondition := strings.HasPrefix(assertion, text+"if") || strings.HasPrefix(assertion, text+"unless")
		hasPrefixCondition := strings.HasPrefix(assertion, "if") && strings.HasSuffix(assertion, text)
		if n > 0 && (text == assertion || hasSuffixCondition || hasPrefixCondition) {
			return true
		}
	}
	return false
}

// guardOf returns the innermost of the conditions that a line is under, nil for none.
func guardOf(marks []source.Mark, line int) *source.Mark {
	for i, m := range slices.Backward(marks) {
		if m.From <= line && line <= m.To {
			return &marks[i]
		}
	}
	return nil
}

// dependsOnSubject reports whether a condition depends on what the assertion checks, or on where
// the test runs. It is false for a condition on a new parameter or field of a table.
func dependsOnSubject(p facts.Pair, m source.Mark, a facts.Assertion) bool {
	if m.Condition == source.NotAwaited || facts.ConditionSeverity(m.Condition) == metric.High {
		return true
	}
	shared, about := false, facts.SubjectWords(a.Text)
	for w := range facts.CountWords(m.Condition) {
		if p.Before.Tokens[w] == 0 && facts.IsName(w) && !keywordRE.MatchString(w) && isParameter(p.After, w, m.Line) {
			return false
		}
		shared = shared || about[w] > 0
	}
	return shared
}

// keywordRE matches the words of a condition that are not names, such as "not" and "None".
var keywordRE = regexp.MustCompile(`(?i)^(?:none|null|nil|undefined|not|is|and|or|in|true|false|len|if|unless|self|this)$`)

// isParameter reports whether a name is a parameter of a test, or a field of its table. The line of
// the condition itself does not count.
func isParameter(t *facts.Test, name string, but int) bool {
	n := regexp.QuoteMeta(name)
	head := regexp.MustCompile(`[(,]\s*` + n + `\b`)
	field := regexp.MustCompile(`\b` + n + `\s*(?::|bool\b|string\b|int\b|error\b|=>)|["']` + n + `["']|:` + n + `\b`)
	return head.MatchString(t.Side.LineAt(t.Line)) || field.MatchString(strings.ReplaceAll(t.Side.TextWithAnnotations(t.TestDef), t.Side.LineAt(but), ""))
}
