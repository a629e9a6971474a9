package main

import (
	"errors"
	"io"
	"os"

	"supervise/internal/event"
	"supervise/internal/report/live"
)

// hasRegion reports whether what is done now can be shown on the last lines of the
// terminal: nothing else may write there but this process, as the reader of a pipe does.
func (a *app) hasRegion() bool {
	talk, isFile := a.raw.err.(*os.File)
	out, isToo := a.raw.out.(*os.File)
	if !isFile || !isToo || !live.SupportsRegion(talk) {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0
}

// openRegion shows a board on the last lines of the terminal until it is ended. spoken
// says that the agent's words are printed as they come.
func (a *app) openRegion(b *live.Board, spoken bool) (end func()) {
	out, _ := a.raw.err.(*os.File) // see hasRegion
	a.screen.region = live.Open(b, live.Options{Out: out, Paint: a.paint(out), AgentPrinted: spoken, Env: os.Getenv})
	return a.screen.region.Close
}

// shownOn has a board know of events before they are printed.
func shownOn(b *live.Board, next func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		b.HandleEvent(e)
		next(e)
	}
}

// both passes what is written on to two writers.
type both struct{ first, second io.WriteCloser }

func (b both) Write(p []byte) (int, error) { return io.MultiWriter(b.first, b.second).Write(p) }

func (b both) Close() error { return errors.Join(b.first.Close(), b.second.Close()) }
