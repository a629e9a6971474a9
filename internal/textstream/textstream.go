// Package textstream reads the output of other programs: in any encoding, with lines of any
// length, and with terminal colors. It keeps only a bounded piece of the text in memory.
//
// [UTF8] converts the encoding, and [EachLine] reads lines. [CleanText], [CleanName] and [Clip]
// make a text safe and short to show, [EscapeLog] makes it safe for a log. [Problems] collects
// what is odd about a report, and [SyntaxError] says where it is damaged.
package textstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is how many bytes of one line are kept, far more than an event of a test
// runner or a compiler message has.
const MaxLine = 4 << 20

// chunkSize is the size of the buffers for reading, in bytes.
const chunkSize = 64 << 10

// SyntaxError says where a report is damaged or truncated. Line counts from 1, and Offset is in
// bytes of the UTF-8 text. Both are 0, and File is "", if they are not known.
type SyntaxError struct {
	File    string
	Line    int
	Offset  int64
	Problem string
}

// Error names the place and the problem.
func (e *SyntaxError) Error() string {
	place := ""
	if e.File != "" {
		place = e.File + ": "
	}
	switch {
	case e.Line > 0 && e.Offset == 0:
		place += fmt.Sprintf("line %d: ", e.Line)
	case e.Line > 0:
		place += fmt.Sprintf("line %d (byte %d): ", e.Line, e.Offset)
	case e.Offset > 0:
		place += fmt.Sprintf("byte %d: ", e.Offset)
	}
	return place + e.Problem
}

// WrapError adds to an error what was read ("report") and its name, which becomes the file
// of a [SyntaxError]. nil stays nil.
func WrapError(err error, what, name string) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.File = name
		return fmt.Errorf("read %s: %w", what, syntax)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s %s: %w", what, name, err)
}

// Line is one line of a text, without its end.
type Line struct {
	Text     []byte // valid until the next line is read
	Number   int    // from 1
	Offset   int64  // of its first byte
	Complete bool   // its end was read: it is not a truncated last line
	Long     bool   // it has more than MaxLine bytes, and is shortened to them
}

// Error returns a [SyntaxError] at the line.
func (l Line) Error(format string, args ...any) error {
	return &SyntaxError{Line: l.Number, Offset: l.Offset, Problem: fmt.Sprintf(format, args...)}
}

// Lines reads lines of any length in bounded memory.
type Lines struct {
	src    *bufio.Reader
	buf    []byte // the start of a line that is longer than the buffer of src
	number int    // of the last line
	offset int64  // of the next line
}

// NewLines returns a reader of the lines of r.
func NewLines(r io.Reader) *Lines { return &Lines{src: bufio.NewReaderSize(r, chunkSize)} }

// Next returns the next line. At the end of the text it returns [io.EOF]. An error of the
// source is returned as it is, without the line in which it happens.
func (l *Lines) Next() (Line, error) {
	line := Line{Number: l.number + 1, Offset: l.offset}
	part, err := l.src.ReadSlice('\n')
	if err == nil { // usually the buffer holds the entire line
		l.offset += int64(len(part))
		l.number++
		line.Complete, line.Text = true, trimLineEnd(part)
		return line, nil
	}

	l.buf = l.buf[:0]
	for {
		l.offset += int64(len(part))
		if room := MaxLine - len(l.buf); len(part) > room {
			line.Long, part = true, part[:room]
		}
		l.buf = append(l.buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = l.src.ReadSlice('\n')
	}

	if err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)) {
		return Line{}, err
	}
	l.number++
	line.Complete, line.Text = err == nil, trimLineEnd(l.buf)
	return line, nil
}

// trimLineEnd returns the line without line feeds and carriage returns at its end.
func trimLineEnd(line []byte) []byte {
	n := len(line)
	for n > 0 && (line[n-1] == '\n' || line[n-1] == '\r') {
		n--
	}
	return line[:n]
}

// EachLine calls f with every line, and returns the error that ended the text early, if
// any.
func EachLine(r io.Reader, f func(Line)) error {
	lines := NewLines(r)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		f(line)
	}
}
