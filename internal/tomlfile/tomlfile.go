// Package tomlfile reads TOML files with the lines of their values. It tolerates mistakes: it
// reads on after one, and returns the first as an error with file and line.
//
// The parser is github.com/pelletier/go-toml/v2/unstable. It is maintained, under the MIT
// licence, without dependencies, reads TOML 1.1 and gives the position of every value, key
// and error, one expression at a time. That allows reading on after a mistake.
// github.com/BurntSushi/toml gives positions of keys and errors only, and nothing of a file
// with a mistake. go-toml without its decoder adds 130 KB to a binary of 38 MB.
package tomlfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Element is the name of each element of a list in a path.
const Element = "[]"

// Entry is a table, a list or a value.
type Entry struct {
	Path   []string // from the root of the document, or from the table of [Document.Table]
	Value  string   // the text of a string, another value as written; "" for tables and lists
	Line   int      // from 1; of a string over several lines, that of its first
	Scalar bool     // neither a table nor a list
}

// Document is the content of a file, or of a table, in its order.
type Document []Entry

// Table returns the entries of a table, which may be inline, and whether it exists. The tables
// of a list are joined. The names of the path are separated by dots.
func (d Document) Table(path string) (Document, bool) {
	var out Document
	found := false
	names := strings.Split(path, ".")
	for _, e := range d {
		rest, ok := pathBelow(e.Path, names)
		if !ok || e.Scalar && len(rest) == 0 {
			continue
		}
		found = true
		if len(rest) > 0 {
			e.Path = rest
			out = append(out, e)
		}
	}
	return out, found
}

// pathBelow returns the path after the names. Elements of lists count as the list.
func pathBelow(path, names []string) ([]string, bool) {
	for _, name := range names {
		if len(path) == 0 || path[0] != name {
			return nil, false
		}
		for path = path[1:]; len(path) > 0 && path[0] == Element; path = path[1:] {
		}
	}
	return path, true
}

// Has reports whether the document has one of the keys.
func (d Document) Has(keys ...string) bool {
	return slices.ContainsFunc(d, func(e Entry) bool { return slices.Contains(keys, e.Path[0]) })
}

// Strings returns the value of a key, or the values of a list. It is nil if there is none.
func (d Document) Strings(key string) []string {
	var out []string
	for _, e := range d {
		if rest, ok := pathBelow(e.Path, []string{key}); ok && e.Scalar && len(rest) == 0 {
			out = append(out, e.Value)
		}
	}
	return out
}

const (
	maxMistakes = 100 // after which reading ends
	maxNames    = 64  // in a path; deeper entries are skipped
)

// Parse reads the text of a file. The document holds everything but the lines with
// mistakes; the error is about the first of them.
func Parse(file string, text []byte) (Document, error) {
	r := reader{text: bytes.TrimPrefix(text, []byte("\ufeff"))}
	for i, c := range r.text {
		if c == '\n' {
			r.lines = append(r.lines, i)
		}
	}
	var first error
	for range maxMistakes {
		err := r.readExpressions()
		if err == nil {
			break
		}
		if first == nil {
			first = fmt.Errorf("%s:%d: %w", file, r.lineAt(r.offsetOf(err.Highlight)), errors.New(err.Message))
		}
		if r.start = r.skipMistake(); r.start >= len(r.text) {
			break
		}
	}
	return r.doc, first
}

// reader is the state while reading a file.
type reader struct {
	text       []byte
	lines      []int // offsets of the ends of lines
	parser     unstable.Parser
	start      int      // offset of what the parser reads
	end        int      // offset after the last expression
	table      []string // the current table
	skipsTable bool     // the header of the current table has a mistake
	doc        Document
}

// readExpressions reads expressions up to a mistake, or to the end.
func (r *reader) readExpressions() *unstable.ParserError {
	r.parser.Reset(r.text[r.start:])
	r.end = r.start
	for r.parser.NextExpression() {
		n := r.parser.Expression()
		names := r.readNames(n.Key())
		if n.Kind == unstable.Table || n.Kind == unstable.ArrayTable {
			if r.table, r.skipsTable = names, len(names) > maxNames; !r.skipsTable {
				r.doc = append(r.doc, Entry{Path: names, Line: r.lineAt(r.end)})
			}
			continue
		}
		if !r.skipsTable {
			r.addValue(slices.Concat(r.table, names), n.Value(), int(n.Raw.Offset))
		}
		r.end = r.start + int(n.Raw.Offset+n.Raw.Length)
	}
	err, _ := errors.AsType[*unstable.ParserError](r.parser.Error())
	return err
}

// readNames returns the parts of a key.
func (r *reader) readNames(key unstable.Iterator) []string {
	var out []string
	for key.Next() {
		n := key.Node()
		out = append(out, string(n.Data))
		r.end = r.start + int(n.Raw.Offset+n.Raw.Length)
	}
	return out
}

// addValue adds a value and the values in it. at is the offset of its key.
func (r *reader) addValue(path []string, n *unstable.Node, at int) {
	if len(path) > maxNames {
		return
	}
	switch n.Kind {
	case unstable.Array:
		r.doc = append(r.doc, Entry{Path: path, Line: r.lineAt(r.start + at)})
		for in := n.Children(); in.Next(); {
			r.addValue(slices.Concat(path, []string{Element}), in.Node(), at)
		}
	case unstable.InlineTable:
		r.doc = append(r.doc, Entry{Path: path, Line: r.lineAt(r.start + at)})
		for in := n.Children(); in.Next(); {
			pair := in.Node()
			r.addValue(slices.Concat(path, r.readNames(pair.Key())), pair.Value(), int(pair.Raw.Offset))
		}
	default:
		line := r.lineAt(r.start + int(n.Raw.Offset))
		if raw := r.parser.Raw(n.Raw); len(raw) > 3 && raw[1] == raw[0] && (raw[3] == '\n' || raw[3] == '\r') {
			line++ // the line end after the quotes does not count
		}
		r.doc = append(r.doc, Entry{Path: path, Value: string(n.Data), Line: line, Scalar: true})
	}
}

// skipMistake returns the offset of the line after the one on which the expression with the
// mistake starts.
func (r *reader) skipMistake() int {
	at := r.end
	if at > r.start {
		at = r.nextLineStart(at)
	}
	for at < len(r.text) {
		next := r.nextLineStart(at)
		line := bytes.TrimSpace(r.text[at:next])
		at = next
		if len(line) > 0 && line[0] != '#' {
			r.skipsTable = r.skipsTable || line[0] == '['
			break
		}
	}
	return at
}

// nextLineStart returns the offset of the line after the one at an offset.
func (r *reader) nextLineStart(at int) int {
	if i := bytes.IndexByte(r.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(r.text)
}

// lineAt returns the number of the line at an offset.
func (r *reader) lineAt(at int) int {
	i, _ := slices.BinarySearch(r.lines, at)
	return i + 1
}

// offsetOf returns the offset of a part of the text.
func (r *reader) offsetOf(part []byte) int {
	return min(max(cap(r.text)-cap(part), r.start), len(r.text))
}
