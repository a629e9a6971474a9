package loop

import (
	"encoding/json"
	"strings"
	"time"

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
	spawned   *Spawned
	spawnedAt time.Time
	agent     *ledger.AgentRun // how it ended, nil as long as it runs
	after     snapshot.ID      // the tree that it left
	told      bool             // the verdict
	undone    bool             // the iteration was rejected, and the tree is put back
	asked     bool             // a person, who has not answered
	askedAt   time.Time

	foreign   []snapshot.ID // what was found in the tree and is kept
	dropped   map[snapshot.ID]bool
	overLimit bool      // that was told
	children  []Spawned // that may have been running at the end

	stop     *Stop // the best iteration is being given back
	ended    bool  // all was done
	finished Finished

	active  time.Duration // of the earlier sessions
	session time.Time     // when the latest one began
	last    time.Time
}

// read takes an event in, oldest first. Events of other kinds, and data that is
// not understood, change nothing.
func (t *trail) read(e ledger.Event) {
	over := afterwards[EventType(e.Name)] || t.ended && EventType(e.Name) != LoopResumed
	if read, known := trailEvents[EventType(e.Name)]; known {
		read(t, e) // before the time moves on: a resumption asks when the session before it ended
	}
	if !over && e.Time.After(t.last) {
		t.last = e.Time
	}
}

// afterwards are the events that people cause when the loop is not at work: they
// take none of its time.
var afterwards = map[EventType]bool{SelectionChanged: true, SelectionApplied: true}

// trailEvents are the events that say where a loop stands.
var trailEvents = map[EventType]func(*trail, ledger.Event){
	LoopStarted: func(t *trail, e ledger.Event) {
		t.settings, t.session = decode[Started](e).Settings, e.Time
	},
	LoopResumed: func(t *trail, e ledger.Event) { t.resumed(e.Time) },
	SnapshotTaken: func(t *trail, e ledger.Event) {
		t.taken(e, decode[Taken](e))
	},
	IterationStarted: func(t *trail, e ledger.Event) {
		d := decode[AgentStart](e)
		t.level, t.why = d.Level, d.Why
	},
	ChildStarting: func(t *trail, e ledger.Event) { t.starting(e, decode[Child](e)) },
	AgentSpawned: func(t *trail, e ledger.Event) {
		if t.spawned != nil {
			*t.spawned = decode[Spawned](e)
		}
	},
	AgentFinished: func(t *trail, e ledger.Event) {
		a := decode[ledger.AgentRun](e)
		t.agent, t.children = &a, nil
	},
	BaselineMeasured: func(t *trail, _ ledger.Event) { t.children = nil },
	GateOpened:       func(t *trail, e ledger.Event) { t.asked, t.askedAt = true, e.Time },
	GateAnswered: func(t *trail, e ledger.Event) {
		t.asked = false
		t.session = t.session.Add(max(0, e.Time.Sub(t.askedAt))) // the waiting is none of the loop's time
	},
	IterationFinished: func(t *trail, _ ledger.Event) { t.told, t.children = true, nil },
	IterationRejected: func(t *trail, _ ledger.Event) { t.undone = true },
	TreeChanged: func(t *trail, e ledger.Event) {
		t.foreign = append(t.foreign, snapshotNamed(decode[TreeChange](e).Kept))
	},
	SnapshotsDropped: func(t *trail, e ledger.Event) {
		for _, name := range decode[SnapshotsGone](e).Snapshots {
			t.dropped[snapshotNamed(name)] = true
		}
	},
	StoreOverLimit: func(t *trail, _ ledger.Event) { t.overLimit = true },
	LoopStopping: func(t *trail, e ledger.Event) {
		s := decode[Stop](e)
		t.stop = &s
	},
	OutputVerified: func(t *trail, _ ledger.Event) { t.children = nil },
	LoopFinished:   func(t *trail, e ledger.Event) { t.ended, t.finished = true, decode[Finished](e) },
}

// starting notes a child. It may have been started, whether or not that was
// written down as well.
func (t *trail) starting(e ledger.Event, c Child) {
	t.children = append(t.children, Spawned{Shim: c.Shim})
	if c.What == childAgent {
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

func (t *trail) taken(e ledger.Event, d Taken) {
	switch d.Moment {
	case BeforeChecks:
		t.baseline = d.ID
	case AfterChecks:
		t.artefacts = d.Artefacts
	case BeforeAgent:
		t.iteration, t.began, t.start = e.Iteration, e.Time, d.ID
		t.level, t.spawned, t.agent, t.after, t.told, t.undone = "", nil, nil, "", false, false
		t.asked = false
	case AfterAgent:
		t.after = d.ID
	case BeforeTool:
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
