package linttext

import (
	"slices"
	"sync"

	"supervise/internal/regexp"
)

// kinds are what a line can be, by its text alone.
type kinds struct {
	summaries []int // of [summaries]
	ruler     bool
	forms     []int // of [lineForms], counted from first
	first     int
}

// lineKinds recognises all kinds of lines at once: first the summaries, then the ruler,
// then the forms. To try each form one after the other takes ten times as long.
var lineKinds = sync.OnceValue(func() *regexp.Set {
	var list []string
	for _, s := range summaries() {
		list = append(list, s.re.String())
	}
	list = append(list, ruler.String())
	for i := range lineForms() {
		list = append(list, lineForms()[i].re.String())
	}
	return regexp.NewSet(list)
})

func kindsOf(line string) kinds {
	list, ok := lineKinds().Match(line)
	if !ok {
		return kindsInTurn(line)
	}
	first := len(summaries()) + 1 // form
	n, _ := slices.BinarySearch(list, first)
	out := kinds{summaries: list[:n], forms: list[n:], first: first}
	if out.ruler = n > 0 && list[n-1] == first-1; out.ruler {
		out.summaries = list[:n-1]
	}
	return out
}

// kindsInTurn is kindsOf for a line that is made to make the set slow.
func kindsInTurn(line string) kinds {
	out := kinds{ruler: ruler.MatchString(line)}
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
