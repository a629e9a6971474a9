package fileevents

// queue holds events until they are received. It holds at most one event of a path, which is
// the merged one.
type queue struct {
	events  []*Event
	waiting map[string]*Event // path → its event in events
}

// push adds an event, or merges it into the waiting event of the same path.
func (q *queue) push(e Event) {
	if earlier := q.waiting[e.Path]; earlier != nil {
		*earlier = mergeEvents(*earlier, e)
		return
	}
	q.events = append(q.events, &e)
	if q.waiting == nil {
		q.waiting = map[string]*Event{}
	}
	if e.Path != "" {
		q.waiting[e.Path] = &e
	}
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
	return *q.events[0], true
}

// pop removes the first event.
func (q *queue) pop() {
	delete(q.waiting, q.events[0].Path)
	q.events = q.events[1:]
}
