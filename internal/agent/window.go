package agent

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/metric"
)

// Window is how much is used of a service's quota for a period.
type Window = metric.Window

// WindowRule has the paths of an event's values about a window.
type WindowRule struct {
	// the name of the window
	Name Path `yaml:"name"`
	// its length in minutes, if it has no name
	Minutes Path `yaml:"minutes"`
	// the used share, in percent
	Used Path `yaml:"used"`
	// when it is reset: seconds since 1970, or a text
	Resets Path `yaml:"resets"`
}

// apply records the window in an event. It does nothing if the event has no used share.
func (t WindowRule) apply(event map[string]any, to *Report) {
	used, ok := t.Used.number(event)
	if !ok {
		return
	}
	w := Window{Name: t.Name.text(event), Used: used}
	if n, ok := t.Minutes.number(event); ok {
		w.Name = windowName(int(n))
	}
	if at, ok := t.Resets.number(event); ok {
		w.Reset = time.Unix(int64(at), 0)
	} else if text := t.Resets.text(event); text != "" {
		now := time.Now()
		w.Reset = now.Add(ParseReset("resets at: " + text).Wait(now))
	}
	to.setWindow(w)
}

// windowName returns the name of a window of a length in minutes, like 5_hour for 300.
func windowName(minutes int) string {
	for _, u := range []struct {
		minutes int
		name    string
	}{{24 * 60, "day"}, {60, "hour"}} {
		if minutes > 0 && minutes%u.minutes == 0 {
			return strconv.Itoa(minutes/u.minutes) + "_" + u.name
		}
	}
	return strconv.Itoa(minutes) + "_minute"
}

// maxName limits the name of a window, in bytes.
const maxName = 40

// setWindow records a window in place of an earlier one of the same name. It ignores a used
// share that is impossible, and a time that JSON cannot represent. It makes a new list,
// because copies of the report share the old one.
func (r *Report) setWindow(w Window) {
	if !(w.Used >= 0) || math.IsInf(w.Used, 0) {
		return
	}
	if year := w.Reset.UTC().Year(); year < 1970 || year > 9000 { // JSON has four digits
		w.Reset = time.Time{}
	}
	name := StripEscapes(w.Name)
	w.Name = strings.ToValidUTF8(name[:min(len(name), maxName)], "")
	others := slices.DeleteFunc(slices.Clone(r.Windows), func(v Window) bool { return v.Name == w.Name })
	r.Windows = append(others, w)
}

// Window returns the window with the largest used share among those that were not reset before
// now; nil if there is none.
func (r Report) Window(now time.Time) *Window {
	var most *Window
	for _, w := range r.Windows {
		if !w.HasReset(now) && (most == nil || w.Used > most.Used) {
			most = &w
		}
	}
	return most
}

// ReportsWindows reports whether the program reports how much of a window is used. Other
// programs with the dialect of claude do not.
func (p Preset) ReportsWindows() bool {
	isClaude := p.Events.Dialect == "claude" && (p.Name == "claude" || p.Base == "claude")
	return isClaude || slices.ContainsFunc(slices.Concat(p.Events.Rules, p.Lines, p.Log.Events), func(r Rule) bool { return r.Window.Used != "" })
}
