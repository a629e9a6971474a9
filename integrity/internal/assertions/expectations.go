package assertions

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// lineEdit is a line of a test before and after it was rewritten. prefix and suffix are what both
// have in common; they end at the borders of words. oldPart and newPart are what differs between
// them.
type lineEdit struct {
	oldLine, newLine facts.Line
	before, after    string // the code of both lines, without comments and indentation
	oldPart, newPart string
	prefix, suffix   string
}

// pairLines pairs each line that was added to a test with the most similar line that the test lost.
// It returns the pairs, and the added lines without one.
func pairLines(p facts.Pair) (out []lineEdit, unpaired []facts.Line) {
	removed := linesInTest(p.Before, p.Before.File.RemovedLines())
	for _, l := range linesInTest(p.After, p.After.File.AddedLines()) {
		after := codeOfLine(p.After, l)
		best, longest := -1, 0
		var edit lineEdit
		for i, old := range removed {
			e := compareLines(codeOfLine(p.Before, old), after)
			common := len(e.prefix) + len(e.suffix)
			if common > longest && 3*common > len(after)-len(e.newPart) {
				best, longest, edit = i, common, e
			}
		}

		if best < 0 {
			unpaired = append(unpaired, l)
			continue
		}

		edit.oldLine, edit.newLine = removed[best], l
		out = append(out, edit)
		removed = slices.Delete(removed, best, best+1)
	}
	return out, unpaired
}

// codeOfLine returns a line of a test without comments and indentation.
func codeOfLine(t *facts.Test, l facts.Line) string {
	return strings.TrimSpace(t.Side.CodeAt(l.Number))
}

// linesInTest returns those of the lines that are in the body of a test.
func linesInTest(t *facts.Test, list []facts.Line) []facts.Line {
	return facts.Filter(list, func(l facts.Line) bool { return t.Line < l.Number && l.Number <= t.End })
}

// compareLines compares two lines. The numbers of the lines are not filled in.
func compareLines(before, after string) lineEdit {
	n := 0
	for n < len(before) && n < len(after) && before[n] == after[n] {
		n++
	}
	for n > 0 && (cutsWord(before, n) || cutsWord(after, n)) {
		n--
	}

	k := 0
	for k < len(before)-n && k < len(after)-n && before[len(before)-1-k] == after[len(after)-1-k] {
		k++
	}
	for k > 0 && (cutsWord(before, len(before)-k) || cutsWord(after, len(after)-k)) {
		k--
	}

	return lineEdit{before: before, after: after, prefix: before[:n], suffix: before[len(before)-k:], oldPart: before[n : len(before)-k], newPart: after[n : len(after)-k]}
}

// cutsWord reports whether the place at in a text is within a word, or between a word and its
// quote.
func cutsWord(s string, at int) bool {
	return at > 0 && at < len(s) && isWordByte(s[at-1]) && isWordByte(s[at])
}

// isWordByte reports whether a byte belongs to a word or is a quote.
func isWordByte(c byte) bool {
	return c == '_' || c == '"' || c == '\'' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

var (
	// callRE matches the name of a function that is called, as in "total(".
	callRE = regexp.MustCompile(`([A-Za-z_]\w*[!?]?)\s*\(`)
	// builtinRE matches functions of the languages that no test is about, such as len and JSON.
	builtinRE = regexp.MustCompile(`^(?:str|int|float|bool|len|list|dict|set|tuple|sorted|sum|min|max|abs|round|repr|range|type|isinstance|print|open|map|filter|zip|any|all|String|Number|Boolean|Array|Object|Date|BigInt|Set|Map|JSON|stringify|parse[IF]\w+|require|import|function|func|fn|if|for|while|switch|return|new|vec|format|make|append|string|byte|rune|Sprintf?|Errorf?|TempDir|Background|Now|Join|to_s|to_i|lambda|Some|Ok|Err|None|Box|into|clone|unwrap|iter|collect|it|test|describe|mock|fn|spy\w*)$`)
)

// calledFunctions returns the names of the functions that a text calls, without assertions and
// functions of the languages.
func calledFunctions(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range callRE.FindAllStringSubmatch(facts.LiteralRE.ReplaceAllString(text, "§"), -1) {
		isAssertion := facts.AssertionWordRE.MatchString(m[1]) || assertingLineRE.MatchString(m[1])
		if !isAssertion && !builtinRE.MatchString(m[1]) {
			out[m[1]] = true
		}
	}
	return out
}

// callsAny reports whether a text calls one of the functions.
func callsAny(text string, functions map[string]bool) bool {
	for name := range calledFunctions(text) {
		if functions[name] {
			return true
		}
	}
	return false
}

// testedFunctions returns the functions that a test is about: those that its assertions call, and
// those whose result is assigned to a name in an assertion. Types and helpers of the tests do not
// count.
func testedFunctions(t *facts.Test) map[string]bool {
	out, names := map[string]bool{}, map[string]int{}
	for _, a := range t.Assertions {
		maps.Copy(out, calledFunctions(a))
		maps.Copy(names, facts.SubjectWords(a))
	}
	for n := t.Line + 1; n <= t.End; n++ {
		text := t.Side.LinesWithoutComments(n, n)
		if m := assignedNameRE.FindStringSubmatch(text); m != nil && names[m[1]] > 0 {
			maps.Copy(out, calledFunctions(text))
		}
	}

	for _, fn := range facts.HelperFunctions(t.Side) {
		delete(out, facts.LastName(fn.Name))
	}

	functionsAreCapitalized := t.Side.Language() == source.Go || t.Side.Language() == source.CSharp
	maps.DeleteFunc(out, func(name string, _ bool) bool {
		return !functionsAreCapitalized && name[0] >= 'A' && name[0] <= 'Z'
	})
	return out
}

// literalValueRE matches a literal, or a list of them.
var literalValueRE = regexp.MustCompile(`^(?:` + facts.LiteralExpr + `|[\[({][^()]*[\])}]|(?i:true|false)|None|nil|null)$`)

// findSelfMadeExpectations finds expected values that were literals, and that the tested function
// makes itself now.
func findSelfMadeExpectations(_ *facts.Change, p facts.Pair, report facts.Report) {
	if !isRewrittenTest(p) {
		return
	}
	edits, _ := pairLines(p)
	tested := sync.OnceValue(func() map[string]bool { return testedFunctions(p.Before) })
	for _, e := range edits {
		valueBecameCall := literalValueRE.MatchString(strings.TrimSpace(e.oldPart)) && callRE.MatchString(e.newPart)
		if valueBecameCall && isExpectation(p.Before, e) && callsAny(e.newPart, tested()) {
			report(p.After.NewFinding(e.newLine.Number, e.before+" → "+e.after))
		}
	}
}

// isRewrittenTest reports whether a test with assertions was edited rather than replaced.
func isRewrittenTest(p facts.Pair) bool {
	return p.After.Parent == nil && p.MatchedBy != facts.MatchedByBody && len(p.Before.Assertions) > 0
}

// isExpectation reports whether a line of a test says what is expected: it asserts, assigns to a
// name in an assertion, or is a row of a table.
func isExpectation(t *facts.Test, e lineEdit) bool {
	line := e.oldLine.Number
	isAssertion := slices.ContainsFunc(t.LocatedAssertions(), func(a facts.Assertion) bool { return a.Line == line })
	if isAssertion || assertingLineRE.MatchString(e.before) || expectedNameRE.MatchString(e.before) {
		return true
	}
	if m := assignedNameRE.FindStringSubmatch(e.before); m != nil {
		return isAsserted(t, m[1])
	}
	return isInTable(facts.FindTables(t.Side), line)
}

// isAsserted reports whether an assertion of a test contains a name.
func isAsserted(t *facts.Test, name string) bool {
	return slices.ContainsFunc(t.Assertions, func(a string) bool { return facts.CountWords(a)[name] > 0 })
}

// isInTable reports whether a line is in one of the tables.
func isInTable(tables []facts.Table, line int) bool {
	return slices.ContainsFunc(tables, func(t facts.Table) bool { return t.Line <= line && line <= t.End })
}

var (
	// normalizerRE matches functions under which different values become equal, such as strip and
	// toLowerCase. sortingRE matches those under which different orders do.
	normalizerRE = regexp.MustCompile(`^(?:strip|lstrip|rstrip|trim|trim_end|trim_start|trimEnd|trimStart|Trim|TrimSpace|TrimSuffix|TrimRight|lower|upper|casefold|toLowerCase|toUpperCase|ToLower|ToUpper|to_lowercase|to_uppercase|downcase|upcase|EqualFold|equalsIgnoreCase|round|Round|floor|ceil|trunc|toFixed|abs|int|replaceAll|collapse|squish|normalize|compact|uniq|dedup)$`)
	sortingRE    = regexp.MustCompile(`^(?:sorted|sort|sort_by|Sort|Strings|Ints|SortFunc|set|Set|frozenset|HashSet|to_set|sort_unstable)$`)
	// neutralWordRE matches words that come with such functions and mean nothing else.
	neutralWordRE = regexp.MustCompile(`^(?:new|list|Array|from|key|slices|math|Math|strings)$`)
	// inPlaceRE matches a statement that normalizes the value of a name, or sorts it: "got =
	// strip(got)", "got = got.strip()", "got.sort" and "sort.Strings(got)".
	inPlaceRE = regexp.MustCompile(`^(?:(\w+)\s*:?=\s*(?:\w+\.)*(\w+)\(\s*(\w+)\s*[,)]|(\w+)\s*=\s*(\w+)\.(\w+)[(\s]|(\w+)\.(sort|sort!|sort_by!|uniq!|strip!|downcase!|sort_unstable)\b|(?:sort|slices)\.(\w+)\(\s*(\w+)\s*[,)])`)
)

// findNormalizedValues finds tested values that are now normalized before they are compared,
// while the expected value is unchanged.
func findNormalizedValues(c *facts.Change, p facts.Pair, report facts.Report) {
	if !isRewrittenTest(p) {
		return
	}
	edits, added := pairLines(p)
	for _, e := range edits {
		severity := normalizationSeverity(e)
		if severity != 0 && isExpectation(p.Before, e) && !assignsExpected(e.before) {
			report(normalizationFinding(c, p, e.newLine, e.before+" → "+e.after, severity))
		}
	}
	if inPlace := findInPlaceNormalization(c, p, added); len(inPlace) == 1 {
		report(inPlace[0])
	}
}

// assignsExpected reports whether a line assigns to a name of what is expected, such as want.
func assignsExpected(text string) bool {
	m := assignedNameRE.FindStringSubmatch(text)
	return m != nil && expectedNameRE.MatchString(m[1])
}

// normalizationFinding returns the finding about a value that is normalized. It is less severe if
// product code changed.
func normalizationFinding(c *facts.Change, p facts.Pair, l facts.Line, text string, severity metric.Severity) facts.Finding {
	if c.TouchesProduct() {
		severity = metric.Medium
	}
	return p.After.NewFinding(l.Number, text).WithSeverity(severity)
}

// normalizationSeverity returns the severity of a function that was put around one side of a
// comparison. It is 0 if none was, if one was put around both sides, or if anything else changed.
func normalizationSeverity(e lineEdit) metric.Severity {
	before, after := facts.CountWords(e.before), facts.CountWords(e.after)
	for w, n := range before {
		if after[w] < n {
			return 0
		}
	}

	severity := metric.Severity(0)
	for w, n := range after {
		switch n -= before[w]; {
		case n == 0, neutralWordRE.MatchString(w):
		case n > 1:
			return 0
		case normalizerRE.MatchString(w):
			severity = metric.High
		case sortingRE.MatchString(w):
			severity = max(severity, metric.Medium)
		default:
			return 0
		}
	}

	addsMethod := strings.Contains(e.after, ".") && len(e.after) > len(e.before)
	if strings.Contains(e.newPart, "(") || addsMethod {
		return severity
	}
	return 0
}

// findInPlaceNormalization finds new statements that normalize a value which an assertion compares.
// If several do, one of them may normalize the expected value.
func findInPlaceNormalization(c *facts.Change, p facts.Pair, added []facts.Line) []facts.Finding {
	var out []facts.Finding
	for _, l := range added {
		m := inPlaceRE.FindStringSubmatch(codeOfLine(p.After, l))
		if m == nil {
			continue
		}

		name, function := m[1]+m[4]+m[7]+m[10], m[2]+m[6]+strings.TrimSuffix(m[8], "!")+m[9]
		keepsName := m[1] == m[3] && m[4] == m[5]
		if !keepsName || expectedNameRE.MatchString(name) || !isAsserted(p.Before, name) {
			continue
		}

		switch {
		case sortingRE.MatchString(function):
			out = append(out, normalizationFinding(c, p, l, l.Text, metric.Medium))
		case normalizerRE.MatchString(function):
			out = append(out, normalizationFinding(c, p, l, l.Text, metric.High))
		}
	}
	return out
}
