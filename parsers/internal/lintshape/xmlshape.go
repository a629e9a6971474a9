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

// xmlShape says where an XML report keeps its findings, and how it is recognised.
// Names with | between them are alternatives.
type xmlShape struct {
	name   string
	root   string // element
	with   string // one of these has to be there too, "" among them for none
	tool   string // "" if it is not known
	from   string // Tools of the format, "" for tool
	note   string // Note of the format
	levels map[string]metric.Level
	lists  map[string]xmlList // by element
	each   func(metric.Finding) []metric.Finding
}

// xmlList says where an element that is a finding has its values: "@a" is an
// attribute, "b@a" one of the first element b in it, "b/c@a" of c in b, "^b@a"
// one of the enclosing element b; "." is the element's text, "b." that of b. Of
// several places with | between them the first that is not empty counts.
type xmlList struct {
	file, line, column, rule, message, level, text string
	fixed                                          metric.Level // of elements without level; 0 for errors
}

func xmlFormats(shapes []xmlShape) []parsed.Format {
	list := make([]parsed.Format, len(shapes))
	for i, s := range shapes {
		list[i] = parsed.Format{
			Name: s.name, Detect: s.detect, Parse: s.parse,
			Marks: "root `" + strings.ReplaceAll(s.root, "|", "` or `") + "`", Tools: cmp.Or(s.from, s.tool), Note: s.note,
		}
	}
	return list
}

func (s xmlShape) detect(h sniff.Head) bool {
	if !h.HasRoot(strings.Split(s.root, "|")...) {
		return false
	}
	if s.with == "" {
		return true
	}
	for name := range strings.SplitSeq(s.with, "|") {
		if name == "" || h.HasElements(name) {
			return true
		}
	}
	return false
}

func (s xmlShape) parse(r io.Reader) (parsed.Report, error) {
	x := &xmlShapeReader{xmlShape: s, lint: parsed.NewFindingSet(), names: parsed.Interner{}}
	x.lint.Heard(s.tool)
	err := x.read(xmlstream.NewReader(r))
	return x.lint.Report(cmp.Or(s.tool, x.producer()), x.noise, parsed.NothingFound(err, x.found, "<"+s.root+">"))
}

// xmlShapeReader reads one report. It keeps what encloses the present element,
// and what was read of the present finding.
type xmlShapeReader struct {
	xmlShape
	lint  *parsed.FindingSet
	names parsed.Interner
	noise string
	found bool
	open  []xmlOpen
	item  *xmlItem
}

type xmlOpen struct {
	name  string
	attrs []xmlstream.Attr
}

// xmlItem is a finding: its values by the places of [xmlList].
type xmlItem struct {
	depth  int
	list   xmlList
	values map[string]string
	texts  map[string]*textstream.Clip
}

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
			x.start(t)
		case xmlstream.End:
			x.end()
		case xmlstream.Text:
			x.text(t)
		case xmlstream.Comment:
		}
	}
}

func (x *xmlShapeReader) start(t xmlstream.Token) {
	x.found = x.found || len(x.open) == 0 && slices.Contains(strings.Split(x.root, "|"), t.Name)
	list, isItem := x.lists[t.Name]
	if isItem && x.item == nil && len(x.open) > 0 {
		x.item = &xmlItem{depth: len(x.open), list: list, values: map[string]string{}, texts: map[string]*textstream.Clip{}}
	}
	x.open = append(x.open, xmlOpen{name: t.Name})
	top := &x.open[len(x.open)-1]
	if x.item == nil {
		top.attrs = slices.Clone(t.Attrs)
		return
	}
	path := x.path()
	if x.item.texts[path] != nil { // the first of its name counts
		path += "*"
	}
	x.item.texts[path] = &textstream.Clip{}
	for _, a := range t.Attrs {
		if _, known := x.item.values[path+"@"+a.Name]; !known {
			x.item.values[path+"@"+a.Name] = a.Value
		}
	}
}

// path returns the names of the elements from the present item on.
func (x *xmlShapeReader) path() string {
	path := ""
	for i, e := range x.open[x.item.depth+1:] {
		if i > 0 {
			path += "/"
		}
		path += e.name
	}
	return path
}

func (x *xmlShapeReader) text(t xmlstream.Token) {
	switch {
	case x.item != nil:
		if c := x.item.texts[x.path()]; c != nil {
			c.Add(t.Text)
		}
	case len(x.open) == 0 && x.noise == "":
		x.noise = textstream.CleanText(textstream.FirstLine(strings.TrimSpace(t.Text)))
	}
}

func (x *xmlShapeReader) end() {
	if len(x.open) == 0 {
		return
	}
	x.open = x.open[:len(x.open)-1]
	if x.item == nil || len(x.open) > x.item.depth {
		return
	}
	f := x.finding()
	x.item = nil
	list := []metric.Finding{f}
	if x.each != nil {
		list = x.each(f)
	}
	for _, f := range list {
		x.lint.Keep(f)
	}
}

func (x *xmlShapeReader) finding() metric.Finding {
	l := x.item.list
	f := metric.Finding{
		Tool: x.tool, Rule: x.names.Of(textstream.CleanName(x.value(l.rule))), Level: l.fixed, Line: count(x.value(l.line)), Column: count(x.value(l.column)),
		Message: textstream.ClipText(x.value(l.message)), Text: textstream.ClipText(textstream.FirstLine(x.value(l.text))),
	}
	if file := x.value(l.file); file != "" {
		f.File = x.names.Of(parsed.URIPath(strings.ReplaceAll(file, "%", "%25")))
	}
	name := strings.ToLower(x.value(l.level))
	if level, ok := x.levels[name]; ok {
		f.Level = level
	} else if f.Level == 0 || name != "" {
		f.Level = parsed.LevelOf(name)
	}
	return f
}

// value returns the first of the places that is not empty.
func (x *xmlShapeReader) value(places string) string {
	for place := range strings.SplitSeq(places, "|") {
		value := ""
		if element, text := strings.CutSuffix(place, "."); text {
			if c := x.item.texts[element]; c != nil {
				value = c.String()
			}
		} else if enclosing, ok := strings.CutPrefix(place, "^"); ok {
			element, attr, _ := strings.Cut(enclosing, "@")
			value = x.enclosing(element, attr)
		} else {
			value = x.item.values[place]
		}
		if value = strings.TrimSpace(value); value != "" {
			return value
		}
	}
	return ""
}

func (x *xmlShapeReader) enclosing(element, attr string) string {
	for _, e := range slices.Backward(x.open[:x.item.depth]) {
		if e.name == element {
			value, _ := xmlstream.Token{Attrs: e.attrs}.Attr(attr)
			return value
		}
	}
	return ""
}

// producer is the one tool that the findings name.
func (x *xmlShapeReader) producer() string {
	if len(x.lint.Tools) == 1 {
		return x.lint.Tools[0]
	}
	return ""
}

// count reads a number of a line or column, 0 if it is none.
func count(text string) int { return lintItem{value: text}.number(".") }
