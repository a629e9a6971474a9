// Package sniff looks at the first bytes of a report and tells what it is made
// of, so that a format can be recognised by its content and never by its name:
// by its XML elements, by the members of its JSON objects, or by its lines.
package sniff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
)

// Size is how many bytes of a report are looked at.
const Size = 256 << 10

// Head is what the first bytes of a report say about it.
type Head struct {
	Text  []byte // the first [Size] bytes, in UTF-8
	Root  Element
	Value string // how the first JSON value begins: "{", "[", or "" where there is none

	elements map[string]bool // XML names
	paths    map[string]bool // JSON members
}

// Element is the outermost element of an XML report.
type Element struct {
	Name  string // "" where the report is no XML
	Attrs []xmlstream.Attr
}

// Attr returns the value of the attribute, "" where the element has none.
func (e Element) Attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Open returns the text of r in UTF-8, and what its first bytes say.
func Open(r io.Reader) (io.Reader, Head, error) {
	src := bufio.NewReaderSize(textstream.UTF8(r), Size)
	text, err := src.Peek(Size)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, Head{}, fmt.Errorf("read report: %w", err)
	}
	return src, Look(bytes.Clone(text)), nil
}

// Look returns what the text of a report, or its first bytes, say about it.
func Look(text []byte) Head {
	h := Head{Text: text}
	markup, document := bytes.IndexByte(text, '<'), jsonstream.Start(text)
	if markup >= 0 && (document < 0 || markup < document) {
		h.lookXML()
	}
	if h.Root.Name == "" || document >= 0 && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")) {
		h.lookJSON() // what stands before it may hold markup
	}
	return h
}

// Empty reports whether there is nothing but white space.
func (h Head) Empty() bool { return len(bytes.TrimSpace(h.Text)) == 0 }

// XML reports whether the report is an XML document with one of the root
// elements.
func (h Head) XML(roots ...string) bool {
	for _, r := range roots {
		if r == h.Root.Name {
			return true
		}
	}
	return false
}

// Elements reports whether all of the XML elements stand in the head, at any
// depth.
func (h Head) Elements(names ...string) bool {
	for _, n := range names {
		if !h.elements[n] {
			return false
		}
	}
	return true
}

// JSON reports whether all of the members stand in the head. A path is made of
// names and of [] for the items of an array, joined by dots: "runs.[].results",
// "[].filePath". A * stands for any name of its place. Of several documents, as
// in JSON Lines, all count together; the paths reach five levels deep.
func (h Head) JSON(paths ...string) bool {
	for _, p := range paths {
		if !h.holds(strings.Split(p, ".")) {
			return false
		}
	}
	return h.paths != nil
}

func (h Head) holds(want []string) bool {
	if !slices.Contains(want, "*") {
		return h.paths[strings.Join(want, separator)]
	}
	for p := range h.paths {
		have := strings.Split(p, separator)
		if slices.EqualFunc(want, have, func(w, name string) bool { return w == name || w == "*" && name != "[]" }) {
			return true
		}
	}
	return false
}

// separator stands between the names of a path: file names are names as well.
const separator = "\x00"

// EmptyList reports whether the first JSON value is an array without items.
func (h Head) EmptyList() bool { return h.Value == "[" && len(h.paths) == 0 }

// Line reports whether a line of the head fulfils match. Lines are without their
// end and without colours; very long ones are left out.
func (h Head) Line(match func(string) bool) bool {
	for line := range bytes.Lines(h.Text) {
		if len(line) < maxLine && match(textstream.StripANSI(strings.TrimRight(string(line), "\r\n"))) {
			return true
		}
	}
	return false
}

// maxLine is the longest line that can be one of a compiler or test runner.
const maxLine = 16 << 10

// maxNames bounds what is remembered of a head.
const maxNames = 4096

func (h *Head) lookXML() {
	x := xmlstream.NewReader(bytes.NewReader(h.Text))
	h.elements = map[string]bool{}
	for len(h.elements) < maxNames {
		t, err := x.Next()
		if err != nil {
			return
		}
		if t.Kind != xmlstream.Start {
			continue
		}
		if h.Root.Name == "" {
			h.Root = Element{t.Name, append([]xmlstream.Attr{}, t.Attrs...)}
		}
		h.elements[t.Name] = true
	}
}

func (h *Head) lookJSON() {
	paths := map[string]bool{}
	_, _ = jsonstream.Documents(bytes.NewReader(h.Text), func(r *jsonstream.Reader) error {
		if h.Value == "" {
			h.Value = string(r.Kind())
		}
		return walk(r, "", paths, 0)
	}) // the head ends in the middle of a document, as a rule
	if h.Value != "" {
		h.paths = paths
	}
}

var errEnough = errors.New("enough was seen")

// maxDepth is how deep the paths of JSON members reach.
const maxDepth = 5

func walk(r *jsonstream.Reader, at string, paths map[string]bool, depth int) error {
	if len(paths) > maxNames {
		return errEnough
	}
	if depth >= maxDepth {
		return r.Skip()
	}
	inner := func(name string) string {
		if at != "" {
			name = at + separator + name
		}
		paths[name] = true
		return name
	}
	switch r.Kind() {
	case '{':
		return r.Object(func(name string) error { return walk(r, inner(name), paths, depth+1) })
	case '[':
		return r.Array(func() error { return walk(r, inner("[]"), paths, depth+1) })
	}
	return r.Skip()
}
