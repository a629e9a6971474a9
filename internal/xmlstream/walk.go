package xmlstream

import (
	"errors"
	"io"
)

// EachChild calls f with the Start of every direct child of the innermost open element,
// or of the document if none is open. What f leaves unread of an element is skipped,
// and so is text. EachChild returns after the end of the element, with the first error
// of f or of [Reader.Next]; the end of the document is not an error.
func (r *Reader) EachChild(f func(Token) error) error {
	depth := r.openElements()
	for {
		r.SkipText(true)
		t, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}

		switch t.Kind {
		case End:
			if t.Depth < depth {
				return nil
			}
		case Start:
			if err := f(t); err != nil {
				return err
			}
			if err := r.skipToDepth(t.Depth); err != nil {
				return err
			}
		case Comment:
			if r.OnComment != nil {
				r.OnComment(t)
			}
		case Text:
		}
	}
}

// EachText calls f with all text in the innermost open element and the elements within
// it, and returns after its end.
func (r *Reader) EachText(f func(string)) error {
	depth := r.openElements()
	for r.openElements() >= depth {
		r.SkipText(false)
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

// skipToDepth skips everything until only depth elements are open.
func (r *Reader) skipToDepth(depth int) error {
	r.SkipText(true)
	for r.openElements() > depth {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	return nil
}

// openElements returns the number of open elements, including an empty one whose End is next.
func (r *Reader) openElements() int {
	if r.endPending {
		return len(r.stack) + 1
	}
	return len(r.stack)
}
