package lintshape

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// lintItem is a decoded value of a JSON report, with the items that enclose it.
type lintItem struct {
	value  any
	key    string    // name of the member with the value, if its path has a * there
	parent *lintItem // the enclosing item, nil for the outermost one
}

// errNotList is the error for a value that a path cannot continue in.
var errNotList = errors.New("a value of another kind is where a list should be")

// eachAt calls take with every value at the path in v. It skips missing values and null, and
// returns an error if a list or object in the path is something else.
func (v lintItem) eachAt(path []string, take func(lintItem) error) error {
	return v.descend(v.value, path, take)
}

// descend is eachAt for a path in value, which is inside of v.
func (v lintItem) descend(value any, path []string, take func(lintItem) error) error {
	if len(path) == 0 {
		if value == nil {
			return nil
		}
		return take(lintItem{value: value, key: v.key, parent: v.parent})
	}

	name, remaining := path[0], path[1:]
	switch x := value.(type) {
	case nil:
		return nil
	case []any:
		if name != "[]" && name != "*" {
			return errNotList
		}
		for _, inner := range x {
			if err := (lintItem{value: inner, parent: &v}).descend(inner, remaining, take); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if name == "*" {
			for _, key := range slices.Sorted(maps.Keys(x)) {
				if err := (lintItem{value: x[key], key: key, parent: &v}).descend(x[key], remaining, take); err != nil {
					return err
				}
			}
			return nil
		}
		if name != "[]" {
			return v.descend(x[name], remaining, take)
		}
	}
	return errNotList
}

// valueAt returns the value at the place, nil if there is none. See [lintList] for the
// notation.
func (v lintItem) valueAt(place string) any {
	for strings.HasPrefix(place, "^") {
		if v.parent == nil {
			return nil
		}
		v, place = *v.parent, place[1:]
	}

	switch place {
	case "":
		return nil
	case ".":
		return v.value
	case "*":
		for x := &v; x != nil; x = x.parent {
			if x.key != "" {
				return x.key
			}
		}
		return nil
	}

	value := v.value
	for name := range strings.SplitSeq(place, ".") {
		switch x := value.(type) {
		case map[string]any:
			value = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			value = x[i]
		default:
			return nil
		}
	}
	return value
}

// text returns the first text, number or boolean at the places, "" if there is none.
func (v lintItem) text(places string) string {
	for place := range strings.SplitSeq(places, "|") {
		text := ""
		switch x := v.valueAt(place).(type) {
		case string:
			text = x
		case float64:
			text = strconv.FormatFloat(x, 'f', -1, 64)
		case bool:
			text = strconv.FormatBool(x)
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// number returns the first number above 0 at the places, 0 if there is none. A place with "+1"
// has a number that counts from 0. Of a text like "3-5", the first number counts.
func (v lintItem) number(places string) int {
	for place := range strings.SplitSeq(places, "|") {
		place, from0 := strings.CutSuffix(place, "+1")
		n := math.NaN()
		switch x := v.valueAt(place).(type) {
		case float64:
			n = x
		case string:
			x, _, _ = strings.Cut(x, "-") // the first line of a range
			if f, err := strconv.ParseFloat(x, 64); err == nil {
				n = f
			}
		}
		if from0 {
			n++
		}
		if n >= 1 && n < math.MaxInt32 {
			return int(n)
		}
	}
	return 0
}

// hasWord reports whether the value at the place is one of the words.
func (v lintItem) hasWord(place string, words ...string) bool {
	return slices.Contains(words, v.text(place))
}
