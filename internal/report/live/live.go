// Package live shows what a loop does now: under the table of iterations at a terminal,
// and to supervise status --watch by a file in the loop's folder. A [Board] gathers it
// from the events of the loop, the outputs of checks and the words of the agent; a
// [State] is what it has at one moment, and [State.Lines] that for people.
package live

import (
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/measure"
	"supervise/internal/textstream"
)

// State is what a loop does at one moment.
type State struct {
	Version   int       `json:"version"`
	LoopID    string    `json:"loop_id"`
	Began     time.Time `json:"began"`
	Iteration int       `json:"iteration"`
	Max       int       `json:"max_iterations"`
	Level     string    `json:"level,omitempty"`
	Doing     string    `json:"doing"` // in words, "" when the loop is over
	Since     time.Time `json:"since"`
	Part      Part      `json:"part,omitempty"`
	Checks    []Check   `json:"checks,omitempty"`
	Planned   int       `json:"planned_checks"`
	Says      string    `json:"agent_says,omitempty"` // the end of what the agent last said
	Budget    Budget    `json:"budget"`
	// Candidates are several loops on the same task, by number.
	Candidates []Candidate `json:"candidates,omitempty"`

	// What it took the last time, by what was done or by check, and how many tests the
	// runner printed then.
	Took  map[string]time.Duration `json:"took_ns"`
	Tests map[string]int           `json:"tests"`
}

// Part is a part of a loop that is no iteration.
type Part string

// The parts of a loop. The baseline is iteration 0.
const (
	Repeat Part = "repeat" // the baseline is measured a second time
	End    Part = "end"    // the selected tree is restored and measured
)

// Check is a check that runs, or has ended in the same measurement.
type Check struct {
	Name   string    `json:"name"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"`
	Lists  bool      `json:"lists,omitempty"` // its tests are listed by another command afterwards
	Aside  bool      `json:"aside,omitempty"` // it is run for judging
	Number int       `json:"number"`          // in the order in which the checks began, from 1
	Tally  Tally     `json:"tests"`
}

// Done reports whether the check has ended.
func (c Check) Done() bool { return !c.Ended.IsZero() }

// Budget is what the loop may use, and has used so far.
type Budget struct {
	Deadline   time.Time `json:"deadline,omitzero"`
	MaxCost    float64   `json:"max_cost_usd,omitempty"`
	MaxTokens  int64     `json:"max_tokens,omitempty"`
	UsedCost   *float64  `json:"used_cost_usd,omitempty"`
	UsedTokens *int64    `json:"used_tokens,omitempty"`
	MaxWindow  float64   `json:"max_window_percent,omitempty"`
	UsedWindow *float64  `json:"used_window_percent,omitempty"`
}

// Over reports whether nothing is done any more.
func (s State) Over() bool { return s.Doing == "" }

// Board gathers what a loop does. Its methods may be called from several goroutines.
type Board struct {
	now  func() time.Time
	mask func(string) string

	mu     sync.Mutex
	state  State
	told   []chan struct{} // each holds one: something is new
	heard  bool            // the agent reports what it says by itself
	folder string          // of the loop

	candidates []*candidate
}

// NewBoard returns a board on which nothing is yet. mask takes secrets out of texts.
func NewBoard(now func() time.Time, mask func(string) string) *Board {
	return &Board{now: now, mask: mask, state: State{Version: 1, Began: now(), Took: map[string]time.Duration{}, Tests: map[string]int{}}}
}

// State returns what the loop does now.
func (b *Board) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	s.Checks = append([]Check{}, s.Checks...)
	s.Took, s.Tests = maps.Clone(s.Took), maps.Clone(s.Tests)
	for _, c := range b.candidates {
		of := c.Candidate
		of.State = c.board.State()
		s.Candidates = append(s.Candidates, of)
	}
	return s
}

// news returns a channel that has something in it when something is new.
func (b *Board) news() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan struct{}, 1)
	b.told = append(b.told, c)
	return c
}

// tell says that something is new. The caller holds the lock.
func (b *Board) tell() {
	for _, c := range b.told {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// does notes what is done from now on. The caller holds the lock.
func (b *Board) does(what string) {
	s := &b.state
	if s.Doing == what {
		return
	}
	if s.Doing != "" {
		s.Took[s.Doing] = b.now().Sub(s.Since)
	}
	s.Doing, s.Since = what, b.now()
}

// What a loop does.
const (
	doesStart   = "looks at the tree"
	doesMeasure = "measures"
	doesPrepare = "prepares the iteration"
	doesAgent   = "the agent works"
	doesKeep    = "takes a snapshot"
	doesJudge   = "judges"
	doesAsk     = "waits for an answer"
	doesRestore = "restores the tree"
	doesSelect  = "selects the best iteration"
	doesReview  = "the reviewer reads the change"
	doesReport  = "writes the reports"
)

// phases are what is done from an event on.
var phases = map[event.Type]string{
	event.LoopStarted: doesStart, event.LoopResumed: doesStart,
	event.IterationStarted: doesPrepare, event.AgentSpawned: doesAgent, event.AgentFinished: doesKeep,
	event.BaselineMeasured: doesPrepare, event.ApprovalRequested: doesAsk, event.ApprovalAnswered: doesJudge,
	event.IterationFinished: doesReport, event.RollbackStarted: doesRestore, event.IterationRejected: doesReport,
	event.LoopStopping: doesSelect, event.OutputVerified: doesReport, event.LoopFinished: "",
}

// Event takes an event of the loop in.
func (b *Board) Event(e event.Event) {
	if n := e.Candidate; n > 0 {
		e.Candidate = 0
		b.Candidate(n).Event(e)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data(e)
	b.contest(e)
	if what, known := phases[e.Type]; known {
		b.does(what)
	}
	b.tell()
}

func (b *Board) data(e event.Event) {
	s := &b.state
	switch d := e.Data.(type) {
	case event.Started:
		b.begin(e.LoopID, d.Dir, len(d.Plan.Checks))
		s.Max = d.MaxIterations
	case event.Resumed:
		b.begin(e.LoopID, d.Dir, len(d.Plan.Checks))
		s.Max, s.Iteration = d.Max, d.Iteration
	case event.IterationStart:
		s.Iteration, s.Max, s.Part, s.Level, s.Checks, s.Says, b.heard = e.Iteration, d.Max, "", strings.ToLower(d.Level), nil, "", false
		s.Budget = Budget(d.Budget)
	case event.Waiting:
		if d.Next != "" {
			return // another program works
		}
		b.does("waits for the agent's service until " + d.Until.Local().Format(time.TimeOnly))
	case event.Child:
		if d.Process == event.ChildReviewer {
			b.does(doesReview)
		}
	case event.Stop, event.SelectedOutput:
		s.Part, s.Checks = End, nil
	}
}

// Plan notes what is to be measured where no loop begins with it.
func (b *Board) Plan(p measure.Plan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Planned = len(p.Checks)
	b.does(doesMeasure)
	b.tell()
}

func (b *Board) begin(id, dir string, checks int) {
	b.folder = dir
	b.state.LoopID, b.state.Planned = id, checks
	b.recall(dir)
}

// Report takes in what a known agent has reported.
func (b *Board) Report(r agentrun.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Text != "" || !b.heard { // else the last event had none
		b.state.Says = shown(r.Text)
	}
	b.heard = true
	b.state.Budget.UsedCost, b.state.Budget.UsedTokens = r.Usage.CostUSD, r.Usage.Tokens()
	if r.Window != nil {
		b.state.Budget.UsedWindow = &r.Window.Used
	}
	b.tell()
}

// Check notes that a check starts, and returns what its outputs are to be given.
func (b *Board) Check(c measure.Check) io.WriteCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.state
	check := Check{Name: shown(nameOf(c)), Began: b.now(), Aside: c.Extra, Lists: len(c.Inventory) > 0}
	what := doesMeasure
	if check.Aside {
		what = doesJudge
	}
	b.does(what)
	b.measurement(check)
	for _, earlier := range s.Checks {
		if !earlier.Aside {
			check.Number = max(check.Number, earlier.Number)
		}
	}
	check.Number++
	s.Checks = append(s.Checks, check)
	b.tell()
	return &watched{board: b, name: check.Name, began: check.Began, count: counter{clean: func(name string) string { return shown(b.mask(name)) }}}
}

// measurement begins another measurement where a check comes a second time.
func (b *Board) measurement(c Check) {
	s := &b.state
	keep := s.Checks[:0:0]
	second := false
	for _, earlier := range s.Checks {
		second = second || earlier.Name == c.Name && earlier.Done() && !c.Aside
		if !earlier.Done() {
			keep = append(keep, earlier)
		}
	}
	switch {
	case second:
		s.Checks = keep
		if s.Part == "" && s.Iteration == 0 && s.Doing == doesMeasure {
			s.Part = Repeat
		}
	case c.Aside: // those of the plan have all ended
		s.Checks = keep
	}
}

func nameOf(c measure.Check) string {
	if c.Dir == "" {
		return c.Name
	}
	return c.Name + " in " + c.Dir
}

// watched is one check while it runs.
type watched struct {
	board *Board
	name  string
	began time.Time
	count counter
}

// Write counts the tests in a part of the output. It never fails.
func (w *watched) Write(p []byte) (int, error) {
	tally, changed := w.count.write(p)
	if changed {
		w.board.update(w, func(c *Check) { c.Tally = tally })
	}
	return len(p), nil
}

// Close notes that the check has ended.
func (w *watched) Close() error {
	w.board.update(w, func(c *Check) {
		c.Ended = w.board.now()
		if c.Aside {
			return
		}
		s := &w.board.state
		s.Took[c.Name] = c.Ended.Sub(c.Began)
		if n := c.Tally.Count(); n > 0 {
			s.Tests[c.Name] = n
		}
	})
	return nil
}

func (b *Board) update(w *watched, change func(*Check)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.state.Checks {
		if c := &b.state.Checks[i]; c.Name == w.name && c.Began.Equal(w.began) {
			change(c)
		}
	}
	if b.measured() {
		b.does(doesJudge)
	}
	b.tell()
}

// measured reports whether the checks of the plan have all ended.
func (b *Board) measured() bool {
	done := 0
	for _, c := range b.state.Checks {
		if c.Done() && !c.Aside {
			done++
		}
	}
	return b.state.Doing == doesMeasure && b.state.Iteration > 0 && done == b.state.Planned
}

// shown is a text of others as one line in which nothing is hidden.
func shown(s string) string {
	return textstream.EscapeHidden(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "))
}
