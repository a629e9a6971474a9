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
	// Acknowledged is set if a person had accepted the finding.
	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`
	// Declared says that the user allowed the change in advance. The alert keeps its
	// severity and is listed for a person, but has no other effect.
	Declared bool `json:"declared,omitempty"`
}

// CountsAtLeast reports whether the alert has an effect and at least that severity.
func (a Alert) CountsAtLeast(limit Severity) bool { return a.Severity >= limit && !a.Declared }

// BlocksMerge reports whether the alert fails a merge gate by default: it is CRITICAL, or
// HIGH and based on more than a text. An acknowledged alert never blocks.
func (a Alert) BlocksMerge() bool {
	return a.Acknowledged == nil && (a.CountsAtLeast(Critical) || a.CountsAtLeast(High) && a.Basis.Proven())
}

// Values are the numbers and words of an alert. A number that does not apply is nil.
type Values struct {
	Prev      *float64 `json:"prev,omitempty"` // value in the measurement that Against names
	Curr      *float64 `json:"curr,omitempty"`
	Delta     *float64 `json:"delta,omitempty"`
	Baseline  *float64 `json:"baseline,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Name      string   `json:"name,omitempty"` // of the first test concerned
	Why       string   `json:"why,omitempty"`
	N         int      `json:"n,omitempty"`    // number of tests, lines or losses
	Gone      int      `json:"gone,omitempty"` // how many of those tests are missing, instead of failing
	Period    int      `json:"period,omitempty"`
	Path      string   `json:"path,omitempty"` // pattern of the part of the tree that the metrics cover; "" is all of it
}

// Message returns the message of the rule, filled with the values of the alert.
func (a Alert) Message() string {
	r, ok := FindRule(a.Rule)
	if !ok {
		return a.Rule
	}
	v, message := a.Values, r.Message
	if v.N > 0 {
		message = cmp.Or(r.lineMessage, message)
	}
	text := strings.NewReplacer(
		"{prev}", formatNumber(v.Prev), "{curr}", formatNumber(v.Curr), "{delta}", formatNumber(v.Delta),
		"{threshold}", formatNumber(v.Threshold), "{prev_time}", formatDuration(v.Prev), "{curr_time}", formatDuration(v.Curr),
		"{of}", v.pathSuffix(), "{fate}", v.outcomeText(), "{name}", v.names(), "{why}", v.Why, "{n}", strconv.Itoa(v.N),
	).Replace(message)
	if a.Against == AgainstBaseline {
		text += sinceBaseline
	}
	return text
}

// sinceBaseline ends the message of an alert against the baseline.
const sinceBaseline = " (since the baseline)"

// pathSuffix returns the text for {of}: " of PATTERN", or "" for the complete tree.
func (v Values) pathSuffix() string {
	if v.Path == "" {
		return ""
	}
	return " of " + v.Path
}

// outcomeText returns the text for {fate}: whether tests that passed before fail now or are gone.
func (v Values) outcomeText() string {
	switch v.Gone {
	case 0:
		return "now failing"
	case v.N:
		return "are gone"
	}
	return fmt.Sprintf("now failing (%d), or gone (%d)", v.N-v.Gone, v.Gone)
}

// names returns the text for {name}: the first test, and how many more there are.
func (v Values) names() string {
	if v.N > 1 {
		return fmt.Sprintf("%s (and %d more)", v.Name, v.N-1)
	}
	return v.Name
}

// formatNumber formats a value with at most one decimal, "?" if it is unknown.
func formatNumber(v *float64) string {
	if v == nil {
		return "?"
	}
	return strconv.FormatFloat(math.Round(*v*10)/10, 'f', -1, 64)
}

// formatDuration formats milliseconds as in "1.5s", "?" if they are unknown.
func formatDuration(ms *float64) string {
	if ms == nil {
		return "?"
	}
	return (time.Duration(*ms) * time.Millisecond).String()
}

// MarshalJSON adds the message and the ID of the finding to the fields.
func (a Alert) MarshalJSON() ([]byte, error) {
	type plain Alert
	return json.Marshal(struct {
		ID string `json:"id"`
		plain
		Message string `json:"message"`
	}{a.ID(), plain(a), a.Message()})
}

// sortAlerts puts the most severe first, and otherwise keeps the order of the rules.
func sortAlerts(alerts []Alert) {
	slices.SortStableFunc(alerts, func(a, b Alert) int { return cmp.Compare(b.Severity, a.Severity) })
}

// CriticalMessages returns the messages of the CRITICAL alerts.
func CriticalMessages(alerts []Alert) (out []string) {
	for _, a := range alerts {
		if a.Severity >= Critical {
			out = append(out, a.Message())
		}
	}
	return out
}
