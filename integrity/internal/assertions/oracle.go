package assertions

import (
	"slices"
	"strings"
	"sync"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// lineEdit is a line of a test before and after it was rewritten, and what differs: without
// the beginning and the end that both have in common, at the borders of words.
type lineEdit struct {
	oldLine, newLine facts.Line
	before, after    string // without comments
	oldPart, newPart string
	prefix, suffix   string
}

// pairLines pairs the lines that a test lost with those that came in their place: the most
// alike, of those that begin or end alike.
func pairLines(p facts.Pair) (out []lineEdit, added []facts.Line) {
	removed := linesInTest(p.Before, p.Before.File.RemovedLines())
	for _, l := range linesInTest(p.After, p.After.File.AddedLines()) {
		after := strings.TrimSpace(p.After.Side.LinesWithoutComments(l.Number, l.Number))
		best, bestScore := -1, 0
		for i, old := range removed {
			e := compareLines(strings.TrimSpace(p.Before.Side.LinesWithoutComments(old.Number, old.Number)), after)
			if n := len(e.prefix) + len(e.suffix); n > bestScore && 3*n > len(after)-len(e.newPart) {
				best, bestScore = i, n
			}
		}
		if best < 0 {
			added = append(added, l)
			continue
		}
		e := compareLines(strings.TrimSpace(p.Before.Side.LinesWithoutComments(removed[best].Number, removed[best].Number)), after)
		e.oldLine, e.newLine = removed[best], l
		out = append(out, e)
		removed = slices.Delete(slices.Clone(removed), best, best+1)
	}
	return out, added
}

// linesInTest returns those of the lines that are in a test.
func linesInTest(t *facts.Test, list []facts.Line) []facts.Line {
	var out []facts.Line
	for _, l := range list {
		if t.Line < l.Number && l.Number <= t.End {
			out = append(out, l)
		}
	}
	return out
}

// compareLines compares two lines.
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

// cutsWord reports whether a place is within a word or next to a quote of it.
func cutsWord(s string, at int) bool {
	return at > 0 && at < len(s) && isWordByte(s[at-1]) && isWordByte(s[at])
}

func isWordByte(c byte) bool {
	return c == '_' || c == '"' || c == '\'' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

var (
	// callRE matches the name of what is called.
	callRE = regexp.MustCompile(`([A-Za-z_]\w*[!?]?)\s*\(`)
	// builtinRE matches functions of the languages, which no test is about.
	builtinRE = regexp.MustCompile(`^(?:str|int|float|bool|len|list|dict|set|tuple|sorted|sum|min|max|abs|round|repr|range|type|isinstance|print|open|map|filter|zip|any|all|String|Number|Boolean|Array|Object|Date|BigInt|Set|Map|JSON|stringify|parse[IF]\w+|require|import|function|func|fn|if|for|while|switch|return|new|vec|format|make|append|string|byte|rune|Sprintf?|Errorf?|TempDir|Background|Now|Join|to_s|to_i|lambda|Some|Ok|Err|None|Box|into|clone|unwrap|iter|collect|it|test|describe|mock|fn|spy\w*)$`)
)

// calledFunctions returns the names of what a text calls, without assertions and what languages offer.
func calledFunctions(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range callRE.FindAllStringSubmatch(facts.LiteralRE.ReplaceAllString(text, "§"), -1) {
		if !builtinRE.MatchString(m[1]) && !facts.AssertionWordRE.MatchString(m[1]) && !assertingLineRE.MatchString(m[1]) {
			out[m[1]] = true
		}
	}
	return out
}

// testedFunctions returns the functions that a test is about: what its assertions call, or what
// gives a value to a name in them. Types and helpers of the tests do not count.
func testedFunctions(t *facts.Test) map[string]bool {
	out, names := map[string]bool{}, map[string]bool{}
	for _, a := range t.Assertions {
		for f := range calledFunctions(a) {
			out[f] = true
		}
		for w := range facts.SubjectWords(a) {
			names[w] = true
		}
	}
	for n := t.Line + 1; n <= t.End; n++ {
		text := t.Side.LinesWithoutComments(n, n)
		if m := assignedNameRE.FindStringSubmatch(text); m != nil && names[m[1]] {
			for f := range calledFunctions(text) {
				out[f] = true
			}
		}
	}
	for _, fn := range facts.HelperFunctions(t.Side) {
		delete(out, facts.LastName(fn.Name))
	}
	for f := range out {
		if t.Side.Language() != source.Go && t.Side.Language() != source.CSharp && f[0] >= 'A' && f[0] <= 'Z' {
			delete(out, f)
		}
	}
	return out
}

// literalValueRE matches a literal, or a list of them.
var literalValueRE = regexp.MustCompile(`^(?:` + facts.LiteralExpr + `|[\[({][^()]*[\])}]|(?i:true|false)|None|nil|null)$`)

// findSelfMadeExpectations finds expected values that the tested function now makes itself.
func findSelfMadeExpectations(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.After.Parent != nil || p.MatchedBy == facts.MatchedByBody || len(p.Before.Assertions) == 0 {
			continue
		}
		list, _ := pairLines(p)
		of := sync.OnceValue(func() map[string]bool { return testedFunctions(p.Before) })
		for _, e := range list {
			if !literalValueRE.MatchString(strings.TrimSpace(e.oldPart)) || !callRE.MatchString(e.newPart) || !isExpectation(p.Before, e) {
				continue
			}
			for f := range calledFunctions(e.newPart) {
				if of()[f] && !calledFunctions(e.oldPart)[f] {
					out = append(out, p.After.NewFinding(e.newLine.Number, e.before+" → "+e.after))
					break
				}
			}
		}
	}
	return out
}

// isExpectation reports whether a line of a test says what is expected: it asserts, gives a
// value to a name in an assertion, or is a row.
func isExpectation(t *facts.Test, e lineEdit) bool {
	if assertingLineRE.MatchString(e.before) || expectedNameRE.MatchString(e.before) || slices.ContainsFunc(t.LocatedAssertions(), func(a facts.Assertion) bool { return a.Line == e.oldLine.Number }) {
		return true
	}
	if m := assignedNameRE.FindStringSubmatch(e.before); m != nil {
		return slices.ContainsFunc(t.Assertions, func(a string) bool { return facts.CountWords(a)[m[1]] > 0 })
	}
	return slices.ContainsFunc(facts.FindTables(t.Side), func(b facts.Table) bool { return b.Line <= e.oldLine.Number && e.oldLine.Number <= b.End })
}

var (
	// normalizerRE matches what makes values alike, order what makes their order so.
	normalizerRE = regexp.MustCompile(`^(?:strip|lstrip|rstrip|trim|trim_end|trim_start|trimEnd|trimStart|Trim|TrimSpace|TrimSuffix|TrimRight|lower|upper|casefold|toLowerCase|toUpperCase|ToLower|ToUpper|to_lowercase|to_uppercase|downcase|upcase|EqualFold|equalsIgnoreCase|round|Round|floor|ceil|trunc|toFixed|abs|int|replaceAll|collapse|squish|normalize|compact|uniq|dedup)$`)
	sortingRE    = regexp.MustCompile(`^(?:sorted|sort|sort_by|Sort|Strings|Ints|SortFunc|set|Set|frozenset|HashSet|to_set|sort_unstable)$`)
	// neutralWordRE matches words that come with those.
	neutralWordRE = regexp.MustCompile(`^(?:new|list|Array|from|key|slices|math|Math|strings)$`)
	// inPlaceRE matches a statement that makes the value of a name alike, or sorts it.
	inPlaceRE = regexp.MustCompile(`^(?:(\w+)\s*:?=\s*(?:\w+\.)*(\w+)\(\s*(\w+)\s*[,)]|(\w+)\s*=\s*(\w+)\.(\w+)[(\s]|(\w+)\.(sort|sort!|sort_by!|uniq!|strip!|downcase!|sort_unstable)\b|(?:sort|slices)\.(\w+)\(\s*(\w+)\s*[,)])`)
)

// findNormalizedValues finds tested values that are now made alike before they are compared,
// while what is expected stays as it was.
func findNormalizedValues(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.After.Parent != nil || p.MatchedBy == facts.MatchedByBody || len(p.Before.Assertions) == 0 {
			continue
		}
		list, added := pairLines(p)
		for _, e := range list {
			if by := normalizationSeverity(e); by != 0 && isExpectation(p.Before, e) && !assignsExpected(e.before) {
				out = append(out, normalizationFinding(c, p, e.newLine, e.before+" → "+e.after, by))
			}
		}
		out = append(out, findInPlaceNormalization(c, p, added)...)
	}
	return out
}

// assignsExpected reports whether a line gives a value to a name of what is expected.
func assignsExpected(text string) bool {
	m := assignedNameRE.FindStringSubmatch(text)
	return m != nil && expectedNameRE.MatchString(m[1])
}

func normalizationFinding(c *facts.Change, p facts.Pair, l facts.Line, text string, by metric.Severity) facts.Finding {
	if c.TouchesProduct() {
		by = metric.Medium
	}
	return p.After.NewFinding(l.Number, text).WithSeverity(by)
}

// normalizationSeverity returns the severity of what was put around one side of a comparison: 0 if
// nothing was, or around both.
func normalizationSeverity(e lineEdit) metric.Severity {
	before, after := facts.CountWords(e.before), facts.CountWords(e.after)
	for w, n := range before {
		if after[w] < n {
			return 0
		}
	}
	by := metric.Severity(0)
	for w, n := range after {
		switch n -= before[w]; {
		case n == 0, neutralWordRE.MatchString(w):
		case n > 1:
			return 0
		case normalizerRE.MatchString(w):
			by = metric.High
		case sortingRE.MatchString(w):
			by = max(by, metric.Medium)
		default:
			return 0
		}
	}
	if strings.Contains(e.newPart, "(") || strings.Contains(e.after, ".") && len(e.after) > len(e.before) {
		return by
	}
	return 0
}

// findInPlaceNormalization finds new statements that do the same to a name in an assertion,
// unless another one does it to what is expected.
func findInPlaceNormalization(c *facts.Change, p facts.Pair, added []facts.Line) []facts.Finding {
	var out []facts.Finding
	for _, l := range added {
		m := inPlaceRE.FindStringSubmatch(strings.TrimSpace(p.After.Side.LinesWithoutComments(l.Number, l.Number)))
		if m == nil {
			continue
		}
		name, by := m[1]+m[4]+m[7]+m[10], m[2]+m[6]+strings.TrimSuffix(m[8], "!")+m[9]
		if m[1] != m[3] || m[4] != m[5] || expectedNameRE.MatchString(name) || !slices.ContainsFunc(p.Before.Assertions, func(a string) bool { return facts.CountWords(a)[name] > 0 }) {
			continue
		}
		switch {
		case sortingRE.MatchString(by):
			out = append(out, normalizationFinding(c, p, l, l.Text, metric.Medium))
		case normalizerRE.MatchString(by):
			out = append(out, normalizationFinding(c, p, l, l.Text, metric.High))
		}
	}
	if len(out) > 1 { // both sides
		return nil
	}
	return out
}
