package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// telltale matches the words and numbers that tell what a line is about.
var telltale = regexp.MustCompile(`[A-Za-z]{3,}|\d+`)

// changedWords returns the words of all lines that were added to, or removed from,
// what is neither test nor documentation, in lower case.
func (c *change) changedWords() map[string]bool {
	if c.changed != nil {
		return c.changed
	}
	c.changed = map[string]bool{}
	for _, f := range c.files {
		if f.testing() || documentation(f.Path) {
			continue
		}
		for _, l := range f.addedLines() {
			addTelltales(c.changed, l.text)
		}
		for _, l := range f.removedLines() {
			addTelltales(c.changed, l.text)
		}
	}
	return c.changed
}

func addTelltales(into map[string]bool, text string) {
	for _, w := range telltale.FindAllString(text, -1) {
		into[strings.ToLower(w)] = true
	}
}

// changedFunctions returns the names of the functions that those lines stand in.
func (c *change) changedFunctions() map[string]bool {
	if c.functions != nil {
		return c.functions
	}
	c.functions = map[string]bool{}
	for _, f := range c.files {
		if f.testing() || documentation(f.Path) {
			continue
		}
		f.before().functionsAt(f.removedLines(), c.functions)
		f.after().functionsAt(f.addedLines(), c.functions)
	}
	return c.functions
}

func (s *side) functionsAt(list []line, into map[string]bool) {
	if len(list) == 0 || s.language() == source.Unknown {
		return
	}
	for _, fn := range s.source().Functions {
		at, _ := slices.BinarySearchFunc(list, fn.Line, func(l line, n int) int { return l.n - n })
		if at < len(list) && list[at].n <= fn.End && fn.Name != "(file)" {
			into[lastName(fn.Name)] = true
		}
	}
}

// callsChanged reports whether a test names a function that was changed.
func (c *change) callsChanged(t *test) bool {
	for name := range c.changedFunctions() {
		if len(name) > 2 && t.Tokens[name] > 0 {
			return true
		}
	}
	return false
}

// asksChanged reports whether an assertion itself names a function of the product
// that was changed.
func (c *change) asksChanged(a assertion) bool {
	names := subjectWords(a.text)
	for name := range c.changedFunctions() {
		if len(name) > 2 && names[name] > 0 {
			return true
		}
	}
	return false
}

// unrelated reports whether nothing that differs between two texts, word by word,
// stands in what else was changed: then that does not explain the difference.
func (c *change) unrelated(was, now string) bool {
	a, b := map[string]bool{}, map[string]bool{}
	addTelltales(a, was)
	addTelltales(b, now)
	changed := c.changedWords()
	for w := range a {
		if !b[w] && changed[w] {
			return false
		}
	}
	for w := range b {
		if !a[w] && changed[w] {
			return false
		}
	}
	return true
}

// namesChanged reports whether a name of an assertion, which not most tests beside
// have, stands in what else was changed.
func (c *change) namesChanged(t *test, a assertion) bool {
	changed := c.changedWords()
	for w := range subjectWords(a.text) {
		if c.usual(t, w) || c.namespace(w) {
			continue
		}
		for _, part := range telltale.FindAllString(w, -1) {
			if len(part) > 3 && changed[strings.ToLower(part)] {
				return true
			}
		}
	}
	return false
}

// fewRewritten is up to how many expected values may be rewritten in a change for
// each to be looked at by itself: where behaviour is changed, there are more.
const fewRewritten = 2

// rewrittenCount counts the assertions of the change of which only literals differ.
func (c *change) rewrittenCount() int {
	n := 0
	for _, d := range c.deltas() {
		for _, r := range d.revised {
			if squash(r.was.Skeleton) == squash(r.now.Skeleton) {
				n++
			}
		}
	}
	return n
}

// printed matches assertions about all that a program prints: any change of it may
// show there.
var printed = regexp.MustCompile(`(?:fnmatch|re_match)_lines?`)

// touchedUp reports whether an assertion expects another value now without a reason
// that shows: few do, nothing else of the test was changed, the value is of the same
// kind, and what was changed beside has nothing to do with it.
func (c *change) touchedUp(d delta, r revision) bool {
	if printed.MatchString(r.was.Skeleton) {
		return false
	}
	return c.rewrittenCount() <= fewRewritten && len(d.removed)+len(d.added) == 0 && len(d.revised) <= fewRewritten &&
		sameKinds(r.was.Literals, r.now.Literals) && !c.changesSubjectOf(d.now.s.path) &&
		!slices.ContainsFunc(c.files, func(f *file) bool { return dependencies.MatchString(f.Path) }) &&
		c.unrelated(strings.Join(r.was.Literals, " "), strings.Join(r.now.Literals, " ")) && !c.namesChanged(d.was, r.was) && !c.callsChanged(d.was)
}

// droppedAlone reports whether assertions were taken out of a test that is else as
// it was, and name nothing of what was changed beside.
func (c *change) droppedAlone(d delta) bool {
	if len(d.added)+len(d.revised) > 0 || c.callsChanged(d.was) {
		return false
	}
	for _, a := range d.removed {
		if c.namesChanged(d.was, a) {
			return false
		}
	}
	return true
}

// recordedAlone reports whether a few lines of a recorded output were changed that
// have nothing to do with what was changed beside.
func (c *change) recordedAlone(f *file) bool {
	was, now := f.removedLines(), f.addedLines()
	return len(was) <= fewRewritten && len(was) == len(now) && !slices.Equal(telltale.FindAllString(joinLines(was), -1), telltale.FindAllString(joinLines(now), -1)) &&
		c.unrelated(joinLines(was), joinLines(now))
}

func joinLines(list []line) string {
	var b strings.Builder
	for _, l := range list {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// sameKinds reports whether the literals of two assertions are of the same kinds,
// one by one, and short: in one line a value is touched up, a text is written anew.
func sameKinds(was, now []string) bool {
	return slices.EqualFunc(was, now, func(a, b string) bool {
		return a == b || a != "" && b != "" && isName(a) == isName(b) && (a[0] == '"' || a[0] == '\'' || a[0] == '`') == (b[0] == '"' || b[0] == '\'' || b[0] == '`') &&
			len(a) < 200 && len(b) < 200
	})
}

// changesSubjectOf reports whether the code that a test file is named after was
// changed.
func (c *change) changesSubjectOf(name string) bool {
	subject := subjectOf(name)
	return slices.ContainsFunc(c.files, func(f *file) bool {
		return f.after().product() && akin(subject, subjectOf(f.Path))
	})
}

// akin reports whether two names have most of the shorter one, from its beginning
// on, in common.
func akin(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 3 && 3*n >= 2*min(len(a), len(b))
}
