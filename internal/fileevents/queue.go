package fileevents

import "slices"

// queue holds events until they are read. It has one event per path, the last one.
type queue struct {
	held []Event
	at   map[string]int // path to its place in held, counted since the start
	gone int            // number of events that were read
}

func (q *queue) put(e Event) {
	if e.Path == "" {
		q.held = append(q.held, e)
		return
	}
	if q.at == nil {
		q.at = map[string]int{}
	}
	if i, waiting := q.at[e.Path]; waiting {
		q.held[i-q.gone] = merge(q.held[i-q.gone], e)
		return
	}
	q.at[e.Path] = q.gone + len(q.held)
	q.held = append(q.held, e)
}

// merge makes one event of two. A file that disappeared and appeared is changed. A file that
// appeared and disappeared is reported as gone, since it existed.
func merge(before, now Event) Event {
	switch {
	case before.Op == Created && now.Op == Modified:
		return before
	case before.Op == Removed && now.Op == Created:
		now.Op = Modified
	}
	return now
}

func (q *queue) first() (Event, bool) {
	if len(q.held) == 0 {
		return Event{}, false
	}
	return q.held[0], true
}

func (q *queue) drop() {
	delete(q.at, q.held[0].Path)
	q.held, q.gone = q.held[1:], q.gone+1
	if len(q.held) == 0 {
		q.held = nil
	}
}

// only returns the events of one kind.
func (q *queue) only(op Op) []Event {
	return slices.DeleteFunc(slices.Clone(q.held), func(e Event) bool { return e.Op != op })
}
