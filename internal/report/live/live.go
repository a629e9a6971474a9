// Package live shows what a loop does at the moment. It does so below the table of iterations at a
// terminal and, through a file in the folder of the loop, in supervise status --watch.
//
// A [Board] collects the events of the loop, the outputs of checks and the messages of the agent
// (live.go). It counts tests while their runner still prints them (tally.go). A [State] is a copy
// of the board at one moment. It can be formatted as lines (view.go) and written to the file
// (file.go). A [Region] draws these lines at a terminal whenever the board changes (region.go).
package live

import (
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/internal/textstream"
)

// State is what a loop does at one moment.
type State struct {
	Version         int       `json:"version"`
	LoopID          string    `json:"loop_id"`
	Started         time.Time `json:"began"`
	Iteration       int       `json:"iteration"`
	MaxIterations   int       `json:"max_iterations"`
	Level           string    `json:"level,omitempty"` // level of the prompt
	Activity        string    `json:"doing"`           // in words, as in "measures"; "" when the loop is over
	ActivityStarted time.Time `json:"since"`           // when the activity started
	Part            Part      `json:"part,omitempty"`
	Checks          []Check   `json:"checks,omitempty"`
	PlannedChecks   int       `json:"planned_checks"`
	AgentMessage    string    `json:"agent_says,omitempty"` // the end of what the agent last said
	Budget          Budget    `json:"budget"`
	// Candidates are several loops on the same task, by number.
	Candidates []Candidate `json:"candidates,omitempty"`

	// How long each activity and each check took the last time, and how many tests the runner
	// of each check printed then.
	LastDurations  map[string]time.Duration `json:"took_ns"`
	LastTestCounts map[string]int           `json:"tests"`
}

// Part is a part of a loop that is no iteration.
type Part string

// The parts of a loop. The baseline is iteration 0.
const (
	RepeatedBaseline Part = "repeat" // the baseline is measured a second time
	FinalSelection   Part = "end"    // the selected tree is restored and measured
)

// Check is a check that runs, or that ended in the same measurement.
type Check struct {
	Name       string    `json:"name"`
	Started    time.Time `json:"began"`
	Ended      time.Time `json:"ended,omitzero"`
	ListsTests bool      `json:"lists,omitempty"` // after it, another command lists its tests
	Extra      bool      `json:"aside,omitempty"` // it is not in the plan, but runs for judging
	Number     int       `json:"number"`          // its position in the plan, from 1, by the order in which the checks started
	Tally      Tally     `json:"tests"`
}

// HasEnded reports whether the check has ended.
func (c Check) HasEnded() bool { return !c.Ended.IsZero() }

// Budget is what the loop may consume, and what it has consumed. A zero limit means no limit.
type Budget struct {
	Deadline   time.Time `json:"deadline,omitzero"`
	MaxCost    float64   `json:"max_cost_usd,omitempty"`
	MaxTokens  int64     `json:"max_tokens,omitempty"`
	UsedCost   *float64  `json:"used_cost_usd,omitempty"`
	UsedTokens *int64    `json:"used_tokens,omitempty"`
	MaxWindow  float64   `json:"max_window_percent,omitempty"` // limit for the usage window of the agent's service
	UsedWindow *float64  `json:"used_window_percent,omitempty"`
}

// IsOver reports whether the loop is over.
func (s State) IsOver() bool { return s.Activity == "" }

// Board collects the live state of a loop. It is safe for concurrent use.
type Board struct {
	now  func() time.Time
	mask func(string) string

	mu           sync.Mutex
	state        State
	listeners    []chan struct{} // each buffers one value, which says that something changed
	agentReports bool            // a known agent reports its messages, so its output is not parsed
	folder       string          // the folder of the loop

	candidates []*boardCandidate
}

// NewBoard returns an empty board. mask removes secrets from texts.
func NewBoard(now func() time.Time, mask func(string) string) *Board {
	return &Board{now: now, mask: mask, state: State{Version: 1, Started: now(), LastDurations: map[string]time.Duration{}, LastTestCounts: map[string]int{}}}
}

// State returns a copy of the current state.
func (b *Board) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	s.Checks = slices.Clone(s.Checks)
	s.LastDurations, s.LastTestCounts = maps.Clone(s.LastDurations), maps.Clone(s.LastTestCounts)
	for _, c := range b.candidates {
		of := c.Candidate
		of.State = c.board.State()
		s.Candidates = append(s.Candidates, of)
	}
	return s
}

// subscribe returns a channel that receives a value after each change.
func (b *Board) subscribe() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan struct{}, 1)
	b.listeners = append(b.listeners, c)
	return c
}

// notifyListeners reports a change to all subscribers. The caller holds the lock.
func (b *Board) notifyListeners() {
	for _, c := range b.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// setActivity records what the loop does from now on, and how long the last activity took. The
// caller holds the lock.
func (b *Board) setActivity(what string) {
	s := &b.state
	if s.Activity == what {
		return
	}
	if s.Activity != "" {
		s.LastDurations[s.Activity] = b.now().Sub(s.ActivityStarted)
	}
	s.Activity, s.ActivityStarted = what, b.now()
}

// The activities of a loop, as the region shows them.
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

// activityAfter maps events to the activity that follows them. Other events do not change it.
var activityAfter = map[event.Type]string{
	event.LoopStarted: doesStart, event.LoopResumed: doesStart,
	event.IterationStarted: doesPrepare, event.AgentSpawned: doesAgent, event.AgentFinished: doesKeep,
	event.BaselineMeasured: doesPrepare, event.ApprovalRequested: doesAsk, event.ApprovalAnswered: doesJudge,
	event.IterationFinished: doesReport, event.RollbackStarted: doesRestore, event.IterationRejected: doesReport,
	event.LoopStopping: doesSelect, event.OutputVerified: doesReport, event.LoopFinished: "",
}

// HandleEvent updates the board after an event of the loop, or the board of a candidate after an
// event of its loop.
func (b *Board) HandleEvent(e event.Event) {
	if n := e.Candidate; n > 0 {
		e.Candidate = 0
		b.CandidateBoard(n).HandleEvent(e)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handleLoopData(e)
	b.handleCandidateData(e)
	if what, known := activityAfter[e.Type]; known {
		b.setActivity(what)
	}
	b.notifyListeners()
}

// handleLoopData updates the state from the data of an event. The caller holds the lock.
func (b *Board) handleLoopData(e event.Event) {
	s := &b.state
	switch d := e.Data.(type) {
	case event.Started:
		b.startLoop(e.LoopID, d.Dir, len(d.Plan.Checks))
		s.MaxIterations = d.MaxIterations
	case event.Resumed:
		b.startLoop(e.LoopID, d.Dir, len(d.Plan.Checks))
		s.MaxIterations, s.Iteration = d.Max, d.Iteration
	case event.IterationStart:
		s.Iteration, s.MaxIterations, s.Part, s.Level, s.Checks, s.AgentMessage, b.agentReports = e.Iteration, d.Max, "", strings.ToLower(d.Level), nil, "", false
		s.Budget = Budget(d.Budget)
	case event.Waiting:
		if d.Next != "" {
			return // another program works
		}
		b.setActivity("waits for the agent's service until " + d.Until.Local().Format(time.TimeOnly))
	case event.Child:
		if d.Process == event.ChildReviewer {
			b.setActivity(doesReview)
		}
	case event.Stop, event.SelectedOutput:
		s.Part, s.Checks = FinalSelection, nil
	}
}

// SetPlan records the plan of a measurement that does not belong to a loop.
func (b *Board) SetPlan(p measure.Plan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.PlannedChecks = len(p.Checks)
	b.setActivity(doesMeasure)
	b.notifyListeners()
}

// startLoop records which loop starts or resumes. The caller holds the lock.
func (b *Board) startLoop(id, dir string, checks int) {
	b.folder = dir
	b.state.LoopID, b.state.PlannedChecks = id, checks
	b.loadLastDurations(dir)
}

// HandleReport updates the board after a report of a known agent.
func (b *Board) HandleReport(r agentrun.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Text != "" || !b.agentReports { // else the last event had none
		b.state.AgentMessage = visibleLine(r.Text)
	}
	b.agentReports = true
	b.state.Budget.UsedCost, b.state.Budget.UsedTokens = r.Usage.CostUSD, r.Usage.Tokens()
	if r.Window != nil {
		b.state.Budget.UsedWindow = &r.Window.Used
	}
	b.notifyListeners()
}

// StartCheck records that a check starts, and returns a writer for its output. Closing the writer
// records that the check has ended.
func (b *Board) StartCheck(c measure.Check) io.WriteCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.state
	check := Check{Name: visibleLine(checkName(c)), Started: b.now(), Extra: c.Extra, ListsTests: len(c.Inventory) > 0}
	b.setActivity(report.Either(check.Extra, doesJudge, doesMeasure))
	b.dropEndedChecks(check)
	for _, earlier := range s.Checks {
		if !earlier.Extra {
			check.Number = max(check.Number, earlier.Number)
		}
	}
	check.Number++
	s.Checks = append(s.Checks, check)
	b.notifyListeners()
	return &checkWriter{board: b, name: check.Name, began: check.Started, count: testCounter{cleanName: func(name string) string { return visibleLine(b.mask(name)) }}}
}

// dropEndedChecks removes the checks that have ended if c starts another measurement. That is so if
// c itself has ended before, or if it runs for judging. The caller holds the lock.
func (b *Board) dropEndedChecks(c Check) {
	s := &b.state
	isRepeated := func(earlier Check) bool { return earlier.Name == c.Name && earlier.HasEnded() }
	if !c.Extra && !slices.ContainsFunc(s.Checks, isRepeated) {
		return
	}
	s.Checks = slices.DeleteFunc(slices.Clone(s.Checks), Check.HasEnded)
	if !c.Extra && s.Part == "" && s.Iteration == 0 && s.Activity == doesMeasure {
		s.Part = RepeatedBaseline
	}
}

// checkName returns the name of a check with its folder.
func checkName(c measure.Check) string {
	return strings.TrimSuffix(c.Name+" in "+c.Dir, " in ")
}

// checkWriter counts the tests of one running check.
type checkWriter struct {
	board *Board
	name  string
	began time.Time
	count testCounter
}

// Write counts the tests in a part of the output. It never fails.
func (w *checkWriter) Write(p []byte) (int, error) {
	tally, changed := w.count.countTests(p)
	if changed {
		w.board.updateCheck(w, func(c *Check) { c.Tally = tally })
	}
	return len(p), nil
}

// Close records that the check has ended.
func (w *checkWriter) Close() error {
	w.board.updateCheck(w, func(c *Check) {
		c.Ended = w.board.now()
		if c.Extra {
			return
		}
		s := &w.board.state
		s.LastDurations[c.Name] = c.Ended.Sub(c.Started)
		if n := c.Tally.Count(); n > 0 {
			s.LastTestCounts[c.Name] = n
		}
	})
	return nil
}

// updateCheck changes the check of a writer. After the last check, the loop judges.
func (b *Board) updateCheck(w *checkWriter, change func(*Check)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.state.Checks {
		if c := &b.state.Checks[i]; c.Name == w.name && c.Started.Equal(w.began) {
			change(c)
		}
	}
	if b.allChecksEnded() {
		b.setActivity(doesJudge)
	}
	b.notifyListeners()
}

// allChecksEnded reports whether all checks of the plan have ended, in an iteration after the
// baseline.
func (b *Board) allChecksEnded() bool {
	isUnplannedOrRunning := func(c Check) bool { return c.Extra || !c.HasEnded() }
	ended := slices.DeleteFunc(slices.Clone(b.state.Checks), isUnplannedOrRunning)
	return b.state.Activity == doesMeasure && b.state.Iteration > 0 && len(ended) == b.state.PlannedChecks
}

// visibleLine returns a text from outside on one line, with invisible characters escaped.
func visibleLine(s string) string {
	return textstream.EscapeHidden(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "))
}
