package document

import (
	"fmt"
	"strings"
	"unicode"
)

// Style is how a part of a text is set off.
type Style uint8

// The styles. A terminal shows Good, Bad, Warn and Faint as colors, and HTML as classes. Markdown
// puts a mark in front of labels for Good, Bad and Warn.
const (
	Plain Style = iota
	Good
	Bad
	Warn
	Faint
	Strong
	Verbatim // a name or a command, which readers may copy
)

// Span is a part of a text in one style.
type Span struct {
	Style Style
	Text  string
}

// String returns the text without its style.
func (s Span) String() string { return s.Text }

// Text is a line of text. In a paragraph it may have several lines.
type Text []Span

// String returns the text without its styles.
func (t Text) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Textf formats like [fmt.Sprintf], with one verb for each argument. In the format, a part between
// backticks is [Verbatim], and a part between double asterisks is [Strong], as in
//
//	Textf("run `%s`, which is **new**", command)
//
// The format must not be a text from outside. Arguments of type [Span] or [Text] keep their
// styles.
func Textf(format string, args ...any) Text {
	if false {
		_ = fmt.Sprintf(format, args...) // so that go vet checks the callers
	}
	w := textWriter{}
	for format != "" {
		plain, rest, found := strings.Cut(format, "%")
		w.addFormat(plain)
		if !found {
			break
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return r == '%' || unicode.IsLetter(r) })
		verb := "%" + rest[:n+1]
		format = rest[n+1:]
		if verb == "%%" {
			w.add(Span{w.style, "%"})
			continue
		}
		w.addArg(verb, args[0])
		args = args[1:]
	}
	return w.out
}

// textWriter collects the spans of a text. style is the current style in the format.
type textWriter struct {
	out   Text
	style Style
}

// addFormat adds the part of the format between two verbs, and changes the style at marks.
func (w *textWriter) addFormat(s string) {
	for s != "" {
		at := strings.IndexAny(s, "`*")
		switch {
		case at < 0:
			w.add(Span{w.style, s})
			return
		case s[at] == '`':
			w.add(Span{w.style, s[:at]})
			w.toggle(Verbatim)
			s = s[at+1:]
		case strings.HasPrefix(s[at:], "**"):
			w.add(Span{w.style, s[:at]})
			w.toggle(Strong)
			s = s[at+2:]
		default:
			w.add(Span{w.style, s[:at+1]})
			s = s[at+1:]
		}
	}
}

// toggle starts the style s, or ends it if it is the current one.
func (w *textWriter) toggle(s Style) {
	if w.style == s {
		s = Plain
	}
	w.style = s
}

// addArg adds an argument, formatted by its verb.
func (w *textWriter) addArg(verb string, arg any) {
	switch x := arg.(type) {
	case Span:
		w.add(Span{x.Style, fmt.Sprintf(verb, x.Text)})
	case Text:
		for _, s := range x {
			w.add(s)
		}
	default:
		w.add(Span{w.style, fmt.Sprintf(verb, arg)})
	}
}

// add appends a span. If the last one has the same style, it appends the text to that.
func (w *textWriter) add(s Span) {
	if s.Text == "" {
		return
	}
	if n := len(w.out); n > 0 && w.out[n-1].Style == s.Style {
		w.out[n-1].Text += s.Text
		return
	}
	w.out = append(w.out, s)
}

// oneLine returns the text with spaces in place of its line breaks.
func (t Text) oneLine() Text {
	out := make(Text, len(t))
	for i, s := range t {
		out[i] = Span{s.Style, oneLine(s.Text)}
	}
	return out
}

// oneLine returns a string with spaces in place of its line breaks.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}

// Join joins names in one style, with a plain separator between them.
func Join(style Style, names []string, separator string) (out Text) {
	for i, name := range names {
		if i > 0 {
			out = append(out, Span{Text: separator})
		}
		out = append(out, Span{style, name})
	}
	return out
}
