package event

import (
	"encoding/json"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Position is where a loop was when its log ends, and what it has to continue with.
type Position struct {
	Settings     string      // hash of the settings of the loop; "" if it never started
	Baseline     snapshot.ID // the tree before the checks of the baseline ran
	CheckOutputs []string    // files that the checks of the baseline wrote

	Iteration       int // the last one that started, 0 for none
	StartedAt       time.Time
	Start           snapshot.ID // the tree that its agent started from
	Level           string
	LevelReason     string // why the prompt had that level
	Spawned         *Spawned
	SpawnedAt       time.Time
	Agent           *ledger.AgentRun // how the agent ended, nil while it runs
	AgentTree       snapshot.ID      // the tree that the agent left
	Blocked         []ledger.Block   // what the agent reported as impossible
	Judged          bool             // the verdict is in the log
	RolledBack      bool             // the iteration was rejected, and the tree is restored
	ApprovalPending bool             // a person was asked and has not answered
	// Answers are the answers about this iteration so far.
	Answers map[approval.Kind]approval.Answer

	ForeignTrees     []snapshot.ID // snapshots of unexpected states of the tree
	DroppedSnapshots map[snapshot.ID]bool
	OverLimit        bool      // store_over_limit was written
	Children         []Spawned // children that may still have been running

	Reviews []ledger.SelectionReview // of selected trees

	Stop      *Stop // the loop was restoring the best iteration
	Ended     bool
	End       LoopEnd
	LastEvent time.Time // of the latest event that counts as time of the loop

	// Steps is the maximum number of iterations of the latest process, nil for all.
	Steps *int

	questionKind approval.Kind // of the latest question
	questionTime time.Time
	lastJudged   int           // the last finished iteration
	stepsStart   int           // the iteration before the first one that counts for Steps
	earlierTime  time.Duration // of all processes before the latest one
	processStart time.Time     // of the latest process
}

// Apply updates the position by the next event of the log. Events of unknown types, and data
// that cannot be read, change nothing.
func (p *Position) Apply(e ledger.Event) {
	isOutsideLoop := manualEvents[Type(e.Name)] || p.Ended && Type(e.Name) != LoopResumed
	if handle, known := handlers[Type(e.Name)]; known {
		handle(p, e) // before LastEvent changes: applyResume needs the end of the previous process
	}
	if !isOutsideLoop && e.Time.After(p.LastEvent) {
		p.LastEvent = e.Time
	}
}

// manualEvents are caused by commands of people while the loop does not run. They do not
// count as time of the loop.
var manualEvents = map[Type]bool{SelectionChanged: true, SelectionApplied: true}

// handlers update a position, by type of event.
var handlers = map[Type]func(*Position, ledger.Event){
	LoopStarted: func(p *Position, e ledger.Event) {
		d := dataOf[Started](e)
		p.Settings, p.Steps, p.processStart = d.Settings, d.Steps, e.Time
	},
	LoopRecorded: func(p *Position, e ledger.Event) { p.Settings = dataOf[Started](e).Settings },
	LoopResumed:  func(p *Position, e ledger.Event) { p.applyResume(e.Time, dataOf[Resumed](e).Steps) },
	SnapshotTaken: func(p *Position, e ledger.Event) {
		p.applySnapshot(e, dataOf[TakenSnapshot](e))
	},
	IterationStarted: func(p *Position, e ledger.Event) {
		d := dataOf[IterationStart](e)
		p.Level, p.LevelReason = d.Level, d.Why
	},
	ChildStarting: func(p *Position, e ledger.Event) { p.applyChildStart(e, dataOf[Child](e)) },
	AgentSpawned: func(p *Position, e ledger.Event) {
		if p.Spawned != nil {
			*p.Spawned = dataOf[Spawned](e)
		}
	},
	AgentFinished: func(p *Position, e ledger.Event) {
		a := dataOf[ledger.AgentRun](e)
		p.Agent, p.Children = &a, nil
	},
	AgentBlocked:     func(p *Position, e ledger.Event) { p.Blocked = append(p.Blocked, dataOf[ledger.Block](e)) },
	BaselineMeasured: func(p *Position, _ ledger.Event) { p.Children = nil },
	ApprovalRequested: func(p *Position, e ledger.Event) {
		p.ApprovalPending, p.questionKind, p.questionTime = true, dataOf[ApprovalRequest](e).Question.Kind, e.Time
	},
	ApprovalAnswered: func(p *Position, e ledger.Event) {
		p.ApprovalPending, p.Answers[p.questionKind] = false, dataOf[approval.Answer](e)
		if p.questionTime.After(p.processStart) { // otherwise an earlier process waited
			p.processStart = p.processStart.Add(max(0, e.Time.Sub(p.questionTime))) // waiting for a person is not time of the loop
		}
	},
	IterationFinished:    func(p *Position, e ledger.Event) { p.Judged, p.Children, p.lastJudged = true, nil, e.Iteration },
	IterationRejected:    func(p *Position, _ ledger.Event) { p.RolledBack = true },
	IterationInterrupted: func(p *Position, e ledger.Event) { p.lastJudged = e.Iteration },
	TreeChanged: func(p *Position, e ledger.Event) {
		p.ForeignTrees = append(p.ForeignTrees, snapshotID(dataOf[TreeChange](e).Kept))
	},
	SnapshotsDropped: func(p *Position, e ledger.Event) {
		for _, name := range dataOf[DroppedSnapshots](e).Snapshots {
			p.DroppedSnapshots[snapshotID(name)] = true
		}
	},
	StoreOverLimit: func(p *Position, _ ledger.Event) { p.OverLimit = true },
	LoopStopping: func(p *Position, e ledger.Event) {
		s := dataOf[Stop](e)
		p.Stop = &s
	},
	OutputVerified: func(p *Position, _ ledger.Event) { p.Children = nil },
	OutputReviewed: func(p *Position, e ledger.Event) {
		p.Reviews, p.Children = append(p.Reviews, dataOf[ledger.SelectionReview](e)), nil
	},
	LoopFinished: func(p *Position, e ledger.Event) { p.Ended, p.End = true, dataOf[LoopEnd](e) },
}

// applyChildStart adds a child that may have started, even if no later event says so.
func (p *Position) applyChildStart(e ledger.Event, c Child) {
	p.Children = append(p.Children, Spawned{Shim: c.Shim})
	if c.Process == ChildAgent {
		p.Spawned, p.SpawnedAt, p.Agent = &p.Children[len(p.Children)-1], e.Time, nil
	}
}

// dataOf decodes the data of an event. The log is protected by hashes, so errors are ignored.
func dataOf[T any](e ledger.Event) (v T) {
	_ = json.Unmarshal(e.Data, &v)
	return v
}

// snapshotID returns the ID of a snapshot by its name in events (sN).
func snapshotID(name string) snapshot.ID { return snapshot.ID(strings.TrimPrefix(name, "s")) }

// NewPosition returns the position before the first event of a log.
func NewPosition() *Position {
	return &Position{DroppedSnapshots: map[snapshot.ID]bool{}, Answers: map[approval.Kind]approval.Answer{}}
}

// applySnapshot updates the position by a snapshot that was taken.
func (p *Position) applySnapshot(e ledger.Event, d TakenSnapshot) {
	switch d.Moment {
	case BeforeChecks:
		p.Baseline = d.ID
	case AfterChecks:
		p.CheckOutputs = d.CheckOutputs
	case BeforeAgent:
		p.Iteration, p.StartedAt, p.Start = e.Iteration, e.Time, d.ID
		p.Level, p.Spawned, p.Agent, p.AgentTree, p.Judged, p.RolledBack = "", nil, nil, "", false, false
		p.ApprovalPending, p.Answers, p.Blocked = false, map[approval.Kind]approval.Answer{}, nil
	case AfterAgent:
		p.AgentTree = d.ID
	case BeforeTool:
	}
}

// applyResume updates the position by the start of another process at a time.
func (p *Position) applyResume(at time.Time, steps *int) {
	p.stepsStart, p.Steps = p.StepsFrom(), steps
	p.earlierTime += max(0, p.processEnd(at).Sub(p.processStart))
	p.processStart, p.Children = at, nil // the new process has ended them
	if p.Ended {
		p.Ended, p.Stop = false, nil
	}
}

// StepsFrom returns the iteration after which the steps of a resuming process start to count.
// A process that was killed had not done all its steps. The next one does the remaining ones,
// so a kill never causes additional iterations.
func (p *Position) StepsFrom() int {
	if p.Ended || p.Steps == nil {
		return p.lastJudged
	}
	return p.stepsStart
}

// processEnd returns when the process before the given time ended, as far as is known.
func (p *Position) processEnd(at time.Time) time.Time {
	if p.LastEvent.Before(at) {
		return p.LastEvent
	}
	return at
}

// Elapsed returns how much time the loop has used.
func (p *Position) Elapsed() time.Duration {
	return p.earlierTime + max(0, p.LastEvent.Sub(p.processStart))
}

// Trees returns the trees that a user may want to restore after the loop was killed.
func (p *Position) Trees() RecoverableTrees {
	t := RecoverableTrees{Before: p.Baseline.Name()}
	if p.Iteration > 0 {
		t.Before, t.Left = p.Start.Name(), p.AgentTree.Name()
	}
	return t
}

// AgentMayRun reports whether the agent may still have been running at the end of the log.
func (p *Position) AgentMayRun() bool { return p.Spawned != nil && p.Agent == nil }
