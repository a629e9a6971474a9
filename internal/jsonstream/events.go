package jsonstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"supervise/internal/textstream"
)

// Sink receives what [ReadEvents] finds. The bytes are valid only during the call. Noise may be
// nil.
type Sink struct {
	Event func(raw []byte, at textstream.Line) error // one object; an error ends the reading
	Noise func(text []byte, at textstream.Line)      // text that is not part of an event
}

// ReadEvents reads one or more objects per line, as in JSON Lines, with the text of other
// programs around them. An event begins with one of starts, or `{"` by default. A last
// line that is truncated inside an event is a [textstream.SyntaxError].
func ReadEvents(r io.Reader, starts []string, s Sink) error {
	if len(starts) == 0 {
		starts = []string{`{"`}
	}
	marks := make([][]byte, len(starts))
	for i, m := range starts {
		marks[i] = []byte(m)
	}

	lines := textstream.NewLines(r)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		if err := readLine(line, marks, s); err != nil {
			return err
		}
	}
}

// readLine passes the objects of a line to the sink, and the text around them as noise.
func readLine(line textstream.Line, starts [][]byte, s Sink) error {
	text := line.Text
	for len(text) > 0 {
		at := firstIndex(text, starts)
		if at < 0 {
			if !line.Complete && text[0] == '{' {
				return truncatedError(line)
			}
			reportNoise(text, line, s)
			return nil
		}

		reportNoise(text[:at], line, s)
		text = text[at:]
		n := objectEnd(text)
		if n < 0 {
			if !line.Complete {
				return truncatedError(line)
			}
			reportNoise(text, line, s)
			return nil
		}

		if err := s.Event(text[:n], line); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// truncatedError returns the error for a last line that ends inside an event.
func truncatedError(line textstream.Line) error {
	return line.Error("the report ends in the middle of an event: the tool was stopped, or its output was cut off")
}

// reportNoise passes text to the sink, unless it is only white space.
func reportNoise(text []byte, line textstream.Line, s Sink) {
	if s.Noise != nil && len(bytes.TrimSpace(text)) > 0 {
		s.Noise(text, line)
	}
}

// firstIndex returns the position of the first of the marks in text, or -1.
func firstIndex(text []byte, marks [][]byte) int {
	at := -1
	for _, m := range marks {
		if bytes.HasPrefix(text, m) {
			return 0
		}
		if i := bytes.Index(text, m); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// objectEnd returns the length of the object that text begins with, or -1 if it does
// not end.
func objectEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := StringEnd(text[i+1:])
			if n < 0 {
				return -1
			}
			i += n
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// StringEnd returns the length of the string after its opening quote, including the closing
// quote, or -1 if it does not end. A quote after an odd number of backslashes does not end it.
func StringEnd(text []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			return i
		}
	}
}
