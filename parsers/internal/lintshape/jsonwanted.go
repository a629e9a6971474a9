package lintshape

import (
	"strconv"
	"strings"

	"supervise/internal/jsonstream"
)

// lintWanted are the members of a document that a shape has a use for, as a
// tree: all else is passed over, of whatever size. A value without members of
// its own is kept as it is if it is a text, number or truth.
type lintWanted map[string]lintWanted

// add puts a path into the tree and returns its end.
func (w lintWanted) add(path []string) lintWanted {
	for _, name := range path {
		if w[name] == nil {
			w[name] = lintWanted{}
		}
		w = w[name]
	}
	return w
}

// list adds the items of a list, with the values that they have.
func (w lintWanted) list(l lintList) {
	path := placePath(l.at)
	w.add(path)
	for _, places := range []string{l.file, l.line, l.column, l.rule, l.message, l.level, l.text, l.also} {
		for place := range strings.SplitSeq(places, "|") {
			w.value(path, strings.TrimSuffix(place, "+1"))
		}
	}
}

// value adds a value of the item at the path, or of what encloses it.
func (w lintWanted) value(path []string, place string) {
	for strings.HasPrefix(place, "^") {
		place = place[1:]
		for end := len(path) - 1; end > 0; end-- {
			if last := path[end-1]; last == "[]" || last == "*" {
				path = path[:end]
				break
			}
		}
	}
	if place == "" || place == "." || place == "*" {
		return
	}
	names := strings.Split(place, ".")
	for i, name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			names[i] = "[]"
		}
	}
	w.add(path).add(names)
}

// in returns what is wanted of the member, and whether it is wanted.
func (w lintWanted) in(name string) (lintWanted, bool) {
	if inner, ok := w[name]; ok {
		return inner, true
	}
	inner, ok := w["*"]
	return inner, ok
}

// at returns what is wanted of the value at the path.
func (w lintWanted) at(path []string) lintWanted {
	for _, name := range path {
		w, _ = w.in(name)
	}
	return w
}

// read returns the next value with nothing but what is wanted of it. Of an
// unwanted list it keeps whether there is an item.
func (w lintWanted) read(j *jsonstream.Reader) (any, error) {
	switch j.Kind() {
	case '{':
		object := map[string]any{}
		err := j.Object(func(name string) error {
			inner, ok := w.in(name)
			if !ok {
				return j.Skip()
			}
			v, err := inner.read(j)
			object[name] = v
			return err
		})
		return object, err
	case '[':
		list := []any{}
		inner, ok := w.in("[]")
		err := j.Array(func() error {
			if !ok {
				list = make([]any, 1)
				return j.Skip()
			}
			v, err := inner.read(j)
			list = append(list, v)
			return err
		})
		return list, err
	}
	var v any
	err := j.Value(&v)
	return v, err
}

// placePath returns the names of a place.
func placePath(at string) []string {
	if at == "" {
		return nil
	}
	return strings.Split(at, ".")
}
