package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// settingsDocument is a settings file that changes only where we add or remove something. Removing
// our part restores the original byte for byte.
//
// The white space of what we add records the original layout. A container that we made has
// white space before its end. A container that was empty has none there, and its original
// white space is before its first entry.
type settingsDocument struct {
	value   hujson.Value
	root    *hujson.Object
	created map[any]bool // containers that we added
	layout
}

// layout is the layout of a file.
type layout struct {
	newline string // "" for a file of one line
	indent  string
}

// createdEnd is the white space before the end of an object that we made in a file without any.
const createdEnd = " "

// isBlankFile reports whether a file exists but is blank.
func isBlankFile(text []byte) bool { return text != nil && len(bytes.TrimSpace(text)) == 0 }

var errNoObject = errors.New("it is not a JSON object")

// parseDocument reads a text, which may have comments. An empty text is an empty object.
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
		return layout{} // of one line
	}
	if unit := before[i+1:]; unit != "" && strings.TrimLeft(unit, " \t") == "" {
		s.indent = unit
	}
	return s
}

// originalText is the original text of a file that we filled, nil if the file was missing.
func (d *settingsDocument) originalText() []byte {
	if string(d.root.AfterExtra) != createdEnd {
		return nil
	}
	return append([]byte{}, d.value.AfterExtra...)
}

// text returns the text of the file.
func (d *settingsDocument) text() []byte { return d.value.Pack() }

// compact returns the file in one line, without comments.
func (d *settingsDocument) compact() []byte {
	v := d.value.Clone()
	v.Minimize()
	return v.Pack()
}

// spaceBeforeEntry is the white space before an entry of a container at a depth, from 0.
func (s layout) spaceBeforeEntry(depth int) hujson.Extra {
	if s.newline == "" {
		return nil
	}
	return hujson.Extra(s.newline + strings.Repeat(s.indent, depth+1))
}

// spaceBeforeEnd is the white space before the end of a container that we made.
func (s layout) spaceBeforeEnd(depth int) hujson.Extra {
	if s.newline == "" {
		return hujson.Extra(createdEnd)
	}
	return hujson.Extra(s.newline + strings.Repeat(s.indent, depth))
}

// formatValue formats a value for a container at a depth.
func (s layout) formatValue(v any, depth int) (hujson.Value, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return hujson.Value{}, err
	}
	out, err := hujson.Parse(bytes.TrimSpace(b.Bytes()))
	if err == nil {
		s.indentValue(&out, depth)
	}
	return out, err
}

func (s layout) indentValue(v *hujson.Value, depth int) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			c.Members[i].Name.BeforeExtra, c.Members[i].Value.BeforeExtra = s.spaceBeforeEntry(depth), hujson.Extra(" ")
			s.indentValue(&c.Members[i].Value, depth+1)
		}
		c.AfterExtra = s.spaceBeforeEnd(depth)
	case *hujson.Array:
		for i := range c.Elements {
			c.Elements[i].BeforeExtra = s.spaceBeforeEntry(depth)
			s.indentValue(&c.Elements[i], depth+1)
		}
		c.AfterExtra = s.spaceBeforeEnd(depth)
	}
}

// spaceForEntry returns the white space before the next entry of a container, and that before the
// container's end. last is the entry before, nil for none.
func (d *settingsDocument) spaceForEntry(in any, last *hujson.Value, end hujson.Extra, depth int) (before, after hujson.Extra) {
	switch {
	case last == nil && !d.created[in]:
		return end, nil // it was empty
	case last != nil && d.newline == "":
		return hujson.Extra(" "), end
	}
	return d.spaceBeforeEntry(depth), end
}

// findMember finds a member of an object.
func findMember(o *hujson.Object, key string) *hujson.Value {
	for i := range o.Members {
		if name, ok := o.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			return &o.Members[i].Value
		}
	}
	return nil
}

// addMember adds a missing member.
func (d *settingsDocument) addMember(o *hujson.Object, depth int, key string, v hujson.Value) *hujson.Value {
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
		m.Value.AfterExtra = last.AfterExtra // a trailing comma stays
	}
	o.Members = append(o.Members, m)
	return &o.Members[len(o.Members)-1].Value
}

// appendElement adds an element.
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

// removeMember removes a member, and reports whether that leaves an object that we made empty.
func removeMember(o *hujson.Object, key string) (over bool) {
	for i := range o.Members {
		name, ok := o.Members[i].Name.Value.(hujson.Literal)
		if !ok || name.String() != key {
			continue
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
	return false
}

// removeElements removes elements, as take does members.
func removeElements(a *hujson.Array, removed func(*hujson.Value) bool) (found, over bool) {
	var left []hujson.Value
	for i := range a.Elements {
		if removed(&a.Elements[i]) {
			found = true
		} else {
			left = append(left, a.Elements[i])
		}
	}
	if !found {
		return false, false
	}
	all := a.Elements
	if a.Elements = left; len(left) == 0 {
		return true, restoreEmpty(&a.AfterExtra, all[0].BeforeExtra)
	}
	left[0].BeforeExtra = all[0].BeforeExtra
	keepTrailingComma(&left[len(left)-1], all[len(all)-1])
	return true, false
}

// keepTrailingComma moves the trailing comma to the last remaining entry.
func keepTrailingComma(last *hujson.Value, removed hujson.Value) {
	if last.AfterExtra == nil {
		last.AfterExtra = removed.AfterExtra
	}
}

// restoreEmpty restores the white space of an empty container, and reports whether we made it.
func restoreEmpty(end *hujson.Extra, before hujson.Extra) (over bool) {
	if len(*end) > 0 {
		return true
	}
	*end = before
	return false
}

// object returns the object under a key of another one at a depth, and makes it if it is
// missing.
func (d *settingsDocument) object(in *hujson.Object, depth int, key string) (*hujson.Object, error) {
	v := findMember(in, key)
	if v == nil {
		o := &hujson.Object{AfterExtra: d.spaceBeforeEnd(depth + 1)}
		d.created[o] = true
		v = d.addMember(in, depth, key, hujson.Value{Value: o})
	}
	if o, ok := v.Value.(*hujson.Object); ok {
		return o, nil
	}
	return nil, fmt.Errorf("%q is not an object", key)
}

// list is like object, for a list.
func (d *settingsDocument) list(in *hujson.Object, depth int, key string) (*hujson.Array, error) {
	v := findMember(in, key)
	if v == nil {
		a := &hujson.Array{AfterExtra: d.spaceBeforeEnd(depth + 1)}
		d.created[a] = true
		v = d.addMember(in, depth, key, hujson.Value{Value: a})
	}
	if a, ok := v.Value.(*hujson.Array); ok {
		return a, nil
	}
	return nil, fmt.Errorf("%q is not a list", key)
}

// addUnique adds a text to a list of the file, unless the list has it.
func (d *settingsDocument) addUnique(key, text string) error {
	list, err := d.list(d.root, 0, key)
	if err != nil {
		return err
	}
	for i := range list.Elements {
		if stringValue(&list.Elements[i]) == text {
			return nil
		}
	}
	d.appendElement(list, 1, hujson.Value{Value: hujson.String(text)})
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
