package main

import (
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

// output is what an app prints to. What a name or a message holds cannot hide in text for
// people, nor give commands to a CI system; documents for programs have formats of their
// own. Neither shows secrets.
type output struct {
	in        *os.File
	out, err  io.Writer // text for people
	doc, talk io.Writer // documents and the moving lines of a terminal, on standard output and error
	raw       streams   // contents of files, and the terminal of an agent
	mask      secrets.Mask
	screen    *screen
	board     *live.Board // of the loop that runs here; nil before
}

// screen is the terminal of a command, with what is shown on its last lines.
type screen struct{ region *live.Region }

func outputTo(s streams) output {
	mask, on := secrets.NewMask(os.Environ()), &screen{}
	return output{
		in: s.in, raw: s, mask: mask, screen: on,
		out: &shown{to: s.out, mask: mask, on: on, text: true}, err: &shown{to: s.err, mask: mask, on: on, text: true},
		doc: &shown{to: s.out, mask: mask, on: on}, talk: &shown{to: s.err, mask: mask, on: on},
	}
}

// shown passes on what is written to it without secrets.
type shown struct {
	to   io.Writer
	mask secrets.Mask
	on   *screen
	text bool // for people
}

// Write takes whole lines or documents.
func (s *shown) Write(p []byte) (int, error) {
	text := s.mask.Bytes(p)
	if s.text {
		text = []byte(textstream.EscapeColored(string(text)))
	}
	if s.on != nil && s.on.region != nil && isTerminal(s) {
		if _, err := s.on.region.Print(s.to, text); err != nil {
			return 0, err
		}
	} else if _, err := s.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// masked masks what an agent prints before it is shown.
type masked struct {
	io.WriteCloser
	to io.Closer
}

func (o output) masked(to io.WriteCloser) io.WriteCloser { return masked{o.mask.Writer(to), to} }

func (m masked) Close() error {
	err := m.WriteCloser.Close()
	if closing := m.to.Close(); err == nil {
		err = closing
	}
	return err
}
