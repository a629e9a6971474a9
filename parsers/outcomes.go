package parsers

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/metric"
)

// outcomes gathers what a report in JSON says about tests. The zero value is
// empty.
type outcomes struct {
	testSet
	failure string
	took    time.Duration
}

// add takes one case as it stands in the report, with its texts as they are.
func (s *outcomes) add(t metric.Test) { s.testSet.add(cleanTest(t)) }

// addNotRun takes a case that the report calls skipped although nobody asked
// for that: it counts as it stands in the report, and as not run in the set.
func (s *outcomes) addNotRun(t metric.Test) {
	t.Status = metric.Skipped
	s.add(t)
	s.cases[len(s.cases)-1].Status = metric.NotRun
}

func cleanTest(t metric.Test) metric.Test {
	t.Suite, t.Class, t.Name = textstream.CleanName(t.Suite), textstream.CleanName(t.Class), textstream.CleanName(t.Name)
	t.File = textstream.CleanName(t.File)
	if t.Message != "" {
		t.Message = textstream.Clipped(t.Message)
	}
	return t
}

// breaks says that a suite could not run, or not to its end.
func (s *outcomes) breaks(suite, why string) {
	why = textstream.Clipped(why)
	if why == "" {
		why = "it failed outside of its tests"
	}
	s.testSet.breaks(suite, why)
}

// declares compares a sum that the report states with the recount. A sum of
// less than 0 is one that it does not state.
func (s *outcomes) declares(what string, stated float64, counted int) {
	if stated >= 0 && whole(stated) != counted {
		s.problems.Add("the report says %d %s and holds %d", whole(stated), what, counted)
	}
}

// failed is how many cases failed or broke off.
func (s *outcomes) failed() int { return s.totals.Failed + s.totals.Errors }

// documents reads the JSON documents in r with read, once for each.
func (s *outcomes) documents(r io.Reader, producer string, read func(*jsonstream.Reader) error) (Report, error) {
	return s.documentsOf(r, &producer, read)
}

// documentsOf is documents where the producer is known only behind the reading.
// Documents of another shape, such as the log lines of a test, are no part of
// the report, as long as there is one.
func (s *outcomes) documentsOf(r io.Reader, producer *string, read func(*jsonstream.Reader) error) (Report, error) {
	own := 0
	var other *shapeError
	noise, err := jsonstream.Documents(r, func(j *jsonstream.Reader) error {
		before := len(s.cases) + len(s.broken)
		err := read(j)
		if errors.As(err, &other) && len(s.cases)+len(s.broken) == before {
			return nil
		}
		own++
		return err
	})
	switch {
	case err != nil || own > 0:
	case other != nil:
		err = other.error
	default:
		err = fmt.Errorf("%w: there is no JSON in it", ErrUnknownFormat)
	}
	if noise != "" {
		s.problems.Add("text outside of the report: %s", textstream.Clipped(noise))
	}
	if other != nil && err == nil {
		s.problems.Add("a document outside of the report: %v", other.error)
	}
	return s.report(*producer), err
}

// shapeError is what a document of another shape gives that was read whole.
type shapeError struct{ error }

// Unwrap returns the error that names the place.
func (e *shapeError) Unwrap() error { return e.error }

func otherShape(j *jsonstream.Reader, problem string) error {
	return &shapeError{j.Error("%s", problem)}
}

// report returns what was gathered.
func (s *outcomes) report(producer string) Report {
	t := metric.NewTests(s.cases)
	t.Broken, t.Failure = uniqueSuites(s.broken), textstream.Clipped(s.failure)
	t.Duration = s.took
	if t.Duration <= 0 {
		for _, c := range s.cases {
			t.Duration += c.Duration
		}
	}
	if same := s.totals.Tests - len(t.Cases); same > 0 {
		s.problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return Report{Producer: producer, Tests: t, Cases: s.totals, Problems: s.problems.All()}
}

// number is a JSON number, or a text that holds one, as writers of many tools
// have it: 0.25, "0.25", "0.250s". Everything else is 0.
type number float64

// UnmarshalJSON reads what it can and never fails.
func (n *number) UnmarshalJSON(raw []byte) error {
	text := strings.TrimSuffix(strings.Trim(string(raw), `" `), "s")
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		f = 0
	}
	*n = number(f)
	return nil
}

func (n number) whole() int { return whole(float64(n)) }

// in returns the duration of n units.
func (n number) in(unit time.Duration) time.Duration {
	return seconds(float64(n) * unit.Seconds())
}

// text is a JSON text, or what stands for one: of a list its items in lines, of
// an object its message. Everything else is "".
type text string

// UnmarshalJSON reads what it can and never fails.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text(textOf(raw))
	return nil
}

func textOf(raw jsonstream.Raw) string {
	switch byte(raw.Kind()) {
	case '"':
		var s string
		if jsonstream.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case '[':
		var items []text
		if jsonstream.Unmarshal(raw, &items) != nil {
			return ""
		}
		return joinTexts(items, "\n")
	case '{':
		var o struct {
			Message text `json:"message"`
			Stack   text `json:"stack"`
		}
		if jsonstream.Unmarshal(raw, &o) != nil {
			return ""
		}
		return joinedMessage(string(o.Message), string(o.Stack))
	}
	return ""
}

// joinTexts puts what is not empty in one text.
func joinTexts(items []text, between string) string {
	var parts []string
	for _, t := range items {
		if t != "" {
			parts = append(parts, string(t))
		}
	}
	return strings.Join(parts, between)
}

// joinedMessage puts the message of a failure before its trace, unless the
// trace begins with it or holds it.
func joinedMessage(message, trace string) string {
	message, trace = strings.TrimSpace(message), strings.TrimSpace(trace)
	switch {
	case message == "" || strings.Contains(trace, message):
		return trace
	case trace == "":
		return message
	}
	return message + "\n" + trace
}

// describePath is the class of a test that stands in nested groups.
func describePath(titles ...string) string {
	var path []string
	for _, t := range titles {
		if t != "" {
			path = append(path, t)
		}
	}
	return strings.Join(path, " > ")
}
