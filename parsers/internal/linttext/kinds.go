package linttext

import (
	"slices"
	"sync"

	"supervise/internal/regexp"
)

// kinds lists what a line can be, by its text alone. The indexes of forms are those of
// [lineKindSet], so that its result is used without a copy.
type kinds struct {
	summaries []int // indexes in [summaries]
	ruler     bool  // the line is a ruler: see [rulerPattern]
	forms     []int // indexes in [lineForms], plus first
	first     int   // the index that the first form has in [lineKindSet]
}

// lineKindSet matches all kinds of lines at once: first the summaries, then the ruler, then
// the forms. Trying one form after the other takes ten times as long.
var lineKindSet = sync.OnceValue(func() *regexp.Set {
	var list []string
	for _, s := range summaries() {
		list = append(list, s.re.String())
	}
	list = append(list, rulerPattern.String())
	for i := range lineForms() {
		list = append(list, lineForms()[i].re.String())
	}
	return regexp.NewSet(list)
})

// kindsOf returns the kinds of a line. The set lists its matches in order, so that the
// summaries come before the ruler, and the ruler before the forms.
func kindsOf(line string) kinds {
	list, ok := lineKindSet().Match(line)
	if !ok {
		return kindsOneByOne(line)
	}
	first := len(summaries()) + 1 // form
	n, _ := slices.BinarySearch(list, first)
	out := kinds{summaries: list[:n], forms: list[n:], first: first}
	if out.ruler = n > 0 && list[n-1] == first-1; out.ruler {
		out.summaries = list[:n-1]
	}
	return out
}

// kindsOneByOne is kindsOf for the rare line for which the set is too slow.
func kindsOneByOne(line string) kinds {
	out := kinds{ruler: rulerPattern.MatchString(line)}
	for i, s := range summaries() {
		if s.re.MatchString(line) {
			out.summaries = append(out.summaries, i)
		}
	}
	for i := range lineForms() {
		if lineForms()[i].re.MatchString(line) {
			out.forms = append(out.forms, i)
		}
	}
	return out
}
