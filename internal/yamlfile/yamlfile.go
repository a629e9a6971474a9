// Package yamlfile reads files that people write in YAML, strictly: a key that is not known,
// or a value of another kind, is an error that names the file, the line and the remedy.
package yamlfile

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// ErrInvalid is wrapped by every error that a change of the file mends.
var ErrInvalid = errors.New("invalid configuration")

// File is the text of a file.
type File struct {
	Path      string
	Text      []byte
	Reference string // where the keys are documented
}

// Decode reads the file over what is in the value that into points to.
func (f File) Decode(into any) error {
	if err := yaml.UnmarshalWithOptions(f.Text, into, yaml.Strict()); err != nil {
		return f.Unreadable(err, into)
	}
	return nil
}

// Unreadable says of an error of the YAML reader what is expected where. What the reader
// says itself names types of Go. The keys of into are those that may have been meant.
func (f File) Unreadable(err error, into any) error {
	var (
		field *FieldError
		kind  *yaml.TypeError
		node  *yaml.UnexpectedNodeTypeError
	)
	switch {
	case errors.As(err, &field):
		return f.Locate(field)
	case errors.As(err, &kind):
		return shown(errors.New("expected is "+expected(kind.DstType)), f.Path, kind.Token)
	case errors.As(err, &node) && node.Expected == ast.SequenceType:
		return shown(errors.New("expected is a list, like [a, b]"), f.Path, node.Token)
	case errors.As(err, &node) && node.Expected == ast.MappingType:
		return shown(errors.New("expected is a mapping, like {key: value}"), f.Path, node.Token)
	}
	if at := badDuration(err, f.Text); at != nil {
		return shown(errors.New("expected is "+expected(reflect.TypeFor[time.Duration]())), f.Path, at)
	}
	return fmt.Errorf("%w: %s: %s%s", ErrInvalid, f.Path, strings.TrimRight(yaml.FormatError(err, false, true), "\n"), suggestion(err, into, f.Reference))
}

func expected(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "a time with its unit, like 90s, 30m or 8h"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list, like [a, b]"
	case reflect.Map, reflect.Struct:
		return "a mapping, like {key: value}"
	default:
		return "a text"
	}
}

// badDuration returns the value that cannot be read as a time; the error names it,
// but not its place.
func badDuration(err error, text []byte) *token.Token {
	rest, ok := strings.CutPrefix(err.Error(), "time: ")
	if !ok {
		return nil
	}
	quoted, unquoteErr := strconv.Unquote(rest[strings.LastIndex(rest, ` "`)+1:])
	if unquoteErr != nil {
		return nil
	}
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Value == quoted {
			return t
		}
	}
	return nil
}
