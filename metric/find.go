package metric

import (
	"slices"
	"strings"
	"unicode"
)

// Find returns the test that a user means by the name: as [ID.String] writes it, only its name, or
// the form of a runner, such as "tests/test_a.py::test_b". The name of a parametrized test means
// its cases. Find is false if the name fits no test, or more than one.
func (t *Tests) Find(name string) (ID, bool) {
	if t == nil || name == "" {
		return ID{}, false
	}

	known := map[ID]bool{}
	for _, c := range t.Cases {
		for id, ok := c.ID, true; ok; id, ok = id.Parent() {
			if id.String() == name {
				return id, true
			}
			known[id] = true
		}
	}

	var byName, byPlace []ID
	for id := range known {
		place, ok := strings.CutSuffix(name, id.Name)
		if !ok || id.Name == "" || place != "" && endsInsideWord(place) {
			continue
		}
		byName = append(byName, id)
		if in := nameWords(place); !slices.ContainsFunc(nameWords(id.Suite+" "+id.Class), func(w string) bool { return !slices.Contains(in, w) }) {
			byPlace = append(byPlace, id)
		}
	}

	switch {
	case len(byPlace) == 1:
		return byPlace[0], true
	case len(byName) == 1 && len(byPlace) == 0:
		return byName[0], true
	}
	return ID{}, false
}

// endsInsideWord reports whether a text ends in the middle of a word.
func endsInsideWord(text string) bool {
	end := text[len(text)-1]
	return end == '_' || unicode.IsLetter(rune(end)) || unicode.IsDigit(rune(end)) || end >= 0x80
}

// nameWords returns the names in the place of a test: tests, test_a and py of "tests/test_a.py::".
func nameWords(place string) []string {
	return strings.FieldsFunc(place, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
