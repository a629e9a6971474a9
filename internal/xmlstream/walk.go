package xmlstream

import (
	"errors"
	"io"
)

// Children calls f with the Start of every element that stands directly in the
// innermost open one or, where none is open, in the document. What f leaves
// unread of an element is passed over, as is text. Children returns behind the
// end of the element, with the first error of f or of [Reader.Next]; the end of
// the document is none.
func (r *Reader) Children(f func(Token) error) error {
	inside := r.open()
	for {
		r.Mute(true)
		t, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch t.Kind {
		case End:
			if t.Depth < inside {
				return nil
			}
		case Start:
			if err := f(t); err != nil {
				return err
			}
			if err := r.leave(t.Depth); err != nil {
				return err
			}
		case Text, Comment:
		}
	}
}

// Content calls f with all text in the innermost open element, that of the
// elements within it included, and returns behind its end.
func (r *Reader) Content(f func(string)) error {
	for inside := r.open(); r.open() >= inside; {
		r.Mute(false)
		t, err := r.Next()
		if err != nil {
			return err
		}
		if t.Kind == Text {
			f(t.Text)
		}
	}
	return nil
}

// leave passes over everything up to where only depth elements are open.
func (r *Reader) leave(depth int) error {
	r.Mute(true)
	for r.open() > depth {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	return nil
}

// open is how many elements are open.
func (r *Reader) open() int {
	if r.empty {
		return len(r.stack) + 1
	}
	return len(r.stack)
}
