package integrity

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// lostRules are about tests that are not run any more because they are not there.
var lostRules = []rule{
	{"TP-01", "test_deleted", metric.High, findDeleted},
	{"TP-02", "test_file_deleted", metric.High, findFileDeleted},
	{"TP-03", "renamed_out_of_discovery", metric.Critical, findRenamedOut},
	{"TP-04", "commented_out", metric.Critical, findCommentedOut},
}

// way is how a test was lost.
type way int

const (
	byDeletion way = iota
	byFileDeletion
	byRenamingOut
	byComment
	byChoice // it is defined under a condition now, see chosenSkips
)

// lostBy tells how a test was lost.
func (c *change) lostBy(l loss) (how way, where *side, at int) {
	if c.ways == nil {
		c.ways = map[*test]wayOf{}
	}
	if w, known := c.ways[l.test]; known {
		return w.how, w.where, w.at
	}
	how, where, at = c.findWay(l)
	c.ways[l.test] = wayOf{how, where, at}
	return how, where, at
}

type wayOf struct {
	how   way
	where *side
	at    int
}

func (c *change) findWay(l loss) (way, *side, int) {
	after := l.f.after()
	if l.by == byNothing {
		return byDeletion, l.s, l.Line
	}
	if line := l.chosenAt(); line > 0 {
		return byChoice, after, line
	}
	if line := c.commentedOut(l); line > 0 {
		return byComment, after, line
	}
	if line := renamedOut(l); line > 0 {
		return byRenamingOut, after, line
	}
	switch {
	case after.there() && c.leavesDiscovery(l.f) && l.standsIn(after):
		return byRenamingOut, after, 0
	case l.f.Deleted:
		return byFileDeletion, l.s, 0
	}
	return byDeletion, l.s, l.Line
}

// standsIn reports whether a file holds most of the lines of a lost test: a file of
// nearly the same text may be another one.
func (l loss) standsIn(s *side) bool {
	there := map[string]bool{}
	for _, line := range s.lines() {
		there[squeeze(line.text)] = true
	}
	all, found := 0, 0
	for n := l.Line; n <= l.End; n++ {
		if code := squeeze(l.s.lineAt(n)); len(code) > 3 {
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
func (c *change) commentedOut(l loss) int {
	after := l.f.after()
	if !after.there() || after.language() == source.Unknown {
		return 0
	}
	want := map[string]bool{}
	for n := l.Line; n <= l.End; n++ {
		if code := squeeze(l.s.lineAt(n)); len(code) > 3 {
			want[code] = true
		}
	}
	for _, com := range l.f.before().comments() { // what was a comment before says nothing
		if code := squeeze(com.text); want[code] {
			want[code] = false
		}
	}
	found, first := map[string]bool{}, 0
	for _, com := range after.comments() {
		code := squeeze(com.text)
		if want[code] {
			if first == 0 {
				first = com.n
			}
			found[code] = true
		}
	}
	if len(want) > 0 && 2*len(found) >= len(want) {
		return first
	}
	return 0
}

// putOff matches what is written before code that was made a comment.
var putOff = regexp.MustCompile(`^(?:OLD|TODO|DISABLED|WIP|BROKEN|FLAKY|FIXME|SKIP|TEMP)\b:?\s*`)

// squeeze drops what a comment or an indentation adds to a line.
func squeeze(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"//", "#", "/*", "*", "--", `"""`, "'''", ";"} {
		s = strings.TrimPrefix(s, mark)
	}
	s = strings.TrimSuffix(s, "*/")
	return strings.TrimSpace(putOff.ReplaceAllString(strings.TrimSpace(s), ""))
}

// renamedOut returns the line of a function that has the body of a lost test but
// is no test, and was no function before; 0 for none.
func renamedOut(l loss) int {
	if fn, called := heir(l.test); fn.Line > 0 && !called {
		return fn.Line
	}
	return 0
}

// sameBody is how much of the words of a lost test a function must have to be
// the same without being a test.
const sameBody = .75

// heir returns the function of the same file that has the body of a lost test,
// and whether anything calls it. Its Line is 0 where there is none.
func heir(t *test) (fn source.Function, called bool) {
	after := t.f.after()
	if !after.there() || after.language() != t.s.language() {
		return fn, false
	}
	was := t.words()
	if len(was) == 0 {
		return fn, false
	}
	before := t.f.before().source().Functions
	for _, fn := range helpers(after) {
		if hadFunction(before, fn.Name) && lastName(fn.Name) != lastName(t.Name) {
			continue
		}
		if jaccard(was, words(after.plainRange(fn.Line, fn.End))) >= sameBody {
			return fn, calls(after, fn)
		}
	}
	return fn, false
}

// helpers are the functions of a file that are no tests.
func helpers(s *side) []source.Function {
	var out []source.Function
	src := s.source()
	for _, fn := range src.Functions {
		isTest := fn.Name == "(file)" || slices.ContainsFunc(src.Tests, func(t source.TestDef) bool {
			return t.Line <= fn.Line && fn.End <= t.End
		})
		if !isTest {
			out = append(out, fn)
		}
	}
	return out
}

func hadFunction(list []source.Function, name string) bool {
	return slices.ContainsFunc(list, func(f source.Function) bool { return f.Name == name })
}

// calls reports whether a function is named anywhere else in the file.
func calls(s *side, fn source.Function) bool {
	name := lastName(fn.Name)
	if name == "" {
		return false
	}
	at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for _, m := range at.FindAllIndex(s.withoutStrings(), -1) {
		if n := s.lineOf(m[0]); n < fn.Line || n > fn.End {
			return true
		}
	}
	return false
}

var word = regexp.MustCompile(`\w+`)

func words(text string) map[string]int {
	out := map[string]int{}
	eachWord(text, func(w string) { out[w]++ })
	return out
}

// words are those of the definition of the test, without comments.
func (t *test) words() map[string]int { return words(t.s.plainRange(t.Line, t.End)) }

func jaccard(a, b map[string]int) float64 {
	return source.Similarity(source.TestDef{Tokens: a}, source.TestDef{Tokens: b})
}

func findDeleted(c *change) []Finding {
	var out []Finding
	for _, l := range c.tests().lost {
		how, _, _ := c.lostBy(l)
		if how != byDeletion || l.parentLost(c) {
			continue
		}
		f := Finding{File: l.s.path, Line: l.Line, Test: l.Name, Evidence: evidence(l.s.lineAt(l.Line)), ExplainedBy: l.by}
		if c.plausible(l) {
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	return out
}

// parentLost reports whether the test around a subtest is lost, too: it is said
// once.
func (l loss) parentLost(c *change) bool {
	for p := l.parent; p != nil; p = p.parent {
		if _, known := c.ways[p]; known {
			return true
		}
	}
	return false
}

// findFileDeleted makes one finding of the tests of a file that is gone.
func findFileDeleted(c *change) []Finding {
	var out []Finding
	byFile := map[*file][]loss{}
	var order []*file
	for _, l := range c.tests().lost {
		if how, _, _ := c.lostBy(l); how == byFileDeletion && l.parent == nil {
			if byFile[l.f] == nil {
				order = append(order, l.f)
			}
			byFile[l.f] = append(byFile[l.f], l)
		}
	}
	for _, f := range order {
		var names []string
		by, plausible := "", 0
		for _, l := range byFile[f] {
			if by = l.by; by == "" {
				names = append(names, l.Name)
				if c.plausible(l) {
					plausible++
				}
			}
		}
		if len(names) > 0 {
			by = ""
		}
		x := Finding{File: f.Path, Test: first(names), Evidence: evidence(fileEvidence(len(byFile[f]), names)), ExplainedBy: by}
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

func findRenamedOut(c *change) []Finding { return c.lostAs(byRenamingOut) }

func findCommentedOut(c *change) []Finding { return c.lostAs(byComment) }

// ofTypes matches assertions that the compiler checks, and no run.
var ofTypes = regexp.MustCompile(`\b(?:expectTypeOf|expectType|assertType|expectAssignable|assert_type)\b`)

// onlyTypes reports whether all that a test asserts is about types: it never fails.
func (t *test) onlyTypes() bool {
	return len(t.Assertions) > 0 && !slices.ContainsFunc(t.Assertions, func(a string) bool { return !ofTypes.MatchString(a) })
}

func (c *change) lostAs(want way) []Finding {
	var out []Finding
	for _, l := range c.tests().lost {
		how, where, at := c.lostBy(l)
		if how != want || l.parentLost(c) {
			continue
		}
		text := where.lineAt(at)
		if at == 0 {
			text = "the file is now " + where.path
		}
		f := Finding{File: where.path, Line: at, Test: l.Name, Evidence: evidence(text), ExplainedBy: l.by}
		f.Severity, f.IfRan = c.weightOfLoss(l, how, at)
		out = append(out, f)
	}
	return out
}

// weightOfLoss is how grave it is that a test that still stands there does not run, 0 for
// what the rule says, and how grave where it is known to have run.
func (c *change) weightOfLoss(l loss, how way, at int) (severity, ifRan metric.Severity) {
	where := l.f.after()
	switch {
	case c.leavesDiscovery(l.f) && c.suiteMoved(l.f), how == byComment && l.onlyTypes():
		return metric.High, 0
	case how == byComment && (l.f.remarkAbove(at) || c.plausible(l)):
		return metric.High, metric.Critical
	case at == 0 && !putAway(where.path) && where.language() == l.s.language() && !toldByName(where.language()):
		return metric.High, 0 // it may still be built
	}
	return 0, 0
}
