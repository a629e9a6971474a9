package agent

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/metric"
)

// Window is how much is used of what a service gives in a time.
type Window = metric.Window

// WindowRule are the paths by which an event tells how much of a window is used.
type WindowRule struct {
	// how the program calls the window
	Name Path `yaml:"name"`
	// of how long it is, in minutes, where it has no name
	Minutes Path `yaml:"minutes"`
	// of what is used, in percent
	Used Path `yaml:"used"`
	// of when it is given anew: seconds since 1970, or a text
	Resets Path `yaml:"resets"`
}

// apply notes what the event tells, if it does.
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

// windowName names a window by its minutes: 5_hour.
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

// maxName bounds the name of a window, in bytes.
const maxName = 40

// setWindow notes a window, in place of what was told of it before, unless that is none that can
// be. The list is a new one: a report that was passed on keeps its own.
func (r *Report) setWindow(w Window) {
	if !(w.Used >= 0) || math.IsInf(w.Used, 0) {
		return
	}
	if year := w.Reset.UTC().Year(); year < 1970 || year > 9000 { // JSON holds four digits
		w.Reset = time.Time{}
	}
	name := StripEscapes(w.Name)
	w.Name = strings.ToValidUTF8(name[:min(len(name), maxName)], "")
	others := slices.DeleteFunc(slices.Clone(r.Windows), func(v Window) bool { return v.Name == w.Name })
	r.Windows = append(others, w)
}

// Window returns the window of which most is used, nil where none was told that is not
// given anew before now.
func (r Report) Window(now time.Time) *Window {
	var most *Window
	for _, w := range r.Windows {
		if !w.HasReset(now) && (most == nil || w.Used > most.Used) {
			most = &w
		}
	}
	return most
}

// ReportsWindows reports whether the program tells how much of a window is used. Others who
// print what claude does tell none.
func (p Preset) ReportsWindows() bool {
	isClaude := p.Events.Dialect == "claude" && (p.Name == "claude" || p.Base == "claude")
	return isClaude || slices.ContainsFunc(slices.Concat(p.Events.Rules, p.Lines, p.Log.Events), func(r Rule) bool { return r.Window.Used != "" })
}
