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

// CountOf reads a number of digits.
func CountOf(digits string) AnyNumber {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	return AnyNumber(n)
}

// Outcomes gathers what a report in JSON says about tests. The zero value is
// empty.
type Outcomes struct {
	TestSet
	Failure string
	Took    time.Duration
}

// Add takes one case of the report, with its texts unchanged.
func (s *Outcomes) Add(t metric.Test) { s.TestSet.Add(CleanTest(t)) }

// AddNotRun takes a case that the report calls skipped although it was not
// meant to be: it counts as skipped in the totals, and as not run in the set.
func (s *Outcomes) AddNotRun(t metric.Test) {
	t.Status = metric.Skipped
	s.Add(t)
	s.Cases[len(s.Cases)-1].Status = metric.NotRun
}

// CleanTest returns t with texts that can be shown.
func CleanTest(t metric.Test) metric.Test {
	t.Suite, t.Class, t.Name = textstream.CleanName(t.Suite), textstream.CleanName(t.Class), textstream.CleanName(t.Name)
	t.File = textstream.CleanName(t.File)
	if t.Message != "" {
		t.Message = textstream.ClipText(t.Message)
	}
	return t
}

// Breaks says that a suite could not run, or not to its end.
func (s *Outcomes) Breaks(suite, why string) {
	s.TestSet.Breaks(suite, cmp.Or(textstream.ClipText(why), "it failed outside of its tests"))
}

// Declares compares a sum that the report states with the recount. A sum of
// less than 0 is one that it does not state.
func (s *Outcomes) Declares(what string, stated float64, counted int) {
	if stated >= 0 && Int(stated) != counted {
		s.Problems.Add("the report says %d %s and holds %d", Int(stated), what, counted)
	}
}

// Stated is Declares for a sum that is nil if the report does not state it.
func (s *Outcomes) Stated(what string, stated *AnyNumber, counted int) {
	if stated != nil {
		s.Declares(what, float64(*stated), counted)
	}
}

// StatedFails is Fails for a sum that is nil if the report does not state it.
func (s *Outcomes) StatedFails(what string, stated *AnyNumber, counts ...int) {
	if stated != nil {
		s.Fails(what, float64(*stated), counts...)
	}
}

// Failed is how many cases failed or broke off.
func (s *Outcomes) Failed() int { return s.Totals.Failed + s.Totals.Errors }

// Documents reads the JSON documents in r with read, once for each. The producer is only
// looked at afterwards. Documents of another shape, such as the log lines of a test, do not
// belong to the report, as long as there is one that does.
func (s *Outcomes) Documents(r io.Reader, producer *string, read func(*jsonstream.Reader) error) (Report, error) {
	own := 0
	var other *shapeError
	noise, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error {
		before := len(s.Cases) + len(s.Broken)
		err := read(j)
		if errors.As(err, &other) && len(s.Cases)+len(s.Broken) == before {
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
		s.Problems.Add("text outside of the report: %s", textstream.ClipText(noise))
	}
	if other != nil && err == nil {
		s.Problems.Add("a document outside of the report: %v", other.error)
	}
	return s.Report(*producer), err
}

// shapeError is what a document of another shape gives that was read completely.
type shapeError struct{ error }

// Unwrap returns the error that names the place.
func (e *shapeError) Unwrap() error { return e.error }

// Members reads an object: a pointer takes the value of its member, a function
// reads it. Other members are passed over.
func Members(j *jsonstream.Reader, members map[string]any) error {
	return j.Object(func(name string) error {
		switch to := members[name].(type) {
		case nil:
			return j.Skip()
		case func() error:
			return to()
		default:
			return j.Value(to)
		}
	})
}

// Items reads an array item by item.
func Items[T any](j *jsonstream.Reader, take func(T)) func() error {
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

// OtherShape is the error of a complete document that is not a report of the format.
func OtherShape(j *jsonstream.Reader, problem string) error {
	return &shapeError{j.Error("%s", problem)}
}

// Report returns what was gathered.
func (s *Outcomes) Report(producer string) Report {
	t := s.Tests()
	t.Failure, t.Duration = cmp.Or(textstream.ClipText(s.Failure), t.Failure), s.Took
	if t.Duration <= 0 {
		for _, c := range s.Cases {
			t.Duration += c.Duration
		}
	}
	return Report{Producer: producer, Tests: t, Cases: s.Totals, Problems: s.Problems.All()}
}

// AnyNumber is a JSON number, or a text that holds one, as writers of many tools
// have it: 0.25, "0.25", "0.250s". Everything else is 0.
type AnyNumber float64

// UnmarshalJSON reads what it can and never fails.
func (n *AnyNumber) UnmarshalJSON(raw []byte) error {
	text := strings.TrimSuffix(strings.Trim(string(raw), `" `), "s")
	*n = CountOf(text)
	return nil
}

// Int returns n without its fraction, 0 if it is below 0 or no number.
func (n AnyNumber) Int() int { return Int(float64(n)) }

// In returns the duration of n units.
func (n AnyNumber) In(unit time.Duration) time.Duration {
	return Seconds(float64(n) * unit.Seconds())
}

// AnyText is a JSON text, or the text of another value: of a list its items in
// lines, of an object its message. Everything else is "".
type AnyText string

// UnmarshalJSON reads what it can and never fails.
func (t *AnyText) UnmarshalJSON(raw []byte) error {
	*t = AnyText(TextOf(raw))
	return nil
}

// TextOf returns what [AnyText] reads of a value.
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

// JoinTexts puts what is not empty in one text.
func JoinTexts(items []AnyText, between string) string {
	var parts []string
	for _, t := range items {
		if t != "" {
			parts = append(parts, string(t))
		}
	}
	return strings.Join(parts, between)
}

// JoinMessage puts the message of a failure before its trace, unless the
// trace begins with it or holds it.
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

// GroupPath is the class of a test in nested groups.
func GroupPath(titles ...string) string {
	path := slices.DeleteFunc(slices.Clone(titles), func(t string) bool { return t == "" })
	return strings.Join(path, " > ")
}
