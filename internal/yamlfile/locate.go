package yamlfile

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/printer"
	"github.com/goccy/go-yaml/token"
)

// FieldError is an invalid value, and the keys that lead to it.
type FieldError struct {
	Keys []string
	Text string
}

// Error returns the problem.
func (e *FieldError) Error() string { return e.Text }

// InvalidValue is the error of the value that the keys lead to, wrapped in [ErrInvalid].
func InvalidValue(text string, keys ...string) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &FieldError{keys, text})
}

// Locate adds the file and the line of the value to an error, in the form of the errors of the
// YAML reader. It looks for the keys of the value first, then for alternative keys.
func (f File) Locate(err error, others ...string) error {
	field, ok := errors.AsType[*FieldError](err)
	if !ok {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, f.Path, err)
	}
	at := cmp.Or(findKey(f.Text, field.Keys), findKey(f.Text, others))
	if at == nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, f.Path, field)
	}
	return errorAt(field, f.Path, at)
}

// errorAt adds the file, the line and the surrounding lines to an error.
func errorAt(err error, path string, at *token.Token) error {
	var p printer.Printer
	return fmt.Errorf("%w: %s: [%d:%d] %w\n%s", ErrInvalid, path, at.Position.Line, at.Position.Column, err, strings.TrimRight(p.PrintErrorToken(at, false), "\n"))
}

// findKey returns the token of the last key that exists.
func findKey(text []byte, keys []string) *token.Token {
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(file.Docs) == 0 {
		return nil
	}
	var at *token.Token
	node := file.Docs[0].Body
	for _, key := range keys {
		if list, ok := node.(*ast.SequenceNode); ok {
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(list.Values) {
				break
			}
			at, node = list.Values[i].GetToken(), list.Values[i]
			continue
		}
		if _, err := strconv.Atoi(key); err == nil {
			continue // a list that was written as its only element
		}
		pair := findEntry(node, key)
		if pair == nil {
			break
		}
		at, node = pair.Key.GetToken(), pair.Value
	}
	return at
}

// findEntry returns the entry of a mapping with a key, nil if there is none.
func findEntry(node ast.Node, key string) *ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if pair.Key.GetToken().Value == key {
				return pair
			}
		}
	case *ast.MappingValueNode:
		if n.Key.GetToken().Value == key {
			return n
		}
	}
	return nil
}
