package gotool

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"supervise/internal/jsonstream"
)

// goEvent is one line of go test -json, such as
//
//	{"Time":"2024-05-01T10:20:30Z","Action":"run","Package":"example.com/p","Test":"TestA"}
//
// See https://pkg.go.dev/cmd/test2json, and go help buildjson for events with an ImportPath.
// The texts are valid until the next event is decoded, since they are parts of the line or of
// reused memory.
type goEvent struct {
	action, pkg, test, output []byte
	importPath, failedBuild   []byte
	elapsed                   float64 // seconds

	unquoted []byte // memory for texts with escapes
}

// decode decodes an event. The events of go test are flat objects without spaces and are
// read in place, which is much faster. Others are decoded as JSON.
func (e *goEvent) decode(raw []byte) error {
	*e = goEvent{unquoted: e.unquoted[:0]}
	if e.decodeFlat(raw) {
		return nil
	}
	*e = goEvent{unquoted: e.unquoted[:0]}
	var general struct {
		Action, Package, Test, Output, ImportPath, FailedBuild string
		Elapsed                                                float64
	}
	if err := jsonstream.Unmarshal(raw, &general); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	e.action, e.pkg, e.test, e.output = []byte(general.Action), []byte(general.Package), []byte(general.Test), []byte(general.Output)
	e.importPath, e.failedBuild, e.elapsed = []byte(general.ImportPath), []byte(general.FailedBuild), general.Elapsed
	return nil
}

// decodeFlat decodes an object of strings and numbers without spaces, as in
// {"Action":"run","Package":"p"}. It reports false for any other.
func (e *goEvent) decodeFlat(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	for raw[0] != '}' { // raw starts with the brace or comma before a member
		name, value, ok := cutQuoted(raw[1:])
		if !ok || len(value) < 3 || value[0] != ':' {
			return false
		}
		if raw, ok = e.readMember(name, value[1:]); !ok || raw[0] != ',' && raw[0] != '}' {
			return false
		}
	}
	return len(raw) == 1
}

// readMember reads the value of a member, and returns the text after it, which is not empty.
func (e *goEvent) readMember(name, text []byte) (rest []byte, ok bool) {
	if text[0] != '"' {
		return e.readNumber(name, text)
	}
	value, rest, ok := cutQuoted(text)
	if !ok || len(rest) == 0 {
		return nil, false
	}
	field := e.field(name)
	if field == nil {
		return rest, true
	}
	*field, ok = e.unquote(value)
	return rest, ok
}

// field returns the field for a member with a text, nil for an unknown member.
func (e *goEvent) field(name []byte) *[]byte {
	switch string(name) {
	case "Action":
		return &e.action
	case "Package":
		return &e.pkg
	case "Test":
		return &e.test
	case "Output":
		return &e.output
	case "ImportPath":
		return &e.importPath
	case "FailedBuild":
		return &e.failedBuild
	}
	return nil
}

// readNumber reads the number at the start of text, and returns the text after it. Ok is false
// for a member other than Elapsed.
func (e *goEvent) readNumber(name, text []byte) (rest []byte, ok bool) {
	n := bytes.IndexAny(text, ",}")
	if n <= 0 || string(name) != "Elapsed" {
		return nil, false
	}
	var err error
	e.elapsed, err = strconv.ParseFloat(string(text[:n]), 64)
	return text[n:], err == nil
}

// cutQuoted splits text after the string at its start. The value has no quotes, and its escapes
// are not resolved. Ok is false if text does not start with a complete string.
func cutQuoted(text []byte) (value, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	end := jsonstream.StringEnd(text[1:])
	if end < 0 {
		return nil, nil, false
	}
	return text[1:end], text[end+1:], true
}

// unquote resolves the escapes of a string. It reports false for surrogate pairs, which the
// decoder of JSON handles.
func (e *goEvent) unquote(s []byte) ([]byte, bool) {
	if bytes.IndexByte(s, '\\') < 0 {
		return s, true
	}

	begin := len(e.unquoted)
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			e.unquoted = append(e.unquoted, s...)
			return e.unquoted[begin:], true
		}
		e.unquoted = append(e.unquoted, s[:n]...)
		if s = s[n+1:]; len(s) == 0 {
			return nil, false
		}
		if s[0] != 'u' {
			c := escapes[s[0]]
			if c == 0 {
				return nil, false
			}
			e.unquoted, s = append(e.unquoted, c), s[1:]
			continue
		}
		if len(s) < 5 {
			return nil, false
		}

		r, err := strconv.ParseUint(string(s[1:5]), 16, 16)
		if err != nil || r >= 0xD800 && r < 0xE000 {
			return nil, false
		}
		e.unquoted, s = utf8.AppendRune(e.unquoted, rune(r)), s[5:]
	}
}

// escapes maps the byte after a backslash to the character that the escape represents, 0 for an
// invalid one.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
