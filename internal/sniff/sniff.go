// Package sniff inspects the first bytes of a report, so that formats are detected from their
// content and never from the name of a file.
//
// [Open] returns a [Head] with the names of the XML elements, the paths of the JSON members,
// and the lines in these bytes. The function Detect of a format asks for some of them, as in
// HasRoot("robot") or HasMembers("runs.[].results").
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

// Size is how many bytes of a report are inspected.
const Size = 256 << 10

// Head is what the first bytes of a report contain.
type Head struct {
	Text  []byte // the first [Size] bytes, in UTF-8
	Root  Element
	Value string // first byte of the first JSON value: "{", "[", or "" if there is none

	elements map[string]bool // names of all XML elements
	paths    map[string]bool // paths of JSON members, joined by separator; nil without JSON
}

// Element is the outermost element of an XML report.
type Element struct {
	Name  string // "" if the report is not XML
	Attrs []xmlstream.Attr
}

// Attr returns the value of the attribute, "" if the element has none.
func (e Element) Attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Open returns a reader of r in UTF-8 that starts at its first byte, and the head of r. It
// returns an error if r cannot be read.
func Open(r io.Reader) (io.Reader, Head, error) {
	src := bufio.NewReaderSize(textstream.UTF8(r), Size)
	text, err := src.Peek(Size)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, Head{}, fmt.Errorf("read report: %w", err)
	}
	return src, Inspect(bytes.Clone(text)), nil
}

// Inspect returns the head of a report's text, or of its first bytes.
func Inspect(text []byte) Head {
	h := Head{Text: text}
	markup, document := bytes.IndexByte(text, '<'), jsonstream.FindDocument(text)
	markupIsFirst := markup >= 0 && (document < 0 || markup < document)
	if markupIsFirst {
		h.inspectXML()
	}

	startsWithMarkup := bytes.HasPrefix(bytes.TrimSpace(text), []byte("<"))
	if h.Root.Name == "" || document >= 0 && !startsWithMarkup { // text before a document may contain markup
		h.inspectJSON()
	}
	return h
}

// IsEmpty reports whether there is only white space.
func (h Head) IsEmpty() bool { return len(bytes.TrimSpace(h.Text)) == 0 }

// HasRoot reports whether the report is an XML document with one of the root
// elements.
func (h Head) HasRoot(roots ...string) bool {
	return slices.Contains(roots, h.Root.Name)
}

// HasElements reports whether all of the XML elements are in the head, at any depth.
func (h Head) HasElements(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !h.elements[n] })
}

// HasMembers reports whether all of the JSON members are in the head. A path consists of
// names joined by dots, with [] for the items of an array: "runs.[].results",
// "[].filePath". A * matches any name. The members of several documents, as in JSON Lines,
// are taken together. Paths reach five levels deep.
func (h Head) HasMembers(paths ...string) bool {
	return h.paths != nil && !slices.ContainsFunc(paths, func(p string) bool { return !h.hasPath(strings.Split(p, ".")) })
}

// DetectJSON returns a function that detects documents with all members of at least one of
// the lists. The paths of a list are separated by spaces; see [Head.HasMembers].
func DetectJSON(lists ...string) func(Head) bool {
	return func(h Head) bool {
		return slices.ContainsFunc(lists, func(paths string) bool { return h.HasMembers(strings.Fields(paths)...) })
	}
}

// hasPath reports whether a path of the head has the names. A * matches any name of a member,
// but not [].
func (h Head) hasPath(want []string) bool {
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

// separator joins the names of a path. It is not a dot, since names may be file names.
const separator = "\x00"

// IsEmptyList reports whether the first JSON value is an array without items.
func (h Head) IsEmptyList() bool { return h.Value == "[" && len(h.paths) == 0 }

// MatchesLine reports whether match accepts a line of the head. Lines have no line end and no
// colors. Very long ones are skipped.
func (h Head) MatchesLine(match func(string) bool) bool {
	for line := range bytes.Lines(h.Text) {
		if len(line) < maxLine && match(textstream.StripANSI(strings.TrimRight(string(line), "\r\n"))) {
			return true
		}
	}
	return false
}

// maxLine is the longest line that a compiler or test runner writes.
const maxLine = 16 << 10

// maxNames limits how many names and paths of a head are stored.
const maxNames = 4096

// inspectXML sets the root and the elements.
func (h *Head) inspectXML() {
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

// inspectJSON sets the first value and the paths.
func (h *Head) inspectJSON() {
	paths := map[string]bool{}
	_, _ = jsonstream.ReadDocuments(bytes.NewReader(h.Text), func(r *jsonstream.Reader) error {
		if h.Value == "" {
			h.Value = string(r.Kind())
		}
		return collectPaths(r, "", paths, 0)
	}) // an error is expected: the head usually ends inside a document
	if h.Value != "" {
		h.paths = paths
	}
}

// errEnough ends the inspection of a document.
var errEnough = errors.New("enough members were read")

// maxDepth is how deep the paths of JSON members reach.
const maxDepth = 5

// collectPaths adds the paths of the members in the next value, which is at the path parent.
// Depth is the number of names in that path. It returns errEnough if there are too many paths.
func collectPaths(r *jsonstream.Reader, parent string, paths map[string]bool, depth int) error {
	if len(paths) > maxNames {
		return errEnough
	}
	if depth >= maxDepth {
		return r.Skip()
	}
	inner := func(name string) string {
		if parent != "" {
			name = parent + separator + name
		}
		paths[name] = true
		return name
	}
	switch r.Kind() {
	case '{':
		return r.Object(func(name string) error { return collectPaths(r, inner(name), paths, depth+1) })
	case '[':
		return r.Array(func() error { return collectPaths(r, inner("[]"), paths, depth+1) })
	}
	return r.Skip()
}
