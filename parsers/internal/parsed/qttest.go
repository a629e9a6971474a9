package parsed

import (
	"cmp"
	"strings"

	"supervise/metric"
)

// QtOutcomes collects the outcomes of one program of Qt Test, from XML or text. A test function
// has an outcome for each row of its data, and may report several for one row. The zero value
// is empty.
type QtOutcomes struct {
	Cases    []metric.Test     // one test for each row
	EarlyEnd string            // why the program ended before its tests did, "" if it did not
	index    map[metric.ID]int // of the tests in Cases
}

// qtStatuses maps the words of Qt Test, in lower case. After an expected failure, xfail, a pass
// or a failure follows. Blacklisted tests, whose words start with b, are skipped whatever their
// outcome is.
var qtStatuses = map[string]metric.Status{
	"pass": metric.Passed, "fail": metric.Failed, "xpass": metric.Failed, "skip": metric.Skipped, "xfail": 0,
	"bpass": metric.Skipped, "bfail": metric.Skipped, "bxpass": metric.Skipped, "bxfail": metric.Skipped, "bskip": metric.Skipped,
}

// StatusOf returns the status for a word of Qt Test, and whether the word is known.
func (q *QtOutcomes) StatusOf(word string) (s metric.Status, known bool) {
	s, known = qtStatuses[strings.ToLower(strings.TrimSuffix(word, "!"))]
	return s, known
}

// TestFor returns the test of a function and a row of its data, and adds it if it is new.
// The pointer is valid until the next call.
func (q *QtOutcomes) TestFor(class, function, row string) *metric.Test {
	id := metric.ID{Suite: class, Name: function}
	if row != "" {
		id.Name += "(" + row + ")"
	}
	i, known := q.index[id]
	if !known {
		if q.index == nil {
			q.index = map[metric.ID]int{}
		}
		i = len(q.Cases)
		if i == MaxItems {
			return &metric.Test{}
		}
		q.index[id] = i
		q.Cases = append(q.Cases, metric.Test{ID: id})
	}
	return &q.Cases[i]
}

// AddOutcome adds an outcome, its message and its place to a test. The worst outcome of a test
// counts. A failure of initTestCase and a crash end the program early.
func (q *QtOutcomes) AddOutcome(t *metric.Test, s metric.Status, message, file string, line int) {
	if s >= t.Status && s != 0 {
		t.Status = s
		if s != metric.Passed {
			t.Message = JoinMessage(t.Message, message)
			t.File, t.Line = cmp.Or(t.File, file), cmp.Or(t.Line, line)
		}
	}
	isCrash := strings.HasPrefix(message, "Received a fatal error") || strings.HasPrefix(message, "Received signal")
	switch {
	case s != metric.Failed:
	case t.Name == "initTestCase":
		q.EarlyEnd = cmp.Or(q.EarlyEnd, JoinReason("initTestCase failed", message))
	case isCrash:
		q.EarlyEnd = cmp.Or(q.EarlyEnd, message)
	}
}

// MoveTo moves all tests to a set, and marks their suite as broken if the program ended
// early.
func (q *QtOutcomes) MoveTo(s *TestSet) {
	for _, t := range q.Cases {
		if t.Status == 0 {
			t.Status, t.Message = metric.Errored, "it has no outcome"
		}
		s.Add(CleanTest(t))
		if q.EarlyEnd != "" {
			s.AddBroken(t.Suite, q.EarlyEnd)
		}
	}
	*q = QtOutcomes{}
}
