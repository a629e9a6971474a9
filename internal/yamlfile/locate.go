package yamlfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/printer"
	"github.com/goccy/go-yaml/token"
)

// FieldError is a value that makes no sense, and the keys that lead to it.
type FieldError struct {
	Keys []string
	Text string
}

// Error says what is wrong.
func (e *FieldError) Error() string { return e.Text }

// Invalid is the error of the value that the keys lead to, wrapped in [ErrInvalid].
func Invalid(text string, keys ...string) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &FieldError{keys, text})
}

// Locate adds the file to an error, and the line of the value, as the errors of the YAML
// reader have it. The keys of the value are looked for first, then others by which it may
// be there.
func (f File) Locate(err error, others ...string) error {
	field, ok := errors.AsType[*FieldError](err)
	if !ok {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, f.Path, err)
	}
	at := find(f.Text, field.Keys)
	if at == nil && len(others) > 0 {
		at = find(f.Text, others)
	}
	if at == nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, f.Path, field)
	}
	return shown(field, f.Path, at)
}

// shown adds the file, the line and the lines around to an error.
func shown(err error, path string, at *token.Token) error {
	var p printer.Printer
	return fmt.Errorf("%w: %s: [%d:%d] %w\n%s", ErrInvalid, path, at.Position.Line, at.Position.Column, err, strings.TrimRight(p.PrintErrorToken(at, false), "\n"))
}

// find returns the token of the last key that is there.
func find(text []byte, keys []string) *token.Token {
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
			continue // of a list that was written as its only element
		}
		pair := entry(node, key)
		if pair == nil {
			break
		}
		at, node = pair.Key.GetToken(), pair.Value
	}
	return at
}

// entry returns the entry of a mapping, nil where there is none of that key.
func entry(node ast.Node, key string) *ast.MappingValueNode {
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
