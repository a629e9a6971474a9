package config

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

// fieldError is a value that makes no sense, and the keys that lead to it.
type fieldError struct {
	keys []string
	text string
}

// Error says what is wrong.
func (e *fieldError) Error() string { return e.text }

func invalid(text string, keys ...string) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &fieldError{keys, text})
}

// locate adds the file to an error, and the line of the value, as the
// errors of the YAML reader have it.
func locate(err error, path string, text []byte) error {
	field, ok := errors.AsType[*fieldError](err)
	if !ok {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, path, err)
	}
	at := find(text, field.keys)
	if other := otherNames[strings.Join(field.keys, ".")]; at == nil && other != "" {
		at = find(text, strings.Split(persistenceKey+other, "."))
	}
	if at == nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, path, field)
	}
	return shown(field, path, at)
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
