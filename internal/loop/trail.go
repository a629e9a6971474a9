package loop

import (
	"encoding/json"
	"strings"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// trail is what the log of a loop tells about where it stood when its supervisor
// ended.
type trail struct {
	settings  string      // hash of what the loop was asked to do; "" when it never began
	baseline  snapshot.ID // the tree before the checks of the baseline ran
	artefacts []string

	iteration int // the last one that began, 0 for none
	began     time.Time
	start     snapshot.ID // the tree that its agent started from
	level     string
	why       string // the prompt had that level
	spawned   *event.Spawned
	spawnedAt time.Time
	agent     *ledger.AgentRun // how it ended, nil as long as it runs
	after     snapshot.ID      // the tree that it left
	told      bool             // the verdict
	undone    bool             // the iteration was rejected, and the tree is put back
	asked     bool             // a person, who has not answered
	askedAt   time.Time

	foreign   []snapshot.ID // what was found in the tree and is kept
	dropped   map[snapshot.ID]bool
	overLimit bool            // that was told
	children  []event.Spawned // that may have been running at the end

	stop     *event.Stop // the best iteration is being given back
	ended    bool        // all was done
	finished event.LoopEnd

	active  time.Duration // of the earlier sessions
	session time.Time     // when the latest one began
	last    time.Time
}

// read takes an event in, oldest first. Events of other kinds, and data that is
// not understood, change nothing.
func (t *trail) read(e ledger.Event) {
	over := afterwards[event.Type(e.Name)] || t.ended && event.Type(e.Name) != event.LoopResumed
	if read, known := trailEvents[event.Type(e.Name)]; known {
		read(t, e) // before the time moves on: a resumption asks when the session before it ended
	}
	if !over && e.Time.After(t.last) {
		t.last = e.Time
	}
}

// afterwards are the events that people cause when the loop is not at work: they
// take none of its time.
var afterwards = map[event.Type]bool{event.SelectionChanged: true, event.SelectionApplied: true}

// trailEvents are the events that say where a loop stands.
var trailEvents = map[event.Type]func(*trail, ledger.Event){
	event.LoopStarted: func(t *trail, e ledger.Event) {
		t.settings, t.session = decode[event.Started](e).Settings, e.Time
	},
	event.LoopResumed: func(t *trail, e ledger.Event) { t.resumed(e.Time) },
	event.SnapshotTaken: func(t *trail, e ledger.Event) {
		t.taken(e, decode[event.Taken](e))
	},
	event.IterationStarted: func(t *trail, e ledger.Event) {
		d := decode[event.AgentStart](e)
		t.level, t.why = d.Level, d.Why
	},
	event.ChildStarting: func(t *trail, e ledger.Event) { t.starting(e, decode[event.Child](e)) },
	event.AgentSpawned: func(t *trail, e ledger.Event) {
		if t.spawned != nil {
			*t.spawned = decode[event.Spawned](e)
		}
	},
	event.AgentFinished: func(t *trail, e ledger.Event) {
		a := decode[ledger.AgentRun](e)
		t.agent, t.children = &a, nil
	},
	event.BaselineMeasured:  func(t *trail, _ ledger.Event) { t.children = nil },
	event.ApprovalRequested: func(t *trail, e ledger.Event) { t.asked, t.askedAt = true, e.Time },
	event.ApprovalAnswered: func(t *trail, e ledger.Event) {
		t.asked = false
		t.session = t.session.Add(max(0, e.Time.Sub(t.askedAt))) // the waiting is none of the loop's time
	},
	event.IterationFinished: func(t *trail, _ ledger.Event) { t.told, t.children = true, nil },
	event.IterationRejected: func(t *trail, _ ledger.Event) { t.undone = true },
	event.TreeChanged: func(t *trail, e ledger.Event) {
		t.foreign = append(t.foreign, snapshotNamed(decode[event.TreeChange](e).Kept))
	},
	event.SnapshotsDropped: func(t *trail, e ledger.Event) {
		for _, name := range decode[event.SnapshotsGone](e).Snapshots {
			t.dropped[snapshotNamed(name)] = true
		}
	},
	event.StoreOverLimit: func(t *trail, _ ledger.Event) { t.overLimit = true },
	event.LoopStopping: func(t *trail, e ledger.Event) {
		s := decode[event.Stop](e)
		t.stop = &s
	},
	event.OutputVerified: func(t *trail, _ ledger.Event) { t.children = nil },
	event.LoopFinished:   func(t *trail, e ledger.Event) { t.ended, t.finished = true, decode[event.LoopEnd](e) },
}

// starting notes a child. It may have been started, whether or not that was
// written down as well.
func (t *trail) starting(e ledger.Event, c event.Child) {
	t.children = append(t.children, event.Spawned{Shim: c.Shim})
	if c.What == event.ChildAgent {
		t.spawned, t.spawnedAt, t.agent = &t.children[len(t.children)-1], e.Time, nil
	}
}

func decode[T any](e ledger.Event) (v T) {
	_ = json.Unmarshal(e.Data, &v) // our own writing, under a hash
	return v
}

// snapshotNamed is the snapshot that events call sN.
func snapshotNamed(name string) snapshot.ID { return snapshot.ID(strings.TrimPrefix(name, "s")) }

func newTrail() *trail { return &trail{dropped: map[snapshot.ID]bool{}} }

func (t *trail) taken(e ledger.Event, d event.Taken) {
	switch d.Moment {
	case event.BeforeChecks:
		t.baseline = d.ID
	case event.AfterChecks:
		t.artefacts = d.Artefacts
	case event.BeforeAgent:
		t.iteration, t.began, t.start = e.Iteration, e.Time, d.ID
		t.level, t.spawned, t.agent, t.after, t.told, t.undone = "", nil, nil, "", false, false
		t.asked = false
	case event.AfterAgent:
		t.after = d.ID
	case event.BeforeTool:
	}
}

func (t *trail) resumed(at time.Time) {
	t.active += max(0, t.before(at).Sub(t.session))
	t.session, t.children = at, nil // what was left was ended first
	if t.ended {
		t.ended, t.stop = false, nil
	}
}

// before is when the session before the given time ended, as far as is known.
func (t *trail) before(at time.Time) time.Time {
	if t.last.Before(at) {
		return t.last
	}
	return at
}

// spent is how much of the loop's time is gone.
func (t *trail) spent() time.Duration { return t.active + max(0, t.last.Sub(t.session)) }

// running reports whether the agent may still have been running at the end.
func (t *trail) running() bool { return t.spawned != nil && t.agent == nil }
