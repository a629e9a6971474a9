package detector

import "supervise/metric"

// ChangeUntested is the rule about changed lines that no test executes.
const ChangeUntested = "change_untested"

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

// IsAboutNew reports whether the alert is about new code that is not tested well, which is no loss.
func (a Alert) IsAboutNew() bool {
	r, _ := FindRule(a.Rule)
	return r.AboutNew
}

// changeUntested lists the changed lines that no test executes. It compares with the base of the loop or
// the change, not with the previous iteration.
func changeUntested(j *judge, _ comparison, r appliedRule) []finding {
	f := finding{}
	var lines, untested int64
	var where []string
	for _, c := range j.in.ChangedLines {
		lines += c.Lines.Count()
		if missed := c.Untested(); missed != "" {
			untested += missed.Count()
			f.files, where = append(f.files, c.Path), append(where, c.Path+":"+string(missed))
		}
	}
	if float64(untested) <= r.threshold() {
		return nil
	}
	f.values = Values{N: int(untested), Curr: new(float64(lines)), Why: joinFirst(where)}
	return single(f)
}
