package detector

import "supervise/metric"

// ChangedLines are the lines of a file of product code that a change added or changed and that can be
// executed. Moved lines are not among them.
type ChangedLines struct {
	Path     string         `json:"path"` // in the project
	Lines    metric.LineSet `json:"lines,omitempty"`
	Executed metric.LineSet `json:"executed,omitempty"` // those that tests execute
	Changed  metric.LineSet `json:"-"`                  // all changed lines with code, those that cannot be executed alone as well
	// Unknown says why the lines are unknown, "" if they are known.
	Unknown string `json:"unknown,omitempty"`
}

// Untested returns the lines that no test executes.
func (c ChangedLines) Untested() metric.LineSet { return c.Lines.Minus(c.Executed) }
