package parsed

import (
	"cmp"
	"strings"

	"supervise/metric"
)

// QtSet gathers what Qt Test says of one program, in XML and in text. A function has an
// outcome for each row of its data, and may say several things of one.
type QtSet struct {
	Cases []metric.Test
	Why   string // the program ended before its tests did
	index map[metric.ID]int
}

// qtOutcomes are the words for outcomes. An expected failure is not an outcome: a pass or a failure
// follows. What is blacklisted does not count, whatever came of it.
var qtOutcomes = map[string]metric.Status{
	"pass": metric.Passed, "fail": metric.Failed, "xpass": metric.Failed, "skip": metric.Skipped, "xfail": 0,
	"bpass": metric.Skipped, "bfail": metric.Skipped, "bxpass": metric.Skipped, "bxfail": metric.Skipped, "bskip": metric.Skipped,
}

// Outcome returns what a word means; known is false for another word.
func (q *QtSet) Outcome(word string) (s metric.Status, known bool) {
	s, known = qtOutcomes[strings.ToLower(strings.TrimSuffix(word, "!"))]
	return s, known
}

// Test returns the test of a function and a row of its data, which is added if it is new.
// It is valid until the next call.
func (q *QtSet) Test(class, function, row string) *metric.Test {
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
		if i == MaxKept {
			return &metric.Test{}
		}
		q.index[id] = i
		q.Cases = append(q.Cases, metric.Test{ID: id})
	}
	return &q.Cases[i]
}

// Say adds an outcome and its message to a test. The worst counts.
func (q *QtSet) Say(t *metric.Test, s metric.Status, message, file string, line int) {
	if s >= t.Status && s != 0 {
		t.Status = s
		if s != metric.Passed {
			t.Message = JoinMessage(t.Message, message)
			t.File, t.Line = cmp.Or(t.File, file), cmp.Or(t.Line, line)
		}
	}
	if t.Name == "initTestCase" && s == metric.Failed {
		q.Why = cmp.Or(q.Why, Because("initTestCase failed", message))
	}
	if s == metric.Failed && (strings.HasPrefix(message, "Received a fatal error") || strings.HasPrefix(message, "Received signal")) {
		q.Why = cmp.Or(q.Why, message)
	}
}

// AddTo adds all tests to a set, and breaks their suite if the program ended early.
func (q *QtSet) AddTo(s *TestSet) {
	for _, t := range q.Cases {
		if t.Status == 0 {
			t.Status, t.Message = metric.Errored, "it has no outcome"
		}
		s.Add(CleanTest(t))
		if q.Why != "" {
			s.Breaks(t.Suite, q.Why)
		}
	}
	*q = QtSet{}
}
