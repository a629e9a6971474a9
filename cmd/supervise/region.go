package main

import (
	"errors"
	"io"
	"os"

	"supervise/internal/event"
	"supervise/internal/report/live"
)

// hasRegion reports whether the last lines of the terminal can show what happens. They cannot if
// another process may write to the terminal, such as the reader of a pipe from standard output.
func (a *app) hasRegion() bool {
	talk, isFile := a.raw.err.(*os.File)
	out, isFileToo := a.raw.out.(*os.File)
	if !isFile || !isFileToo || !live.SupportsRegion(talk) {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0
}

// openRegion shows a board on the last lines of the terminal, until end is called. spoken says
// that the messages of the agent are printed as well. The caller has checked [app.hasRegion].
func (a *app) openRegion(b *live.Board, spoken bool) (end func()) {
	out, _ := a.raw.err.(*os.File) // see hasRegion
	a.screen.region = live.Open(b, live.Options{Out: out, Paint: a.paint(out), AgentPrinted: spoken, Env: os.Getenv})
	return a.screen.region.Close
}

// updateBoard returns a function that passes events to the board and then to next, which prints
// them.
func updateBoard(b *live.Board, next func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		b.HandleEvent(e)
		next(e)
	}
}

// newTee returns a writer to two writers.
func newTee(first, second io.WriteCloser) io.WriteCloser {
	return writeCloser{io.MultiWriter(first, second), func() error { return errors.Join(first.Close(), second.Close()) }}
}
