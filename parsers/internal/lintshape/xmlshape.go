package lintshape

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// xmlShape describes where the findings of an XML report are, and what identifies it.
// Alternative names in root and required are separated by |. If "" is among the names in
// required, no other element is required.
type xmlShape struct {
	name     string                                // of the format
	root     string                                // name of the root element
	required string                                // one of these elements is in it as well
	tool     string                                // "" if the findings show it
	tools    string                                // Tools of the format, "" if they are the tool
	note     string                                // Note of the format
	levels   map[string]metric.Level               // levels by names in lower case
	lists    map[string]xmlList                    // the findings, by the name of their element
	convert  func(metric.Finding) []metric.Finding // changes, splits or skips a finding; may be nil
}

// xmlList has the places of the values in an element that is a finding, "" if it does not have
// the value:
//
//	@a      attribute a
//	b@a     attribute a of the first element b in it
//	b/c@a   attribute a of c in b
//	^b@a    attribute a of the enclosing element b
//	.       the text of the element
//	b.      the text of b
//	x|y     the first of several places that is not empty
//
// For example, {file: "^file@name", line: "@line"} finds the file "a.c" and the line 3 of the
// element "error" in <file name="a.c"><error line="3"/></file>.
type xmlList struct {
	file, line, column, rule, message, level, text string
	defaultLevel                                   metric.Level // of elements without level; 0 for errors
}

// xmlFormats returns the formats of the shapes.
func xmlFormats(shapes []xmlShape) []parsed.Format {
	list := make([]parsed.Format, len(shapes))
	for i, s := range shapes {
		list[i] = parsed.Format{
			Name: s.name, Detect: s.detect, Parse: s.parse,
			Marks: "root `" + strings.ReplaceAll(s.root, "|", "` or `") + "`", Tools: cmp.Or(s.tools, s.tool), Note: s.note,
		}
	}
	return list
}

// detect reports whether the head is of a report with the shape.
func (s xmlShape) detect(h sniff.Head) bool {
	isPresent := func(name string) bool { return name == "" || h.HasElements(name) }
	return h.HasRoot(strings.Split(s.root, "|")...) && slices.ContainsFunc(strings.Split(s.required, "|"), isPresent)
}

// parse reads a report with the shape. It is an error if the root element is not in it.
func (s xmlShape) parse(r io.Reader) (parsed.Report, error) {
	x := &xmlShapeReader{xmlShape: s, lint: parsed.NewFindingSet(), names: parsed.Interner{}}
	x.lint.AddTool(s.tool)
	err := x.read(xmlstream.NewReader(r))
	return x.lint.Report(cmp.Or(s.tool, x.producer()), x.noise, parsed.RequireFound(err, x.found, "<"+s.root+">"))
}

// xmlShapeReader reads one report. It keeps the open elements and the current finding.
type xmlShapeReader struct {
	xmlShape
	lint         *parsed.FindingSet
	names        parsed.Interner
	noise        string       // the first line of text outside of the root element
	found        bool         // the root element was read
	openElements []xmlElement // from the root element inwards
	item         *xmlItem     // the finding that is being read, nil outside of findings
}

// xmlElement is an open element. Its attributes are only stored outside of findings.
type xmlElement struct {
	name  string
	attrs []xmlstream.Attr
}

// xmlItem is the finding that is being read. Paths begin below its element, which has the path
// "".
type xmlItem struct {
	depth  int                         // how many elements enclose the finding
	list   xmlList                     // where its values are
	values map[string]string           // attributes, by path@name
	texts  map[string]*textstream.Clip // texts of elements, by path; repeated elements have a * at the end
}

// read reads all tokens of the report.
func (x *xmlShapeReader) read(r *xmlstream.Reader) error {
	for {
		t, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s XML: %w", x.name, err)
		}

		switch t.Kind {
		case xmlstream.Start:
			x.openElement(t)
		case xmlstream.End:
			x.closeElement()
		case xmlstream.Text:
			x.addText(t)
		case xmlstream.Comment:
		}
	}
}

// openElement handles a start tag. In a finding it stores the attributes.
func (x *xmlShapeReader) openElement(t xmlstream.Token) {
	x.found = x.found || len(x.openElements) == 0 && slices.Contains(strings.Split(x.root, "|"), t.Name)
	list, isItem := x.lists[t.Name]
	if isItem && x.item == nil && len(x.openElements) > 0 {
		x.item = &xmlItem{depth: len(x.openElements), list: list, values: map[string]string{}, texts: map[string]*textstream.Clip{}}
	}

	x.openElements = append(x.openElements, xmlElement{name: t.Name})
	top := &x.openElements[len(x.openElements)-1]
	if x.item == nil {
		top.attrs = slices.Clone(t.Attrs)
		return
	}

	path := x.path()
	if x.item.texts[path] != nil { // the first element of a name counts
		path += "*"
	}
	x.item.texts[path] = &textstream.Clip{}
	for _, a := range t.Attrs {
		if _, known := x.item.values[path+"@"+a.Name]; !known {
			x.item.values[path+"@"+a.Name] = a.Value
		}
	}
}

// path returns the names of the open elements within the current finding, joined by "/". It is
// "" in the element of the finding itself.
func (x *xmlShapeReader) path() string {
	path := ""
	for i, e := range x.openElements[x.item.depth+1:] {
		if i > 0 {
			path += "/"
		}
		path += e.name
	}
	return path
}

// addText handles text: in a finding it is the text of its element, and outside of the root
// element it is noise.
func (x *xmlShapeReader) addText(t xmlstream.Token) {
	switch {
	case x.item != nil:
		if c := x.item.texts[x.path()]; c != nil {
			c.Add(t.Text)
		}
	case len(x.openElements) == 0 && x.noise == "":
		x.noise = textstream.CleanText(textstream.FirstLine(strings.TrimSpace(t.Text)))
	}
}

// closeElement handles an end tag. At the end of a finding it adds the finding to the report.
func (x *xmlShapeReader) closeElement() {
	if len(x.openElements) == 0 {
		return
	}
	x.openElements = x.openElements[:len(x.openElements)-1]
	if x.item == nil || len(x.openElements) > x.item.depth {
		return
	}
	f := x.toFinding()
	x.item = nil

	list := []metric.Finding{f}
	if x.convert != nil {
		list = x.convert(f)
	}
	for _, f := range list {
		x.lint.Add(f)
	}
}

// toFinding returns the current finding.
func (x *xmlShapeReader) toFinding() metric.Finding {
	l := x.item.list
	f := newFinding(x.names, x.tool, findingTexts{x.valueAt(l.file), x.valueAt(l.rule), x.valueAt(l.message), x.valueAt(l.text)})
	f.Level, f.Line, f.Column = l.defaultLevel, parseCount(x.valueAt(l.line)), parseCount(x.valueAt(l.column))
	name := strings.ToLower(x.valueAt(l.level))
	if level, ok := x.levels[name]; ok {
		f.Level = level
	} else if f.Level == 0 || name != "" {
		f.Level = parsed.LevelOf(name)
	}
	return f
}

// valueAt returns the first value at the places that is not empty, "" if there is none. See
// [xmlList] for the notation.
func (x *xmlShapeReader) valueAt(places string) string {
	for place := range strings.SplitSeq(places, "|") {
		value := ""
		if element, text := strings.CutSuffix(place, "."); text {
			if c := x.item.texts[element]; c != nil {
				value = c.String()
			}
		} else if enclosing, ok := strings.CutPrefix(place, "^"); ok {
			element, attr, _ := strings.Cut(enclosing, "@")
			value = x.enclosingAttr(element, attr)
		} else {
			value = x.item.values[place]
		}
		if value = strings.TrimSpace(value); value != "" {
			return value
		}
	}
	return ""
}

// enclosingAttr returns an attribute of the innermost enclosing element with the name, "" if
// there is none.
func (x *xmlShapeReader) enclosingAttr(element, attr string) string {
	for _, e := range slices.Backward(x.openElements[:x.item.depth]) {
		if e.name == element {
			value, _ := xmlstream.Token{Attrs: e.attrs}.Attr(attr)
			return value
		}
	}
	return ""
}

// producer returns the tool that the findings name, "" if they name several.
func (x *xmlShapeReader) producer() string {
	if len(x.lint.Tools) == 1 {
		return x.lint.Tools[0]
	}
	return ""
}

// parseCount parses the number of a line or column. Other texts give 0.
func parseCount(text string) int { return lintItem{value: text}.number(".") }
