package fileevents

import "slices"

// queue holds events until they are read. It has one event per path, the last one.
type queue struct {
	events    []Event
	index     map[string]int // path to its place in held, counted since the start
	readCount int            // number of events that were read
}

func (q *queue) push(e Event) {
	if e.Path == "" {
		q.events = append(q.events, e)
		return
	}
	if q.index == nil {
		q.index = map[string]int{}
	}
	if i, waiting := q.index[e.Path]; waiting {
		q.events[i-q.readCount] = mergeEvents(q.events[i-q.readCount], e)
		return
	}
	q.index[e.Path] = q.readCount + len(q.events)
	q.events = append(q.events, e)
}

// mergeEvents makes one event of two. A file that disappeared and appeared is changed. A file that
// appeared and disappeared is reported as gone, since it existed.
func mergeEvents(before, now Event) Event {
	switch {
	case before.Op == Created && now.Op == Modified:
		return before
	case before.Op == Removed && now.Op == Created:
		now.Op = Modified
	}
	return now
}

func (q *queue) peek() (Event, bool) {
	if len(q.events) == 0 {
		return Event{}, false
	}
	return q.events[0], true
}

func (q *queue) pop() {
	delete(q.index, q.events[0].Path)
	q.events, q.readCount = q.events[1:], q.readCount+1
	if len(q.events) == 0 {
		q.events = nil
	}
}

// ofKind returns the events of one kind.
func (q *queue) ofKind(op Op) []Event {
	return slices.DeleteFunc(slices.Clone(q.events), func(e Event) bool { return e.Op != op })
}
