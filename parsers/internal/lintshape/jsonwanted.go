package lintshape

import (
	"strconv"
	"strings"

	"supervise/internal/jsonstream"
)

// wantedMembers is the tree of the members that a shape needs from a document. All others are
// skipped without decoding them. The paths "[].a" and "[].b.c" are the tree {"[]": {"a": {},
// "b": {"c": {}}}}. A leaf is decoded if it is a text, number or boolean.
type wantedMembers map[string]wantedMembers

// add adds a path to the tree and returns the node at its end.
func (w wantedMembers) add(path []string) wantedMembers {
	for _, name := range path {
		if w[name] == nil {
			w[name] = wantedMembers{}
		}
		w = w[name]
	}
	return w
}

// addList adds the values that the items of a list need.
func (w wantedMembers) addList(l lintList) {
	path := splitPath(l.path)
	w.add(path)
	for _, places := range []string{l.file, l.line, l.column, l.rule, l.message, l.level, l.text, l.extra} {
		for place := range strings.SplitSeq(places, "|") {
			w.addValue(path, strings.TrimSuffix(place, "+1"))
		}
	}
}

// addValue adds a place in the item at the path, or in an enclosing item. Indexes in a place,
// as in "a.0", want all items of the array.
func (w wantedMembers) addValue(path []string, place string) {
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

// member returns the node of a member, and whether the member is wanted.
func (w wantedMembers) member(name string) (wantedMembers, bool) {
	if inner, ok := w[name]; ok {
		return inner, true
	}
	inner, ok := w["*"]
	return inner, ok
}

// find returns the node at the path, nil if it is not wanted.
func (w wantedMembers) find(path []string) wantedMembers {
	for _, name := range path {
		w, _ = w.member(name)
	}
	return w
}

// read decodes the wanted parts of the next value. Of a list without wanted items, only
// whether it is empty is known.
func (w wantedMembers) read(j *jsonstream.Reader) (any, error) {
	switch j.Kind() {
	case '{':
		object := map[string]any{}
		err := j.Object(func(name string) error {
			inner, ok := w.member(name)
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
		inner, ok := w.member("[]")
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

// splitPath returns the names of a path, nil for the path "" of a complete document.
func splitPath(at string) []string {
	if at == "" {
		return nil
	}
	return strings.Split(at, ".")
}
