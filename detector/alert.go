package detector

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/metric"
)

// The measurements that an alert can be raised against.
const (
	AgainstPrevious = "previous"
	AgainstBaseline = "baseline"
)

// Alert is one finding of a rule.
type Alert struct {
	Rule        string      `json:"rule"`
	Type        string      `json:"type"`
	Severity    Severity    `json:"severity"`
	Basis       Basis       `json:"basis"`
	Values      Values      `json:"values"`
	Against     string      `json:"against"`      // AgainstPrevious or AgainstBaseline
	TriggeredAt int         `json:"triggered_at"` // iteration
	Tests       []metric.ID `json:"tests,omitempty"`
	Files       []string    `json:"files,omitempty"`
	Action      Action      `json:"action"`
	Versions    []Versions  `json:"versions,omitempty"` // of tests that were weakened, before and now
	// Acknowledged is set where a person had accepted the finding.
	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`
	// Declared says that the user let it happen before it did: it keeps its severity, a
	// person reads it at the end, and nothing else follows from it.
	Declared bool `json:"declared,omitempty"`
}

// CountsAtLeast reports whether anything follows from an alert of at least that severity.
func (a Alert) CountsAtLeast(least Severity) bool { return a.Severity >= least && !a.Declared }

// BlocksMerge reports whether an alert fails a merge gate by default: where it is CRITICAL, or
// HIGH and more than a text says so. Nothing follows from one that a person accepted.
func (a Alert) BlocksMerge() bool {
	return a.Acknowledged == nil && (a.CountsAtLeast(Critical) || a.CountsAtLeast(High) && a.Basis.Proven())
}

// Values are the numbers and words of an alert. A number that plays no part
// is nil.
type Values struct {
	Prev      *float64 `json:"prev,omitempty"` // of what Against names
	Curr      *float64 `json:"curr,omitempty"`
	Delta     *float64 `json:"delta,omitempty"`
	Baseline  *float64 `json:"baseline,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Name      string   `json:"name,omitempty"` // of the first test concerned
	Why       string   `json:"why,omitempty"`
	N         int      `json:"n,omitempty"`    // how many tests, lines or lost things
	Gone      int      `json:"gone,omitempty"` // how many of those tests do not fail, but are not there any more
	Period    int      `json:"period,omitempty"`
	Path      string   `json:"path,omitempty"` // pattern of the part of the tree that the numbers are about; "" is all of it
}

// Message returns the message that the specification gives the rule, filled
// with the values of the alert.
func (a Alert) Message() string {
	r, ok := FindRule(a.Rule)
	if !ok {
		return a.Rule
	}
	v := a.Values
	text := strings.NewReplacer(
		"{prev}", number(v.Prev), "{curr}", number(v.Curr), "{delta}", number(v.Delta),
		"{threshold}", number(v.Threshold), "{prev_time}", duration(v.Prev), "{curr_time}", duration(v.Curr),
		"{of}", v.of(), "{fate}", v.fate(), "{name}", v.names(), "{why}", v.Why, "{n}", strconv.Itoa(v.N),
	).Replace(r.Message)
	if a.Against == AgainstBaseline {
		text += sinceBaseline
	}
	return text
}

const sinceBaseline = " (since the baseline)"

func (v Values) of() string {
	if v.Path == "" {
		return ""
	}
	return " of " + v.Path
}

// fate says what became of tests that passed: those that are gone do not fail.
func (v Values) fate() string {
	switch v.Gone {
	case 0:
		return "now failing"
	case v.N:
		return "are gone"
	}
	return fmt.Sprintf("now failing (%d), or gone (%d)", v.N-v.Gone, v.Gone)
}

func (v Values) names() string {
	if v.N > 1 {
		return fmt.Sprintf("%s (and %d more)", v.Name, v.N-1)
	}
	return v.Name
}

// number writes a value as people do: one decimal, and only where it is needed.
func number(v *float64) string {
	if v == nil {
		return "?"
	}
	return strconv.FormatFloat(math.Round(*v*10)/10, 'f', -1, 64)
}

func duration(ms *float64) string {
	if ms == nil {
		return "?"
	}
	return (time.Duration(*ms) * time.Millisecond).String()
}

// MarshalJSON writes the alert together with its message and the ID of what was
// found.
func (a Alert) MarshalJSON() ([]byte, error) {
	type plain Alert
	return json.Marshal(struct {
		ID string `json:"id"`
		plain
		Message string `json:"message"`
	}{a.ID(), plain(a), a.Message()})
}

// sortAlerts puts the worst first and keeps the order of the rules otherwise.
func sortAlerts(alerts []Alert) {
	slices.SortStableFunc(alerts, func(a, b Alert) int { return cmp.Compare(b.Severity, a.Severity) })
}

// CriticalMessages are the messages of the alerts that are CRITICAL.
func CriticalMessages(alerts []Alert) (out []string) {
	for _, a := range alerts {
		if a.Severity >= Critical {
			out = append(out, a.Message())
		}
	}
	return out
}
