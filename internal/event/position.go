package event

import (
	"encoding/json"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Position is where a loop was when its supervisor ended, as its log says.
type Position struct {
	Settings     string      // hash of what the loop was asked to do; "" when it never began
	Baseline     snapshot.ID // the tree before the checks of the baseline ran
	CheckOutputs []string    // files that the checks of the baseline made

	Iteration       int // the last one that began, 0 for none
	StartedAt       time.Time
	Start           snapshot.ID // the tree that its agent started from
	Level           string
	LevelReason     string // why the prompt had that level
	Spawned         *Spawned
	SpawnedAt       time.Time
	Agent           *ledger.AgentRun // how it ended, nil as long as it runs
	AgentTree       snapshot.ID      // the tree that it left
	Blocked         []ledger.Block   // what it said that it cannot do
	Judged          bool             // the verdict is in the log
	RolledBack      bool             // the iteration was rejected, and the tree is restored
	ApprovalPending bool             // a person was asked, who has not answered
	// Answers are the answers about this iteration so far.
	Answers map[approval.Kind]approval.Answer

	ForeignTrees     []snapshot.ID // what was found in the tree and is kept
	DroppedSnapshots map[snapshot.ID]bool
	OverLimit        bool      // that was reported
	Children         []Spawned // that may have been running at the end

	Reviews []ledger.SelectionReview // of trees that were selected

	Stop      *Stop // the best iteration is being given back
	Ended     bool  // all was done
	End       LoopEnd
	LastEvent time.Time // of the latest event

	// Steps is how many iterations the latest process was to do at most, nil for all.
	Steps *int

	asked   approval.Kind // last, and when
	askedAt time.Time
	judged  int           // the last iteration that is over
	from    int           // that before the first one of the steps
	active  time.Duration // of the earlier processes
	session time.Time     // when the latest one began
}

// Apply takes an event in, oldest first. Events of other kinds, and data that is
// not understood, change nothing.
func (p *Position) Apply(e ledger.Event) {
	over := afterwards[Type(e.Name)] || p.Ended && Type(e.Name) != LoopResumed
	if read, known := readers[Type(e.Name)]; known {
		read(p, e) // before the time moves on: a resumption asks when the process before it ended
	}
	if !over && e.Time.After(p.LastEvent) {
		p.LastEvent = e.Time
	}
}

// afterwards are the events that people cause when the loop is not at work: they
// take none of its time.
var afterwards = map[Type]bool{SelectionChanged: true, SelectionApplied: true}

// readers are the events that say where a loop is.
var readers = map[Type]func(*Position, ledger.Event){
	LoopStarted: func(p *Position, e ledger.Event) {
		d := decode[Started](e)
		p.Settings, p.Steps, p.session = d.Settings, d.Steps, e.Time
	},
	LoopRecorded: func(p *Position, e ledger.Event) { p.Settings = decode[Started](e).Settings },
	LoopResumed:  func(p *Position, e ledger.Event) { p.resumed(e.Time, decode[Resumed](e).Steps) },
	SnapshotTaken: func(p *Position, e ledger.Event) {
		p.taken(e, decode[TakenSnapshot](e))
	},
	IterationStarted: func(p *Position, e ledger.Event) {
		d := decode[IterationStart](e)
		p.Level, p.LevelReason = d.Level, d.Why
	},
	ChildStarting: func(p *Position, e ledger.Event) { p.starting(e, decode[Child](e)) },
	AgentSpawned: func(p *Position, e ledger.Event) {
		if p.Spawned != nil {
			*p.Spawned = decode[Spawned](e)
		}
	},
	AgentFinished: func(p *Position, e ledger.Event) {
		a := decode[ledger.AgentRun](e)
		p.Agent, p.Children = &a, nil
	},
	AgentBlocked:     func(p *Position, e ledger.Event) { p.Blocked = append(p.Blocked, decode[ledger.Block](e)) },
	BaselineMeasured: func(p *Position, _ ledger.Event) { p.Children = nil },
	ApprovalRequested: func(p *Position, e ledger.Event) {
		p.ApprovalPending, p.asked, p.askedAt = true, decode[ApprovalRequest](e).Question.Kind, e.Time
	},
	ApprovalAnswered: func(p *Position, e ledger.Event) {
		p.ApprovalPending, p.Answers[p.asked] = false, decode[approval.Answer](e)
		if p.askedAt.After(p.session) { // else nobody waited in this process
			p.session = p.session.Add(max(0, e.Time.Sub(p.askedAt))) // the waiting is none of the loop's time
		}
	},
	IterationFinished:    func(p *Position, e ledger.Event) { p.Judged, p.Children, p.judged = true, nil, e.Iteration },
	IterationRejected:    func(p *Position, _ ledger.Event) { p.RolledBack = true },
	IterationInterrupted: func(p *Position, e ledger.Event) { p.judged = e.Iteration },
	TreeChanged: func(p *Position, e ledger.Event) {
		p.ForeignTrees = append(p.ForeignTrees, snapshotNamed(decode[TreeChange](e).Kept))
	},
	SnapshotsDropped: func(p *Position, e ledger.Event) {
		for _, name := range decode[DroppedSnapshots](e).Snapshots {
			p.DroppedSnapshots[snapshotNamed(name)] = true
		}
	},
	StoreOverLimit: func(p *Position, _ ledger.Event) { p.OverLimit = true },
	LoopStopping: func(p *Position, e ledger.Event) {
		s := decode[Stop](e)
		p.Stop = &s
	},
	OutputVerified: func(p *Position, _ ledger.Event) { p.Children = nil },
	OutputReviewed: func(p *Position, e ledger.Event) {
		p.Reviews, p.Children = append(p.Reviews, decode[ledger.SelectionReview](e)), nil
	},
	LoopFinished: func(p *Position, e ledger.Event) { p.Ended, p.End = true, decode[LoopEnd](e) },
}

// starting notes a child. It may have been started, whether or not that was
// written down as well.
func (p *Position) starting(e ledger.Event, c Child) {
	p.Children = append(p.Children, Spawned{Shim: c.Shim})
	if c.Process == ChildAgent {
		p.Spawned, p.SpawnedAt, p.Agent = &p.Children[len(p.Children)-1], e.Time, nil
	}
}

func decode[T any](e ledger.Event) (v T) {
	_ = json.Unmarshal(e.Data, &v) // our own writing, under a hash
	return v
}

// snapshotNamed is the snapshot that events call sN.
func snapshotNamed(name string) snapshot.ID { return snapshot.ID(strings.TrimPrefix(name, "s")) }

// NewPosition returns the position of a loop whose log was not read yet.
func NewPosition() *Position {
	return &Position{DroppedSnapshots: map[snapshot.ID]bool{}, Answers: map[approval.Kind]approval.Answer{}}
}

func (p *Position) taken(e ledger.Event, d TakenSnapshot) {
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

func (p *Position) resumed(at time.Time, steps *int) {
	p.from, p.Steps = p.StepsFrom(), steps
	p.active += max(0, p.before(at).Sub(p.session))
	p.session, p.Children = at, nil // what was left was ended first
	if p.Ended {
		p.Ended, p.Stop = false, nil
	}
}

// StepsFrom is the iteration behind which the steps of a process that goes on begin to
// count. One that was killed had not done all of its steps, and the next one does the rest:
// no iteration is done for a kill.
func (p *Position) StepsFrom() int {
	if p.Ended || p.Steps == nil {
		return p.judged
	}
	return p.from
}

// before is when the process before the given time ended, as far as is known.
func (p *Position) before(at time.Time) time.Time {
	if p.LastEvent.Before(at) {
		return p.LastEvent
	}
	return at
}

// Elapsed is how much of the loop's time is gone.
func (p *Position) Elapsed() time.Duration { return p.active + max(0, p.LastEvent.Sub(p.session)) }

// Trees are those that a killed loop may have to give back.
func (p *Position) Trees() RecoverableTrees {
	t := RecoverableTrees{Before: p.Baseline.Name()}
	if p.Iteration > 0 {
		t.Before, t.Left = p.Start.Name(), p.AgentTree.Name()
	}
	return t
}

// AgentMayRun reports whether the agent may still have been running at the end.
func (p *Position) AgentMayRun() bool { return p.Spawned != nil && p.Agent == nil }
