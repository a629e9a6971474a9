package fileevents

// queue holds events until they are received. It holds at most one event of a path, which is
// the merged one.
type queue struct {
	events    []Event
	index     map[string]int // path → number of its event, counted since the first event
	readCount int            // number of events that were read
}

// push adds an event, or merges it into the waiting event of the same path.
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

// mergeEvents makes one event of two. A file that disappeared and appeared again was modified.
// A file that appeared and disappeared again is reported as removed.
func mergeEvents(before, now Event) Event {
	switch {
	case before.Op == Created && now.Op == Modified:
		return before
	case before.Op == Removed && now.Op == Created:
		now.Op = Modified
	}
	return now
}

// peek returns the first event, and false if the queue is empty.
func (q *queue) peek() (Event, bool) {
	if len(q.events) == 0 {
		return Event{}, false
	}
	return q.events[0], true
}

// pop removes the first event.
func (q *queue) pop() {
	delete(q.index, q.events[0].Path)
	q.events, q.readCount = q.events[1:], q.readCount+1
	if len(q.events) == 0 {
		q.events = nil
	}
}
