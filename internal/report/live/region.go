package live

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/report"

	"golang.org/x/term"
)

// The region is drawn at most ten times a second if something is new. Otherwise it is drawn once a
// second, because it shows a clock.
const (
	drawEvery  = 100 * time.Millisecond
	clockEvery = time.Second
)

// minCols and minRows are the size of the smallest terminal that shows a region.
const (
	minCols = 20
	minRows = 4
)

// Escape sequences of terminals, from ECMA-48 and the private modes of xterm.
const (
	clearRight = "\x1b[K"
	clearBelow = "\x1b[J"
	cursorUp   = "\x1b[%dA"
	noWrap     = "\x1b[?7l"
	wrap       = "\x1b[?7h"
)

// Region shows a board on the last lines of a terminal, below what is printed. The cursor stays
// below the region, so that the output of a shell after Ctrl-Z, or after the process was killed,
// does not mix with it. The methods of a nil Region show nothing.
type Region struct {
	// Options configure where and how a board is shown.
	Options
	board *Board
	marks terminalMarks

	mu       sync.Mutex
	widths   []int  // widths in columns of the drawn lines, nil if nothing is drawn
	frame    string // what was drawn last
	title    string
	cols     int       // width of the terminal when the lines were drawn
	drawn    time.Time // when the lines were drawn
	hidden   bool      // another program uses the terminal
	lineOpen bool      // the last printed line has not ended
	signals  signals

	redraw chan struct{} // receives a value when printing has erased the region
	done   chan struct{}
	work   sync.WaitGroup
}

// Options say where and how a board is shown.
type Options struct {
	Out          *os.File // a terminal
	Paint        document.Paint
	AgentPrinted bool                // the messages of the agent are printed, so the region omits them
	Env          func(string) string // returns a variable of the environment
}

// SupportsRegion reports whether f is a terminal whose lines can be replaced.
func SupportsRegion(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Open shows the board in a region until [Region.Close] is called.
func Open(b *Board, o Options) *Region {
	r := &Region{Options: o, board: b, marks: detectMarks(o.Env), redraw: make(chan struct{}, 1), done: make(chan struct{})}
	r.signals = listenForSignals()
	r.write(report.Either(r.marks.hasTitles, report.SaveTitle, ""))
	r.work.Go(r.drawLoop)
	return r
}

// Close removes the region.
func (r *Region) Close() {
	if r == nil {
		return
	}
	close(r.done)
	r.work.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.erase()
	r.hidden = true
	r.write(r.marks.endSequence())
	r.signals.close()
}

// drawLoop draws the region after each change, until the region is closed.
func (r *Region) drawLoop() {
	news := r.board.subscribe()
	clock := time.NewTimer(0)
	defer clock.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-news:
		case <-r.redraw:
		case <-r.signals.resized:
		case <-clock.C:
		}
		waitUntilSettled()
		r.mu.Lock()
		r.draw()
		r.mu.Unlock()
		select {
		case <-r.done:
			return
		case <-time.After(drawEvery):
		}
		clock.Reset(clockEvery - drawEvery)
	}
}

// settleTime is how long the signal that ends a stop may take to arrive; see [waitUntilSettled].
const settleTime = 20 * time.Millisecond

// waitUntilSettled waits for the signal SIGCONT. After Ctrl-Z and fg, a timer may wake the process
// before the signal arrives, and drawing then would start above what the shell has printed. If a
// sleep takes much longer than asked, the machine is busy or the process was stopped meanwhile, and
// it sleeps again.
func waitUntilSettled() {
	for range 5 {
		began := time.Now()
		time.Sleep(settleTime)
		if time.Since(began) < 2*settleTime {
			return
		}
	}
}

// Print writes text to w above the region. The region is erased, and drawn again immediately or
// soon.
func (r *Region) Print(w io.Writer, text []byte) (int, error) {
	if r == nil {
		return w.Write(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.erase()
	n, err := w.Write(text)
	if line := strings.TrimRight(string(text), "\a"); line != "" {
		r.lineOpen = !strings.HasSuffix(line, "\n")
	}
	if time.Since(r.drawn) >= drawEvery {
		r.draw()
		return n, err
	}
	select {
	case r.redraw <- struct{}{}:
	default:
	}
	return n, err
}

// HandleEvent hides the region while another program uses the terminal: an agent that draws there,
// if raw is set, or a question.
func (r *Region) HandleEvent(e event.Event, raw bool) {
	if r == nil {
		return
	}
	switch e.Type {
	case event.IterationStarted, event.AgentSpawned:
		r.setHidden(raw)
	case event.ApprovalRequested:
		d, _ := e.Data.(event.ApprovalRequest)
		r.setHidden(d.Terminal)
	case event.AgentFinished, event.ApprovalAnswered, event.LoopStopping:
		r.setHidden(false)
	default:
	}
}

// setHidden hides the region, or shows it again.
func (r *Region) setHidden(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hidden == away {
		return
	}
	if away {
		r.erase()
		r.write(r.marks.progressSequence(State{}, time.Time{}))
	}
	r.hidden, r.lineOpen = away, false
	if !away {
		r.draw()
	}
}

// draw draws the current state of the board, if it differs from what is drawn. The caller holds the
// lock.
func (r *Region) draw() {
	r.forgetAfterStop()
	if r.hidden || r.lineOpen || !isForeground(r.Out) {
		return
	}

	cols, rows := r.size()
	if cols < minCols || rows < minRows {
		r.erase()
		return
	}

	now := time.Now()
	state := r.board.State()
	if r.AgentPrinted {
		state.AgentMessage = ""
	}

	lines := state.styledLines(now)
	lines = lines[:min(len(lines), rows-2)]
	var body strings.Builder
	widths := make([]int, len(lines))
	for i, l := range lines {
		text, taken := l.fitWidth(cols-1, r.Paint)
		widths[i] = taken
		body.WriteString(text + clearRight + "\n")
	}

	if title := r.marks.titleSequence(state); title != r.title {
		r.title = title
		r.write(title)
	}

	frame := body.String() + r.marks.progressSequence(state, now)
	if frame == r.frame && (cols == r.cols || len(lines)+len(r.widths) == 0) {
		return
	}

	r.write(noWrap + r.cursorToTop(cols) + frame + clearBelow + wrap)
	r.widths, r.frame, r.cols, r.drawn = widths, frame, cols, now
}

// size returns the size of the terminal, or 80 by 24 if it is unknown.
func (r *Region) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(r.Out.Fd()))
	if err != nil || cols == 0 || rows == 0 {
		return 80, 24
	}
	return cols, rows
}

// cursorToTop returns the sequence that moves the cursor to the first line of the region. If the
// terminal has become narrower, the lines may occupy more rows than were drawn, and are cleared.
func (r *Region) cursorToTop(cols int) string {
	rows := len(r.widths)
	if cols < r.cols && r.marks.reflowsLines {
		for _, w := range r.widths {
			rows += max(0, w-1) / cols
		}
	}
	text := "\r"
	if rows > 0 {
		text += fmt.Sprintf(cursorUp, rows)
	}
	if cols != r.cols {
		text += clearBelow
	}
	return text
}

// erase removes the region from the screen. The caller holds the lock.
func (r *Region) erase() {
	r.forgetAfterStop()
	if len(r.widths) == 0 {
		return
	}
	cols, _ := r.size()
	if isForeground(r.Out) {
		r.write(r.cursorToTop(cols) + clearBelow)
	}
	r.widths, r.frame = nil, ""
}

// forgetAfterStop forgets what was drawn if the process was stopped and continued, because the
// shell has printed below it.
func (r *Region) forgetAfterStop() {
	select {
	case <-r.signals.continued:
		r.widths, r.frame = nil, ""
	default:
	}
}

// write writes to the terminal. Errors are ignored, since the terminal may be closed.
func (r *Region) write(text string) { _, _ = io.WriteString(r.Out, text) }
