package lintshape

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// lintItem is a value of a JSON report, with what encloses it.
type lintItem struct {
	value any
	key   string // its member name, where its place has a *
	up    *lintItem
}

var errShape = errors.New("a value of another kind is where a list should be")

// reach calls take with every value at the path below v. What is missing or
// null has none.
func (v lintItem) reach(path []string, take func(lintItem) error) error {
	return v.descend(v.value, path, take)
}

// descend continues from a value inside of v.
func (v lintItem) descend(value any, path []string, take func(lintItem) error) error {
	if len(path) == 0 {
		if value == nil {
			return nil
		}
		return take(lintItem{value: value, key: v.key, up: v.up})
	}
	name, rest := path[0], path[1:]
	switch x := value.(type) {
	case nil:
		return nil
	case []any:
		if name != "[]" && name != "*" {
			return errShape
		}
		for _, inner := range x {
			if err := (lintItem{value: inner, up: &v}).descend(inner, rest, take); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if name == "*" {
			for _, key := range slices.Sorted(maps.Keys(x)) {
				if err := (lintItem{value: x[key], key: key, up: &v}).descend(x[key], rest, take); err != nil {
					return err
				}
			}
			return nil
		}
		if name != "[]" {
			return v.descend(x[name], rest, take)
		}
	}
	return errShape
}

// get returns the value at the place; see [lintList].
func (v lintItem) get(place string) any {
	for strings.HasPrefix(place, "^") {
		if v.up == nil {
			return nil
		}
		v, place = *v.up, place[1:]
	}
	switch place {
	case "":
		return nil
	case ".":
		return v.value
	case "*":
		for x := &v; x != nil; x = x.up {
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

// text returns the first of the places that holds a text, number or truth.
func (v lintItem) text(places string) string {
	for place := range strings.SplitSeq(places, "|") {
		text := ""
		switch x := v.get(place).(type) {
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

// number returns the first of the places that holds a number above 0, with what
// is to be added to it, or 0.
func (v lintItem) number(places string) int {
	for place := range strings.SplitSeq(places, "|") {
		place, from0 := strings.CutSuffix(place, "+1")
		n := math.NaN()
		switch x := v.get(place).(type) {
		case float64:
			n = x
		case string:
			x, _, _ = strings.Cut(x, "-") // the first of several lines
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

// is reports whether the place holds one of the words.
func (v lintItem) is(place string, words ...string) bool {
	return slices.Contains(words, v.text(place))
}
