package main

import (
	"errors"
	"io"
	"os"

	"supervise/internal/report/live"
	"supervise/internal/secrets"
	"supervise/internal/textstream"
)

// streams are where a command reads and writes.
type streams struct {
	in       *os.File
	out, err io.Writer
}

// output has the writers of an app. All of them mask secrets, except raw. Those for text also make
// invisible characters, and commands for CI services, visible.
type output struct {
	in        *os.File
	out, err  io.Writer // text for people
	doc, talk io.Writer // documents on standard output, and live lines of a terminal on standard error
	raw       streams   // unmasked, for contents of files and the terminal of an agent
	mask      secrets.Mask
	screen    *screen
	board     *live.Board // board of the running loop; nil before it starts
}

// screen is the terminal of a command. The region on its last lines is nil if nothing is shown
// there.
type screen struct{ region *live.Region }

// outputTo returns the writers for the streams. They print above the region of the screen, if it
// has one.
func outputTo(s streams) output {
	o := output{in: s.in, raw: s, mask: secrets.NewMask(os.Environ()), screen: &screen{}}
	writer := func(to io.Writer, isText bool) io.Writer {
		return &maskingWriter{to: to, mask: o.mask, screen: o.screen, isText: isText}
	}
	o.out, o.err = writer(s.out, true), writer(s.err, true)
	o.doc, o.talk = writer(s.out, false), writer(s.err, false)
	return o
}

// maskingWriter masks secrets in what is written to it.
type maskingWriter struct {
	to     io.Writer
	mask   secrets.Mask
	screen *screen // may be nil
	isText bool    // invisible characters are made visible
}

// Write writes one or more complete lines, or a document. A secret that is split between two calls
// is not recognized.
func (s *maskingWriter) Write(p []byte) (int, error) {
	text := s.mask.Bytes(p)
	if s.isText {
		text = []byte(textstream.EscapeColored(string(text)))
	}
	if s.screen != nil && s.screen.region != nil && isTerminal(s) {
		if _, err := s.screen.region.Print(s.to, text); err != nil {
			return 0, err
		}
	} else if _, err := s.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeCloser writes to a writer and is closed by a function.
type writeCloser struct {
	io.Writer
	close func() error
}

// Close calls the function.
func (w writeCloser) Close() error { return w.close() }

// maskAgentOutput returns a writer that masks secrets in the stream of an agent's output and passes
// it to another writer. Close closes both.
func (o output) maskAgentOutput(to io.WriteCloser) io.WriteCloser {
	masked := o.mask.Writer(to)
	return writeCloser{masked, func() error { return errors.Join(masked.Close(), to.Close()) }}
}
