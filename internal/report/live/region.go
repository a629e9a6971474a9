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

	"golang.org/x/term"
)

// How often the region is drawn: at most ten times a second when something is new, and
// once a second otherwise, for the clock.
const (
	drawEvery  = 100 * time.Millisecond
	clockEvery = time.Second
)

// A terminal smaller than this has no room for the region.
const (
	minCols = 20
	minRows = 4
)

// Sequences of a terminal (ECMA-48, and xterm's private modes).
const (
	clearRight = "\x1b[K"
	clearBelow = "\x1b[J"
	up         = "\x1b[%dA"
	noWrap     = "\x1b[?7l"
	wrap       = "\x1b[?7h"
)

// Region shows a board on the last lines of a terminal, below what is printed. The cursor
// stays below it, so that what a shell prints after Ctrl-Z, or after the end of a process
// that was killed, does not mix with it. A nil Region shows nothing.
type Region struct {
	Options
	board *Board
	marks marks

	mu      sync.Mutex
	widths  []int // of the lines that are drawn, nil for none
	frame   string
	title   string
	cols    int // of the terminal when they were drawn
	drawn   time.Time
	away    bool // somebody else has the terminal
	open    bool // the last line that was printed has not ended
	signals signals

	again chan struct{} // what was printed has taken the region away
	done  chan struct{}
	work  sync.WaitGroup
}

// Options say where and how a board is shown.
type Options struct {
	Out          *os.File // a terminal
	Paint        document.Paint
	AgentPrinted bool                // what the agent says is printed as it is said
	Env          func(string) string // a variable of the environment
}

// SupportsRegion reports whether a terminal can show a region: lines are to be replaced.
func SupportsRegion(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Open shows the board until Close is called.
func Open(b *Board, o Options) *Region {
	r := &Region{Options: o, board: b, marks: marksOf(o.Env), again: make(chan struct{}, 1), done: make(chan struct{})}
	r.signals = listen()
	r.put(r.marks.begin())
	r.work.Go(r.run)
	return r
}

// Close takes the region away.
func (r *Region) Close() {
	if r == nil {
		return
	}
	close(r.done)
	r.work.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	r.away = true
	r.put(r.marks.end())
	r.signals.close()
}

func (r *Region) run() {
	news := r.board.subscribe()
	clock := time.NewTimer(0)
	defer clock.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-news:
		case <-r.again:
		case <-r.signals.resized:
		case <-clock.C:
		}
		settle()
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

// settling is how long the signal that ends a stop may be on its way to us.
const settling = 20 * time.Millisecond

// settle waits for it: what wakes a process after Ctrl-Z and fg may as well be a timer, and
// what is drawn then must not begin above what the shell has printed. Where it takes longer
// than asked for, the machine is busy, or this was stopped meanwhile.
func settle() {
	for range 5 {
		began := time.Now()
		time.Sleep(settling)
		if time.Since(began) < 2*settling {
			return
		}
	}
}

// Print writes text above the region, which is drawn again at once, or soon.
func (r *Region) Print(w io.Writer, text []byte) (int, error) {
	if r == nil {
		return w.Write(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	n, err := w.Write(text)
	if line := strings.TrimRight(string(text), "\a"); line != "" {
		r.open = !strings.HasSuffix(line, "\n")
	}
	if time.Since(r.drawn) >= drawEvery {
		r.draw()
		return n, err
	}
	select {
	case r.again <- struct{}{}:
	default:
	}
	return n, err
}

// HandleEvent takes the region away while somebody else has the terminal: an agent that is
// raw, which means that it draws there, or a question.
func (r *Region) HandleEvent(e event.Event, raw bool) {
	if r == nil {
		return
	}
	switch e.Type {
	case event.IterationStarted, event.AgentSpawned:
		r.leave(raw)
	case event.ApprovalRequested:
		d, _ := e.Data.(event.ApprovalRequest)
		r.leave(d.Terminal)
	case event.AgentFinished, event.ApprovalAnswered, event.LoopStopping:
		r.leave(false)
	default:
	}
}

func (r *Region) leave(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away == away {
		return
	}
	if away {
		r.clear()
		r.put(r.marks.progress(State{}, time.Time{}))
	}
	r.away, r.open = away, false
	if !away {
		r.draw()
	}
}

// draw shows the board as it is now, and writes nothing where that is shown already. The
// caller holds the lock.
func (r *Region) draw() {
	r.continued()
	if r.away || r.open || !foreground(r.Out) {
		return
	}
	cols, rows := r.size()
	if cols < minCols || rows < minRows {
		r.clear()
		return
	}
	now := time.Now()
	state := r.board.State()
	if r.AgentPrinted {
		state.AgentMessage = ""
	}
	lines := state.lines(now)
	lines = lines[:min(len(lines), rows-2)]
	var body strings.Builder
	widths := make([]int, len(lines))
	for i, l := range lines {
		text, taken := l.fit(cols-1, r.Paint)
		widths[i] = taken
		body.WriteString(text + clearRight + "\n")
	}
	if title := r.marks.title(state); title != r.title {
		r.title = title
		r.put(title)
	}
	frame := body.String() + r.marks.progress(state, now)
	if frame == r.frame && (cols == r.cols || len(lines)+len(r.widths) == 0) {
		return
	}
	r.put(noWrap + r.top(cols) + frame + clearBelow + wrap)
	r.widths, r.frame, r.cols, r.drawn = widths, frame, cols, now
}

// size is that of the terminal, or what most have where it has none.
func (r *Region) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(r.Out.Fd()))
	if err != nil || cols == 0 || rows == 0 {
		return 80, 24
	}
	return cols, rows
}

// top moves the cursor to the first line of the region. Where the terminal has become
// narrower, its lines may take more rows than were drawn, and are cleared first.
func (r *Region) top(cols int) string {
	rows := len(r.widths)
	if cols < r.cols && r.marks.reflows {
		for _, w := range r.widths {
			rows += max(0, w-1) / cols
		}
	}
	text := "\r"
	if rows > 0 {
		text += fmt.Sprintf(up, rows)
	}
	if cols != r.cols {
		text += clearBelow
	}
	return text
}

// clear takes away what is drawn. The caller holds the lock.
func (r *Region) clear() {
	r.continued()
	if len(r.widths) == 0 {
		return
	}
	cols, _ := r.size()
	if foreground(r.Out) {
		r.put(r.top(cols) + clearBelow)
	}
	r.widths, r.frame = nil, ""
}

// continued forgets what was drawn before the process was stopped: the shell has printed
// below it since.
func (r *Region) continued() {
	select {
	case <-r.signals.continued:
		r.widths, r.frame = nil, ""
	default:
	}
}

// put writes to the terminal, which may be gone.
func (r *Region) put(text string) { _, _ = io.WriteString(r.Out, text) }
