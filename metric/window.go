package metric

import (
	"fmt"
	"strings"
	"time"
)

// Window is how much is used of what a service gives in a time, as its client reports it.
type Window struct {
	Name  string    `json:"name,omitempty"`     // the client's own, like five_hour
	Used  float64   `json:"used_percent"`       // of it, in percent
	Reset time.Time `json:"resets_at,omitzero"` // when it is given again; zero if the client did not say
}

// HasReset reports whether the window is given again, as far as the client says.
func (w Window) HasReset(now time.Time) bool { return !w.Reset.IsZero() && !w.Reset.After(now) }

// String returns it for people: 85% of the five hour window.
func (w Window) String() string {
	name := strings.ReplaceAll(w.Name, "_", " ")
	if name != "" {
		name += " "
	}
	return fmt.Sprintf("%.4g%% of the %swindow", w.Used, name)
}
