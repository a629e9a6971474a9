package parsed

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/metric"
)

// Outcomes collects the tests of a report whose texts need cleaning: a report in JSON, or the
// output of a test runner. The zero value is empty.
type Outcomes struct {
	TestSet
	Failure  string        // why the run failed, as the report states
	Duration time.Duration // of the run, 0 if the report does not state it
}

// Add adds a case. Its texts are cleaned.
func (s *Outcomes) Add(t metric.Test) { s.TestSet.Add(CleanTest(t)) }

// AddNotRun adds a case that the report calls skipped because something before it
// failed. It counts as skipped in the totals, and as not run in the set.
func (s *Outcomes) AddNotRun(t metric.Test) {
	t.Status = metric.Skipped
	s.Add(t)
	s.Cases[len(s.Cases)-1].Status = metric.NotRun
}

// CleanTest returns t with texts that are safe to display.
func CleanTest(t metric.Test) metric.Test {
	t.Suite, t.Class, t.Name = textstream.CleanName(t.Suite), textstream.CleanName(t.Class), textstream.CleanName(t.Name)
	t.File = textstream.CleanName(t.File)
	if t.Message != "" {
		t.Message = textstream.ClipText(t.Message)
	}
	return t
}

// AddBroken adds a suite that could not run, or not to its end, with the reason.
func (s *Outcomes) AddBroken(suite, why string) {
	s.TestSet.AddBroken(suite, cmp.Or(textstream.ClipText(why), "it failed outside of its tests"))
}

// CheckTotal compares a total that the report states with the counted cases, and
// adds a problem if they differ. A total below 0 is not stated.
func (s *Outcomes) CheckTotal(what string, stated float64, counted int) {
	if stated >= 0 && ToCount(stated) != counted {
		s.Problems.Add("the report says %d %s and holds %d", ToCount(stated), what, counted)
	}
}

// CheckOptionalTotal is CheckTotal for a total that is nil if the report does not state it.
func (s *Outcomes) CheckOptionalTotal(what string, stated *AnyNumber, counted int) {
	if stated != nil {
		s.CheckTotal(what, float64(*stated), counted)
	}
}

// CheckOptionalFailures is CheckFailures for a total that is nil if it is not stated.
func (s *Outcomes) CheckOptionalFailures(what string, stated *AnyNumber, counts ...int) {
	if stated != nil {
		s.CheckFailures(what, float64(*stated), counts...)
	}
}

// ReadDocuments calls read for each JSON document in r, and returns the report. Read may change
// the producer. For a document of another shape, such as the log line of a test, it returns the
// error of [ShapeError]. Such a document is ignored if at least one other document belongs to
// the report.
func (s *Outcomes) ReadDocuments(r io.Reader, producer *string, read func(*jsonstream.Reader) error) (Report, error) {
	accepted := 0
	var otherShape *shapeError
	noise, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error {
		before := len(s.Cases) + len(s.Broken)
		err := read(j)
		if errors.As(err, &otherShape) && len(s.Cases)+len(s.Broken) == before {
			return nil
		}
		accepted++
		return err
	})

	switch {
	case err != nil || accepted > 0:
	case otherShape != nil:
		err = otherShape.error
	default:
		err = fmt.Errorf("%w: there is no JSON in it", ErrUnknownFormat)
	}

	if noise != "" {
		s.Problems.Add("text outside of the report: %s", textstream.ClipText(noise))
	}
	if otherShape != nil && err == nil {
		s.Problems.Add("a document outside of the report: %v", otherShape.error)
	}
	return s.Report(*producer), err
}

// ReadEvents calls handle for each JSON object in the lines of r, with its bytes and its line.
// It returns the first text between the objects, which another program printed.
func ReadEvents(r io.Reader, handle func([]byte, textstream.Line) error) (noise string, err error) {
	err = jsonstream.ReadEvents(r, nil, jsonstream.Sink{Event: handle, Noise: func(text []byte, _ textstream.Line) {
		if noise == "" {
			noise = textstream.CleanText(string(text[:min(len(text), MaxLine)]))
		}
	}})
	return noise, err
}

// shapeError is the error for a complete document that is not a report of the format.
type shapeError struct{ error }

// Unwrap returns the error with the position in the document.
func (e *shapeError) Unwrap() error { return e.error }

// ReadMembers reads an object. A value of members is either a pointer to decode the member
// into, or a func() error that reads the value of the member from j. All other members are
// skipped.
func ReadMembers(j *jsonstream.Reader, members map[string]any) error {
	return j.Object(func(name string) error {
		switch target := members[name].(type) {
		case nil:
			return j.Skip()
		case func() error:
			return target()
		default:
			return j.Value(target)
		}
	})
}

// ItemReader returns a function that reads an array and calls take with each item. It is a
// value for [ReadMembers].
func ItemReader[T any](j *jsonstream.Reader, take func(T)) func() error {
	return func() error {
		return j.Array(func() error {
			var item T
			err := j.Value(&item)
			if err == nil {
				take(item)
			}
			return err
		})
	}
}

// ShapeError returns the error for a complete document that is not a report of the format.
func ShapeError(j *jsonstream.Reader, problem string) error {
	return &shapeError{j.Error("%s", problem)}
}

// Report returns the report with the collected tests. Without a stated duration, it is the sum
// of the durations of the cases.
func (s *Outcomes) Report(producer string) Report {
	t := s.Tests()
	t.Failure, t.Duration = cmp.Or(textstream.ClipText(s.Failure), t.Failure), s.Duration
	if t.Duration <= 0 {
		for _, c := range s.Cases {
			t.Duration += c.Duration
		}
	}
	return Report{Producer: producer, Tests: t, Cases: s.Totals, Problems: s.Problems.All()}
}

// AnyNumber is a JSON number, or a string with a number in it: 0.25, "0.25",
// "0.250s". Everything else is 0.
type AnyNumber float64

// ParseNumber parses a decimal number. Everything else is 0.
func ParseNumber(digits string) AnyNumber {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	return AnyNumber(n)
}

// UnmarshalJSON decodes any JSON value. It never fails.
func (n *AnyNumber) UnmarshalJSON(raw []byte) error {
	text := strings.TrimSuffix(strings.Trim(string(raw), `" `), "s")
	*n = ParseNumber(text)
	return nil
}

// Int returns n without its fraction, or 0 if it is below 0 or not a number.
func (n AnyNumber) Int() int { return ToCount(float64(n)) }

// In returns n units as a duration, 0 if that is not a sensible time.
func (n AnyNumber) In(unit time.Duration) time.Duration {
	return Seconds(float64(n) * unit.Seconds())
}

// AnyText is the text of a JSON string. For an array it is the items, one a line, and
// for an object its members message and stack. Everything else is "".
type AnyText string

// UnmarshalJSON decodes any JSON value. It never fails.
func (t *AnyText) UnmarshalJSON(raw []byte) error {
	*t = AnyText(TextOf(raw))
	return nil
}

// TextOf returns the text of a JSON value; see [AnyText].
func TextOf(raw jsonstream.Raw) string {
	switch byte(raw.Kind()) {
	case '"':
		var s string
		if jsonstream.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case '[':
		var items []AnyText
		if jsonstream.Unmarshal(raw, &items) != nil {
			return ""
		}
		return JoinTexts(items, "\n")
	case '{':
		var o struct {
			Message AnyText `json:"message"`
			Stack   AnyText `json:"stack"`
		}
		if jsonstream.Unmarshal(raw, &o) != nil {
			return ""
		}
		return JoinMessage(string(o.Message), string(o.Stack))
	}
	return ""
}

// JoinTexts joins the items that are not empty.
func JoinTexts(items []AnyText, separator string) string {
	var parts []string
	for _, t := range items {
		if t != "" {
			parts = append(parts, string(t))
		}
	}
	return strings.Join(parts, separator)
}

// JoinMessage returns the message of a failure and its trace. A message that the
// trace contains is not repeated.
func JoinMessage(message, trace string) string {
	message, trace = strings.TrimSpace(message), strings.TrimSpace(trace)
	switch {
	case message == "" || strings.Contains(trace, message):
		return trace
	case trace == "":
		return message
	}
	return message + "\n" + trace
}

// JoinGroups returns the class of a test in nested groups, as in "outer > inner". It skips
// empty titles.
func JoinGroups(titles ...string) string {
	path := slices.DeleteFunc(slices.Clone(titles), func(t string) bool { return t == "" })
	return strings.Join(path, " > ")
}
