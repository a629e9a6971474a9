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

// edit is a line of a test before and after it was rewritten, and what differs: without
// the beginning and the end that both have in common, at the borders of words.
type edit struct {
	was, now       facts.Line
	before, after  string // without comments
	from, to       string
	prefix, suffix string
}

// edits pairs the lines that a test lost with those that came in their place: the most
// alike, of those that begin or end alike.
func edits(p facts.Pair) (out []edit, added []facts.Line) {
	gone := inTest(p.Was, p.Was.File.RemovedLines())
	for _, l := range inTest(p.Now, p.Now.File.AddedLines()) {
		now := strings.TrimSpace(p.Now.Side.PlainRange(l.Number, l.Number))
		best, most := -1, 0
		for i, o := range gone {
			e := difference(strings.TrimSpace(p.Was.Side.PlainRange(o.Number, o.Number)), now)
			if n := len(e.prefix) + len(e.suffix); n > most && 3*n > len(now)-len(e.to) {
				best, most = i, n
			}
		}
		if best < 0 {
			added = append(added, l)
			continue
		}
		e := difference(strings.TrimSpace(p.Was.Side.PlainRange(gone[best].Number, gone[best].Number)), now)
		e.was, e.now = gone[best], l
		out = append(out, e)
		gone = slices.Delete(slices.Clone(gone), best, best+1)
	}
	return out, added
}

// inTest returns those of the lines that are in a test.
func inTest(t *facts.Test, list []facts.Line) []facts.Line {
	var out []facts.Line
	for _, l := range list {
		if t.Line < l.Number && l.Number <= t.End {
			out = append(out, l)
		}
	}
	return out
}

// difference compares two lines.
func difference(was, now string) edit {
	n := 0
	for n < len(was) && n < len(now) && was[n] == now[n] {
		n++
	}
	for n > 0 && (cutsWord(was, n) || cutsWord(now, n)) {
		n--
	}
	k := 0
	for k < len(was)-n && k < len(now)-n && was[len(was)-1-k] == now[len(now)-1-k] {
		k++
	}
	for k > 0 && (cutsWord(was, len(was)-k) || cutsWord(now, len(now)-k)) {
		k--
	}
	return edit{before: was, after: now, prefix: was[:n], suffix: was[len(was)-k:], from: was[n : len(was)-k], to: now[n : len(now)-k]}
}

// cutsWord reports whether a place is within a word or next to a quote of it.
func cutsWord(s string, at int) bool {
	return at > 0 && at < len(s) && wordByte(s[at-1]) && wordByte(s[at])
}

func wordByte(c byte) bool {
	return c == '_' || c == '"' || c == '\'' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

var (
	// called matches the name of what is called.
	called = regexp.MustCompile(`([A-Za-z_]\w*[!?]?)\s*\(`)
	// builtin matches functions of the languages, which no test is about.
	builtin = regexp.MustCompile(`^(?:str|int|float|bool|len|list|dict|set|tuple|sorted|sum|min|max|abs|round|repr|range|type|isinstance|print|open|map|filter|zip|any|all|String|Number|Boolean|Array|Object|Date|BigInt|Set|Map|JSON|stringify|parse[IF]\w+|require|import|function|func|fn|if|for|while|switch|return|new|vec|format|make|append|string|byte|rune|Sprintf?|Errorf?|TempDir|Background|Now|Join|to_s|to_i|lambda|Some|Ok|Err|None|Box|into|clone|unwrap|iter|collect|it|test|describe|mock|fn|spy\w*)$`)
)

// calls returns the names of what a text calls, without assertions and what languages offer.
func calls(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range called.FindAllStringSubmatch(facts.AnyLiteral.ReplaceAllString(text, "§"), -1) {
		if !builtin.MatchString(m[1]) && !facts.AssertionWord.MatchString(m[1]) && !asserting.MatchString(m[1]) {
			out[m[1]] = true
		}
	}
	return out
}

// subjects returns the functions that a test is about: what its assertions call, or what
// gives a value to a name in them. Types and helpers of the tests do not count.
func subjects(t *facts.Test) map[string]bool {
	out, names := map[string]bool{}, map[string]bool{}
	for _, a := range t.Assertions {
		for f := range calls(a) {
			out[f] = true
		}
		for w := range facts.SubjectWords(a) {
			names[w] = true
		}
	}
	for n := t.Line + 1; n <= t.End; n++ {
		text := t.Side.PlainRange(n, n)
		if m := gives.FindStringSubmatch(text); m != nil && names[m[1]] {
			for f := range calls(text) {
				out[f] = true
			}
		}
	}
	for _, fn := range facts.Helpers(t.Side) {
		delete(out, facts.LastName(fn.Name))
	}
	for f := range out {
		if t.Side.Language() != source.Go && t.Side.Language() != source.CSharp && f[0] >= 'A' && f[0] <= 'Z' {
			delete(out, f)
		}
	}
	return out
}

// aValue matches a literal, or a list of them.
var aValue = regexp.MustCompile(`^(?:` + facts.LiteralText + `|[\[({][^()]*[\])}]|(?i:true|false)|None|nil|null)$`)

// findOwnOracle finds expected values that the tested function now makes itself.
func findOwnOracle(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Now.Parent != nil || p.How == facts.ByBody || len(p.Was.Assertions) == 0 {
			continue
		}
		list, _ := edits(p)
		of := sync.OnceValue(func() map[string]bool { return subjects(p.Was) })
		for _, e := range list {
			if !aValue.MatchString(strings.TrimSpace(e.from)) || !called.MatchString(e.to) || !expectsAt(p.Was, e) {
				continue
			}
			for f := range calls(e.to) {
				if of()[f] && !calls(e.from)[f] {
					out = append(out, facts.Finding{File: p.Now.Side.Path, Line: e.now.Number, Test: p.Now.Name, Evidence: facts.Evidence(e.before + " → " + e.after)})
					break
				}
			}
		}
	}
	return out
}

// expectsAt reports whether a line of a test says what is expected: it asserts, gives a
// value to a name in an assertion, or is a row.
func expectsAt(t *facts.Test, e edit) bool {
	if asserting.MatchString(e.before) || wants.MatchString(e.before) || slices.ContainsFunc(t.LocatedAssertions(), func(a facts.Assertion) bool { return a.Line == e.was.Number }) {
		return true
	}
	if m := gives.FindStringSubmatch(e.before); m != nil {
		return slices.ContainsFunc(t.Assertions, func(a string) bool { return facts.WordCounts(a)[m[1]] > 0 })
	}
	return slices.ContainsFunc(facts.TablesOf(t.Side), func(b facts.Table) bool { return b.Line <= e.was.Number && e.was.Number <= b.End })
}

var (
	// normaliser matches what makes values alike, order what makes their order so.
	normaliser = regexp.MustCompile(`^(?:strip|lstrip|rstrip|trim|trim_end|trim_start|trimEnd|trimStart|Trim|TrimSpace|TrimSuffix|TrimRight|lower|upper|casefold|toLowerCase|toUpperCase|ToLower|ToUpper|to_lowercase|to_uppercase|downcase|upcase|EqualFold|equalsIgnoreCase|round|Round|floor|ceil|trunc|toFixed|abs|int|replaceAll|collapse|squish|normalize|compact|uniq|dedup)$`)
	order      = regexp.MustCompile(`^(?:sorted|sort|sort_by|Sort|Strings|Ints|SortFunc|set|Set|frozenset|HashSet|to_set|sort_unstable)$`)
	// around matches words that come with those.
	around = regexp.MustCompile(`^(?:new|list|Array|from|key|slices|math|Math|strings)$`)
	// inPlace matches a statement that makes the value of a name alike, or sorts it.
	inPlace = regexp.MustCompile(`^(?:(\w+)\s*:?=\s*(?:\w+\.)*(\w+)\(\s*(\w+)\s*[,)]|(\w+)\s*=\s*(\w+)\.(\w+)[(\s]|(\w+)\.(sort|sort!|sort_by!|uniq!|strip!|downcase!|sort_unstable)\b|(?:sort|slices)\.(\w+)\(\s*(\w+)\s*[,)])`)
)

// findNormalised finds tested values that are now made alike before they are compared,
// while what is expected stays as it was.
func findNormalised(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Now.Parent != nil || p.How == facts.ByBody || len(p.Was.Assertions) == 0 {
			continue
		}
		list, added := edits(p)
		for _, e := range list {
			if by := normalisedBy(e); by != 0 && expectsAt(p.Was, e) && !givesWanted(e.before) {
				out = append(out, alike(c, p, e.now, e.before+" → "+e.after, by))
			}
		}
		out = append(out, normalisedInPlace(c, p, added)...)
	}
	return out
}

// givesWanted reports whether a line gives a value to a name of what is expected.
func givesWanted(text string) bool {
	m := gives.FindStringSubmatch(text)
	return m != nil && wants.MatchString(m[1])
}

func alike(c *facts.Set, p facts.Pair, l facts.Line, text string, by metric.Severity) facts.Finding {
	if c.TouchesProduct() {
		by = metric.Medium
	}
	return facts.Finding{File: p.Now.Side.Path, Line: l.Number, Test: p.Now.Name, Severity: by, Evidence: facts.Evidence(text)}
}

// normalisedBy returns the severity of what was put around one side of a comparison: 0 if
// nothing was, or around both.
func normalisedBy(e edit) metric.Severity {
	was, now := facts.WordCounts(e.before), facts.WordCounts(e.after)
	for w, n := range was {
		if now[w] < n {
			return 0
		}
	}
	by := metric.Severity(0)
	for w, n := range now {
		switch n -= was[w]; {
		case n == 0, around.MatchString(w):
		case n > 1:
			return 0
		case normaliser.MatchString(w):
			by = metric.High
		case order.MatchString(w):
			by = max(by, metric.Medium)
		default:
			return 0
		}
	}
	if strings.Contains(e.to, "(") || strings.Contains(e.after, ".") && len(e.after) > len(e.before) {
		return by
	}
	return 0
}

// normalisedInPlace finds new statements that do the same to a name in an assertion,
// unless another one does it to what is expected.
func normalisedInPlace(c *facts.Set, p facts.Pair, added []facts.Line) []facts.Finding {
	var out []facts.Finding
	for _, l := range added {
		m := inPlace.FindStringSubmatch(strings.TrimSpace(p.Now.Side.PlainRange(l.Number, l.Number)))
		if m == nil {
			continue
		}
		name, by := m[1]+m[4]+m[7]+m[10], m[2]+m[6]+strings.TrimSuffix(m[8], "!")+m[9]
		if m[1] != m[3] || m[4] != m[5] || wants.MatchString(name) || !slices.ContainsFunc(p.Was.Assertions, func(a string) bool { return facts.WordCounts(a)[name] > 0 }) {
			continue
		}
		switch {
		case order.MatchString(by):
			out = append(out, alike(c, p, l, l.Text, metric.Medium))
		case normaliser.MatchString(by):
			out = append(out, alike(c, p, l, l.Text, metric.High))
		}
	}
	if len(out) > 1 { // both sides
		return nil
	}
	return out
}
