// Package yamlfile reads YAML files written by people, strictly: an unknown key, or a value of
// another type, is an error that names the file, the line and the remedy.
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

// ErrInvalid is wrapped by every error that an edit of the file fixes.
var ErrInvalid = errors.New("invalid configuration")

// File is the text of a file.
type File struct {
	Path      string
	Text      []byte
	Reference string // where the keys are documented
}

// Decode decodes the file into the value that into points to, on top of its current content.
func (f File) Decode(into any) error {
	if err := yaml.UnmarshalWithOptions(f.Text, into, yaml.Strict()); err != nil {
		return f.DescribeError(err, into)
	}
	return nil
}

// DescribeError converts an error of the YAML reader, which names Go types, into one that names the
// expected value and its place. For an unknown key it suggests one of the keys of into.
func (f File) DescribeError(err error, into any) error {
	var (
		field *FieldError
		kind  *yaml.TypeError
		node  *yaml.UnexpectedNodeTypeError
	)
	switch {
	case errors.As(err, &field):
		return f.Locate(field)
	case errors.As(err, &kind):
		return errorAt(errors.New("expected "+describeType(kind.DstType)), f.Path, kind.Token)
	case errors.As(err, &node) && node.Expected == ast.SequenceType:
		return errorAt(errors.New("expected a list, like [a, b]"), f.Path, node.Token)
	case errors.As(err, &node) && node.Expected == ast.MappingType:
		return errorAt(errors.New("expected a mapping, like {key: value}"), f.Path, node.Token)
	}
	if at := findInvalidDuration(err, f.Text); at != nil {
		return errorAt(errors.New("expected "+describeType(reflect.TypeFor[time.Duration]())), f.Path, at)
	}
	return fmt.Errorf("%w: %s: %s%s", ErrInvalid, f.Path, strings.TrimRight(yaml.FormatError(err, false, true), "\n"), suggestKey(err, into, f.Reference))
}

func describeType(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "a time with its unit, like 90s, 30m or 8h"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
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

// findInvalidDuration returns the token of an invalid duration, nil for another error. The error
// names the value, but not its position.
func findInvalidDuration(err error, text []byte) *token.Token {
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
