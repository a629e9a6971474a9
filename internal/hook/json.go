package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// settingsDocument is a settings file in JSON with comments. It changes only where supervise adds
// or removes something: removing the added part restores the original byte for byte.
//
// The white space of the added part records the original layout. A container that supervise added
// has white space before its end. A container that was empty has none before its end, and its
// original white space is before its first entry.
type settingsDocument struct {
	value   hujson.Value
	root    *hujson.Object
	created map[any]bool // containers that supervise added
	layout
}

// layout is how the lines of a file are formatted.
type layout struct {
	newline string // the end of a line; "" if the file has one line
	indent  string // the indentation of one level
}

// createdEnd is the white space before the end of an object that supervise added in a blank file
// or in a file of one line.
const createdEnd = " "

// isBlankFile reports whether a file exists and contains only white space.
func isBlankFile(text []byte) bool { return text != nil && len(bytes.TrimSpace(text)) == 0 }

var errNoObject = errors.New("it is not a JSON object")

// parseDocument reads a text, which may contain comments. An empty text is an empty object. nil
// means that the file is missing.
func parseDocument(text []byte) (*settingsDocument, error) {
	d := &settingsDocument{root: &hujson.Object{}, created: map[any]bool{}, layout: layout{"\n", "  "}}
	if len(bytes.TrimSpace(text)) == 0 {
		d.value.Value, d.created[d.root] = d.root, true
		if d.root.AfterExtra = hujson.Extra("\n"); isBlankFile(text) {
			d.root.AfterExtra, d.value.AfterExtra = hujson.Extra(createdEnd), text
		} else {
			d.value.AfterExtra = hujson.Extra("\n")
		}
		return d, nil
	}

	v, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errNoObject
	}

	d.value, d.root = v, root
	d.layout = detectLayout(text, root)
	return d, nil
}

// detectLayout returns the layout of a text, as its first entry shows it.
func detectLayout(text []byte, root *hujson.Object) layout {
	s := layout{"\n", "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(root.Members) == 0 {
		return s
	}
	before := string(root.Members[0].Name.BeforeExtra)
	i := strings.LastIndexByte(before, '\n')
	if i < 0 {
		return layout{} // the file has one line
	}
	if unit := before[i+1:]; unit != "" && strings.TrimLeft(unit, " \t") == "" {
		s.indent = unit
	}
	return s
}

// originalText returns the original text of a blank file to which supervise added an object. It
// returns nil if the file was missing.
func (d *settingsDocument) originalText() []byte {
	if string(d.root.AfterExtra) != createdEnd {
		return nil
	}
	return append([]byte{}, d.value.AfterExtra...)
}

// text returns the text of the file.
func (d *settingsDocument) text() []byte { return d.value.Pack() }

// compact returns the text on one line, without comments.
func (d *settingsDocument) compact() []byte {
	v := d.value.Clone()
	v.Minimize()
	return v.Pack()
}

// spaceBeforeEntry returns the white space before an entry of a container at a depth. The root
// has depth 0.
func (l layout) spaceBeforeEntry(depth int) hujson.Extra {
	if l.newline == "" {
		return nil
	}
	return hujson.Extra(l.newline + strings.Repeat(l.indent, depth+1))
}

// spaceBeforeEnd returns the white space before the end of a container that supervise added.
func (l layout) spaceBeforeEnd(depth int) hujson.Extra {
	if l.newline == "" {
		return hujson.Extra(createdEnd)
	}
	return hujson.Extra(l.newline + strings.Repeat(l.indent, depth))
}

// formatValue returns a value formatted for a container at a depth.
func (l layout) formatValue(v any, depth int) (hujson.Value, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return hujson.Value{}, err
	}
	out, err := hujson.Parse(bytes.TrimSpace(b.Bytes()))
	if err == nil {
		l.indentValue(&out, depth)
	}
	return out, err
}

// indentValue sets the white space within a value.
func (l layout) indentValue(v *hujson.Value, depth int) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			c.Members[i].Name.BeforeExtra, c.Members[i].Value.BeforeExtra = l.spaceBeforeEntry(depth), hujson.Extra(" ")
			l.indentValue(&c.Members[i].Value, depth+1)
		}
		c.AfterExtra = l.spaceBeforeEnd(depth)
	case *hujson.Array:
		for i := range c.Elements {
			c.Elements[i].BeforeExtra = l.spaceBeforeEntry(depth)
			l.indentValue(&c.Elements[i], depth+1)
		}
		c.AfterExtra = l.spaceBeforeEnd(depth)
	}
}

// spaceForEntry returns the white space before a new last entry of a container, and that before
// the container's end. last is the current last entry, or nil if there is none.
func (d *settingsDocument) spaceForEntry(in any, last *hujson.Value, end hujson.Extra, depth int) (before, after hujson.Extra) {
	switch {
	case last == nil && !d.created[in]:
		return end, nil // the container was empty
	case last != nil && d.newline == "":
		return hujson.Extra(" "), end
	}
	return d.spaceBeforeEntry(depth), end
}

// findMember returns the value of a member of an object, or nil if it has none with the key.
func findMember(o *hujson.Object, key string) *hujson.Value {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return isNamed(m, key) })
	if i < 0 {
		return nil
	}
	return &o.Members[i].Value
}

// isNamed reports whether a member has the key.
func isNamed(m hujson.ObjectMember, key string) bool {
	name, ok := m.Name.Value.(hujson.Literal)
	return ok && name.String() == key
}

// memberAs returns the value of a member of an object. It returns false if the member is missing
// or has another type.
func memberAs[T any](o *hujson.Object, key string) (value T, ok bool) {
	if m := findMember(o, key); m != nil {
		value, ok = m.Value.(T)
	}
	return value, ok
}

// addMember adds a member to an object at a depth, which must not have the key.
func (d *settingsDocument) addMember(o *hujson.Object, depth int, key string, v hujson.Value) {
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Value
	}
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: v}
	m.Name.BeforeExtra, o.AfterExtra = d.spaceForEntry(o, last, o.AfterExtra, depth)
	if len(m.Value.BeforeExtra) == 0 {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	if last != nil {
		m.Value.AfterExtra = last.AfterExtra // keeps a trailing comma
	}
	o.Members = append(o.Members, m)
}

// appendElement adds an element to a list at a depth.
func (d *settingsDocument) appendElement(a *hujson.Array, depth int, v hujson.Value) {
	var last *hujson.Value
	if n := len(a.Elements); n > 0 {
		last = &a.Elements[n-1]
	}
	v.BeforeExtra, a.AfterExtra = d.spaceForEntry(a, last, a.AfterExtra, depth)
	if last != nil {
		v.AfterExtra = last.AfterExtra
	}
	a.Elements = append(a.Elements, v)
}

// removeMember removes a member of an object. isOurs reports whether the object is now empty and
// was added by supervise.
func removeMember(o *hujson.Object, key string) (isOurs bool) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return isNamed(m, key) })
	if i < 0 {
		return false
	}
	removed := o.Members[i]
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	switch n := len(o.Members); {
	case n == 0:
		return restoreEmpty(&o.AfterExtra, removed.Name.BeforeExtra)
	case i == 0:
		o.Members[0].Name.BeforeExtra = removed.Name.BeforeExtra
	case i == n:
		keepTrailingComma(&o.Members[n-1].Value, removed.Value)
	}
	return false
}

// removeElements removes the elements of a list that match. isOurs reports whether the list is
// now empty and was added by supervise.
func removeElements(a *hujson.Array, matches func(hujson.Value) bool) (found, isOurs bool) {
	old := slices.Clone(a.Elements)
	a.Elements = slices.DeleteFunc(a.Elements, matches)
	switch n := len(a.Elements); n {
	case len(old):
		return false, false
	case 0:
		return true, restoreEmpty(&a.AfterExtra, old[0].BeforeExtra)
	default:
		a.Elements[0].BeforeExtra = old[0].BeforeExtra
		keepTrailingComma(&a.Elements[n-1], old[len(old)-1])
		return true, false
	}
}

// keepTrailingComma moves the trailing comma to the last remaining entry.
func keepTrailingComma(last *hujson.Value, removed hujson.Value) {
	if last.AfterExtra == nil {
		last.AfterExtra = removed.AfterExtra
	}
}

// restoreEmpty restores the white space of a container that is now empty. It reports whether
// supervise added the container.
func restoreEmpty(end *hujson.Extra, before hujson.Extra) (isOurs bool) {
	if len(*end) > 0 {
		return true
	}
	*end = before
	return false
}

// object returns the object at a key of another object at a depth. It adds the object if it is
// missing. The error is for a value of another type.
func (d *settingsDocument) object(parent *hujson.Object, depth int, key string) (*hujson.Object, error) {
	return memberOrNew(d, parent, depth, key, &hujson.Object{AfterExtra: d.spaceBeforeEnd(depth + 1)}, "an object")
}

// list returns the list at a key of an object. It adds the list if it is missing. The error is
// for a value of another type.
func (d *settingsDocument) list(parent *hujson.Object, depth int, key string) (*hujson.Array, error) {
	return memberOrNew(d, parent, depth, key, &hujson.Array{AfterExtra: d.spaceBeforeEnd(depth + 1)}, "a list")
}

// memberOrNew returns the container at a key of an object. It adds the new one if the key is
// missing. The error, for a value of another type, names the kind of the container.
func memberOrNew[T hujson.ValueTrimmed](
	d *settingsDocument, parent *hujson.Object, depth int, key string, added T, kind string,
) (T, error) {
	if findMember(parent, key) == nil {
		d.created[added] = true
		d.addMember(parent, depth, key, hujson.Value{Value: added})
	}
	found, ok := memberAs[T](parent, key)
	if !ok {
		return found, fmt.Errorf("%q is not %s", key, kind)
	}
	return found, nil
}

// addUnique adds a text to a list of the file, unless the list has it.
func (d *settingsDocument) addUnique(key, text string) error {
	list, err := d.list(d.root, 0, key)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list.Elements, func(v hujson.Value) bool { return stringValue(&v) == text }) {
		d.appendElement(list, 1, hujson.Value{Value: hujson.String(text)})
	}
	return nil
}

// stringValue returns the text of a JSON string, "" for anything else.
func stringValue(v *hujson.Value) string {
	if v == nil {
		return ""
	}
	if l, ok := v.Value.(hujson.Literal); ok && l.Kind() == '"' {
		return l.String()
	}
	return ""
}
