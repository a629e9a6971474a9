package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// object is an object of JSON that keeps the order of its keys, so that a file of
// the user's looks afterwards as it did before. The values are *object, []any, or
// json.RawMessage.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) get(key string) any { return o.values[key] }

func (o *object) set(key string, v any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

func (o *object) remove(key string) {
	delete(o.values, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// object returns the object under a key and makes it where there is nothing.
func (o *object) object(key string) (*object, error) {
	switch v := o.get(key).(type) {
	case nil:
		in := &object{}
		o.set(key, in)
		return in, nil
	case *object:
		return v, nil
	}
	return nil, fmt.Errorf("%q is no object", key)
}

// appendTo adds a text to a list, unless it holds it.
func (o *object) appendTo(key, text string) {
	list, _ := o.get(key).([]any)
	item := json.RawMessage(tomlString(text))
	for _, v := range list {
		if raw, ok := v.(json.RawMessage); ok && bytes.Equal(raw, item) {
			return
		}
	}
	o.set(key, append(list, item))
}

// MarshalJSON writes the keys in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(tomlString(key))
		b.WriteByte(':')
		v, err := plain(o.values[key])
		if err != nil {
			return nil, err
		}
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain encodes without escaping what HTML alone needs escaped.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

func (o *object) compact() []byte {
	b, err := plain(o)
	if err != nil {
		return nil
	}
	return b
}

// indented is how people write such files.
func (o *object) indented() []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, o.compact(), "", "  "); err != nil {
		return nil
	}
	b.WriteByte('\n')
	return b.Bytes()
}

var errNoObject = errors.New("it holds no object of JSON")

// parseObject reads a text; nothing is an empty object.
func parseObject(text []byte) (*object, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return &object{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := parseValue(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the JSON")
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errNoObject
	}
	return o, nil
}

func parseValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	d, ok := t.(json.Delim)
	if !ok {
		b, err := plain(t)
		return json.RawMessage(b), err
	}
	if d == '[' {
		list := []any{}
		for dec.More() {
			v, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	o := &object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		o.set(fmt.Sprint(key), v)
	}
	_, err = dec.Token()
	return o, err
}
