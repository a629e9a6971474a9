package config

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

// unreadable says of an error of the YAML reader what is expected where. What the
// reader says itself names types of Go.
func unreadable(err error, path string, text []byte) error {
	var (
		field *fieldError
		kind  *yaml.TypeError
		node  *yaml.UnexpectedNodeTypeError
	)
	switch {
	case errors.As(err, &field):
		return locate(field, path, text)
	case errors.As(err, &kind):
		return shown(errors.New("expected is "+expected(kind.DstType)), path, kind.Token)
	case errors.As(err, &node) && node.Expected == ast.SequenceType:
		return shown(errors.New("expected is a list, like [a, b]"), path, node.Token)
	case errors.As(err, &node) && node.Expected == ast.MappingType:
		return shown(errors.New("expected is a mapping, like {key: value}"), path, node.Token)
	}
	if at := badDuration(err, text); at != nil {
		return shown(errors.New("expected is "+expected(reflect.TypeFor[time.Duration]())), path, at)
	}
	return fmt.Errorf("%w: %s: %s%s", ErrInvalid, path, strings.TrimRight(yaml.FormatError(err, false, true), "\n"), suggestion(err))
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
