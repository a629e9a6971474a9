package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"supervise/internal/agent"
	"supervise/internal/document"
	"supervise/internal/textstream"
)

// NewAgentWriter returns a writer that shows the output of an agent on out, line by line and
// indented. If program is a known agent that prints events, it shows only their messages.
func NewAgentWriter(out io.Writer, paint document.Paint, program string) io.WriteCloser {
	to := &lineWriter{to: out, prefix: paint(document.Faint, "       │ ")}
	if known, err := agent.ByName(program); err == nil && known.Events.IsDefined() {
		return newMessages(known, to)
	}
	return to
}

// lineWriter prints an agent's output line by line after a prefix, without escape sequences.
type lineWriter struct {
	to      io.Writer
	prefix  string
	partial []byte // the start of the line that has not ended
}

// Write prints the complete lines and keeps the rest.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.partial = append(l.partial, p...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.print(line)
		l.partial = append(l.partial[:0], rest...)
	}
}

// print prints one line, unless it is empty.
func (l *lineWriter) print(line []byte) {
	text := textstream.EscapeLog(strings.Map(printable, textstream.StripANSI(string(line))))
	if text = strings.TrimRight(text, " "); text != "" {
		fmt.Fprintln(l.to, l.prefix+text)
	}
}

// printable returns a character, and -1 for control characters except tabs.
func printable(r rune) rune {
	if r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// Close prints the last line, which had no line feed.
func (l *lineWriter) Close() error {
	l.print(l.partial)
	l.partial = nil
	return nil
}

// messageWriter shows the messages in the events that an agent prints.
type messageWriter struct {
	*agent.Reader
	to      io.WriteCloser
	pending string // the last message, to which the agent may still add text
}

// newMessages returns a writer that prints the messages of an agent to another writer.
func newMessages(p agent.Preset, to io.WriteCloser) *messageWriter {
	s := &messageWriter{to: to}
	s.Reader = p.NewReader(func(r agent.Report) {
		if !strings.HasPrefix(r.LastMessage, s.pending) {
			s.flush()
		}
		s.pending = r.LastMessage
	})
	return s
}

// flush prints the last message.
func (s *messageWriter) flush() {
	if s.pending != "" {
		_, _ = io.WriteString(s.to, s.pending+"\n") // lines are never refused
	}
	s.pending = ""
}

// Close shows the last message, or the output of an agent that printed no events.
func (s *messageWriter) Close() error {
	err := s.Reader.Close()
	if r := s.Report(); r.Lines == 0 {
		s.pending = r.LastOutput
	} else if r.LastMessage != "" {
		s.pending = r.LastMessage
	}
	s.flush()
	return errors.Join(err, s.to.Close())
}
