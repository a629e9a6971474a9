package tests

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findGuarded finds assertions that were always reached, and now only under a condition.
func findGuarded(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		now := p.Now.Within(source.Guard)
		if len(now) == 0 || p.Now.Parent != nil || len(p.Was.Assertions) == 0 {
			continue
		}
		was := p.Was.Within(source.Guard)
		now = slices.DeleteFunc(now, func(m source.Mark) bool {
			return skipsAt(p.Now, m.Line) || slices.ContainsFunc(was, func(o source.Mark) bool { return facts.Squash(o.Condition) == facts.Squash(m.Condition) })
		})
		if f, found := guardedIn(p, was, now); found {
			out = append(out, f)
		}
	}
	return out
}

// skipsAt reports whether a line skips the test, which is another rule's.
func skipsAt(t *facts.Test, line int) bool {
	return slices.ContainsFunc(t.Marks(source.Skip), func(m source.Mark) bool { return m.Line == line })
}

// guardedIn looks for an assertion of a test that is under one of the new conditions now.
func guardedIn(p facts.Pair, was, now []source.Mark) (f facts.Finding, found bool) {
	free := map[string]int{} // assertions that were under no condition
	for _, a := range p.Was.LocatedAssertions() {
		if guardOf(was, a.Line) == nil {
			free[facts.Squash(a.Text)]++
		}
	}
	var open, under []facts.Assertion
	for _, a := range p.Now.LocatedAssertions() {
		if guardOf(now, a.Line) == nil {
			open = append(open, a)
			free[facts.Squash(a.Text)]--
			continue
		}
		under = append(under, a)
	}
	for _, a := range under {
		m := guardOf(now, a.Line)
		if !wasFree(free, facts.Squash(a.Text)) || !aims(p, *m, a) {
			continue
		}
		f := facts.Finding{File: p.Now.Side.Path, Line: m.Line, Test: p.Now.Name, Evidence: facts.Evidence(m.Text + ": " + a.Text)}
		if len(open) > 0 {
			f.Severity = metric.Medium
		}
		return f, true
	}
	return f, false
}

// wasFree reports whether an assertion was under no condition. One on the same line now is
// part of its text.
func wasFree(free map[string]int, now string) bool {
	for text, n := range free {
		if n > 0 && (text == now || strings.HasPrefix(now, text+"if") || strings.HasPrefix(now, text+"unless") || strings.HasPrefix(now, "if") && strings.HasSuffix(now, text)) {
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

// aims reports whether a condition decides by what the assertion checks, or by where the
// test runs, and not by a new parameter or field of a table.
func aims(p facts.Pair, m source.Mark, a facts.Assertion) bool {
	if m.Condition == source.NotAwaited || facts.ConditionSeverity(m.Condition) == metric.High {
		return true
	}
	shared, about := false, facts.SubjectWords(a.Text)
	for w := range facts.WordCounts(m.Condition) {
		if p.Was.Tokens[w] == 0 && facts.IsName(w) && !keyword.MatchString(w) && given(p.Now, w, m.Line) {
			return false
		}
		shared = shared || about[w] > 0
	}
	return shared
}

// keyword matches the words of a condition that are not names.
var keyword = regexp.MustCompile(`(?i)^(?:none|null|nil|undefined|not|is|and|or|in|true|false|len|if|unless|self|this)$`)

// given reports whether a name is a parameter of a test, or a field of its table, by
// another line than that of the condition.
func given(t *facts.Test, name string, but int) bool {
	n := regexp.QuoteMeta(name)
	head := regexp.MustCompile(`[(,]\s*` + n + `\b`)
	field := regexp.MustCompile(`\b` + n + `\s*(?::|bool\b|string\b|int\b|error\b|=>)|["']` + n + `["']|:` + n + `\b`)
	return head.MatchString(t.Side.LineAt(t.Line)) || field.MatchString(strings.ReplaceAll(t.Side.FullText(t.TestDef), t.Side.LineAt(but), ""))
}
