package gotool

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"supervise/internal/jsonstream"
)

// goEvent is one line of go test -json: https://pkg.go.dev/cmd/test2json, and
// go help buildjson for those with an ImportPath. The texts are parts of the
// line, or of the memory of the event before: they hold until the next one.
type goEvent struct {
	action, pkg, test, output []byte
	importPath, failedBuild   []byte
	elapsed                   float64 // seconds

	unquoted []byte // of texts with escapes
}

// decode reads an event. What go test writes is one flat object without spaces,
// and is read in place; whatever else is JSON takes the general way.
func (e *goEvent) decode(raw []byte) error {
	*e = goEvent{unquoted: e.unquoted[:0]}
	if e.flat(raw) {
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

// flat reports whether raw is an object of strings and numbers without spaces.
func (e *goEvent) flat(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	for raw[0] != '}' { // it begins with the brace or comma before a member
		name, rest, ok := quoted(raw[1:])
		if !ok || len(rest) < 3 || rest[0] != ':' {
			return false
		}
		if raw, ok = e.member(name, rest[1:]); !ok || raw[0] != ',' && raw[0] != '}' {
			return false
		}
	}
	return len(raw) == 1
}

// member takes the value of a member, and returns what follows it, which is not
// empty.
func (e *goEvent) member(name, text []byte) (rest []byte, ok bool) {
	if text[0] != '"' {
		return e.number(name, text)
	}
	value, rest, ok := quoted(text)
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

func (e *goEvent) number(name, text []byte) (rest []byte, ok bool) {
	n := bytes.IndexAny(text, ",}")
	if n <= 0 || string(name) != "Elapsed" {
		return nil, false
	}
	var err error
	e.elapsed, err = strconv.ParseFloat(string(text[:n]), 64)
	return text[n:], err == nil
}

// quoted splits text after the string that it begins with. The value is
// without its quotes, and still with its escapes.
func quoted(text []byte) (value, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		i += n
		escapes := 0
		for text[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return text[1:i], text[i+1:], true
		}
	}
	return nil, nil, false
}

// unquote resolves the escapes of a string. It leaves halves of surrogate pairs
// to the general way.
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
			c := unescaped[s[0]]
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

// unescaped are the characters that follow a backslash.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
