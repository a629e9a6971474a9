package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Style is how a part of a text is set off.
type Style uint8

// The styles. Terminals show the tones as colours, and HTML as classes; Markdown marks
// labels by them.
const (
	Plain Style = iota
	Good
	Bad
	Warn
	Faint
	Strong
	Verbatim // a name or a command, to be read letter by letter
)

// Span is a part of a text in one style.
type Span struct {
	Style Style
	Text  string
}

// String returns the text without its style.
func (s Span) String() string { return s.Text }

// Text is a line of text, or of a paragraph several.
type Text []Span

// String returns the text without its styles.
func (t Text) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Textf formats like [fmt.Sprintf], with one verb for each argument. In the format, which
// is never a text from outside, a part between backticks is [Verbatim], and one between
// double asterisks [Strong]. Arguments of type [Span] or [Text] keep their styles.
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

// textWriter collects a text, with the style that its format has reached.
type textWriter struct {
	out   Text
	style Style
}

// addFormat adds a part of the format between two verbs.
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

func (w *textWriter) toggle(s Style) {
	if w.style == s {
		s = Plain
	}
	w.style = s
}

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

// add appends a span, or makes the last one longer.
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

// oneLine returns the text with its line breaks as spaces.
func (t Text) oneLine() Text {
	out := make(Text, len(t))
	for i, s := range t {
		out[i] = Span{s.Style, oneLine(s.Text)}
	}
	return out
}

func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}

// pad fills a text with spaces up to a width in characters.
func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// Join joins names in one style, with a separator in between.
func Join(style Style, names []string, separator string) Text {
	w := textWriter{}
	for i, name := range names {
		if i > 0 {
			w.out = append(w.out, Span{Text: separator})
		}
		w.out = append(w.out, Span{style, name})
	}
	return w.out
}
