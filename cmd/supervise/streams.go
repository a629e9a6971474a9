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

// output has the writers of an app. All of them mask secrets, except raw. Text for people also
// makes control characters and commands for CI systems visible.
type output struct {
	in        *os.File
	out, err  io.Writer // text for people
	doc, talk io.Writer // documents on standard output, and live lines of a terminal on standard error
	raw       streams   // for contents of files and the terminal of an agent
	mask      secrets.Mask
	screen    *screen
	board     *live.Board // of the running loop; nil before it starts
}

// screen is the terminal of a command, with the region on its last lines.
type screen struct{ region *live.Region }

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
	isText bool    // text for people
}

// Write writes complete lines or documents.
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

// maskingCloser masks the output of an agent and closes both writers.
type maskingCloser struct {
	io.WriteCloser
	to io.Closer
}

func (o output) maskAgentOutput(to io.WriteCloser) io.WriteCloser {
	return maskingCloser{o.mask.Writer(to), to}
}

func (m maskingCloser) Close() error {
	err := m.WriteCloser.Close()
	return errors.Join(err, m.to.Close())
}
