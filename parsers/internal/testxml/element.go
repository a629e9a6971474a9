package testxml

import (
	"slices"

	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
)

// element is a small element of a report that was read completely, such as a test.
type element struct {
	xmlstream.Token
	children []*element      // the elements directly in it that are wanted
	content  textstream.Clip // all text in it, also that of elements within
	outer    *element        // the element around it, nil for the one that was read
}

// readElement reads the open element. It keeps the elements in it that have one of the wanted
// names, each in the nearest kept element around it.
func readElement(x *xmlstream.Reader, t xmlstream.Token, wanted ...string) (*element, error) {
	top := newElement(t, nil)
	open := top
	for depth := t.Depth; ; {
		x.SkipText(open == top && len(wanted) > 0)
		t, err := x.Next()
		if err != nil {
			return top, err
		}
		switch {
		case t.Kind == xmlstream.Text:
			for e := open; e != nil; e = e.outer {
				e.content.Add(t.Text)
			}
		case t.Kind == xmlstream.Start && slices.Contains(wanted, t.Name):
			open = newElement(t, open)
			open.outer.children = append(open.outer.children, open)
		case t.Kind == xmlstream.End && t.Depth == depth:
			return top, nil
		case t.Kind == xmlstream.End && t.Depth == open.Depth:
			open = open.outer
		}
	}
}

func newElement(t xmlstream.Token, outer *element) *element {
	t.Attrs = slices.Clone(t.Attrs) // the reader reuses their memory
	return &element{Token: t, outer: outer}
}

// text returns the text of the element.
func (e *element) text() string { return e.content.String() }

// child returns the last child with the name. It is empty, without a name, if there is none.
func (e *element) child(name string) *element {
	for _, c := range slices.Backward(e.children) {
		if c.Name == name {
			return c
		}
	}
	return &element{}
}

// lines returns the texts of the children with one of the names, each on a new line.
func (e *element) lines(names ...string) string {
	var c textstream.Clip
	for _, inner := range e.children {
		if !slices.Contains(names, inner.Name) {
			continue
		}
		if !c.Empty() {
			c.Add("\n")
		}
		c.Add(inner.text())
	}
	return c.String()
}
