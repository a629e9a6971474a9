package results

import (
	"fmt"
	"strings"
	"time"

	"supervise/internal/ack"
	"supervise/internal/report"
)

// Ack is an acknowledgement, with its ID and whether it has expired.
type Ack struct {
	ID string `json:"id"`
	ack.Entry
	Expired bool `json:"expired"`
}

// NewAck returns the acknowledgement of an entry at the time now.
func NewAck(e ack.Entry, now time.Time) Ack { return Ack{e.ID(), e, e.Expired(now)} }

// PrintAck prints an acknowledgement as one line of a list.
func (t Printer) PrintAck(a Ack) {
	t.printLine("%s  %-22s  %s  %s: %s", a.ID, a.Rule, validity(a), coverageOf(a.Entry), a.Reason)
}

// PrintAcknowledged prints an acknowledgement that was written to the file at path. replaced says
// that an earlier entry was overwritten.
func (t Printer) PrintAcknowledged(a Ack, replaced bool, path string) {
	what := report.Either(replaced, "acknowledged again, the earlier entry is replaced", "acknowledged")
	t.printLine("%s: %s %s, %s, %s", what, a.ID, a.Rule, coverageOf(a.Entry), validity(a))
	t.printLine("it counts in loops that start from now on; commit %s", path)
}

// validity says until when an acknowledgement counts.
func validity(r Ack) string {
	text := "until " + r.Expires
	switch {
	case r.Expired:
		text = "EXPIRED " + r.Expires
	case r.Expires == ack.Never:
		text = "forever"
	case r.Expires == "":
		text = "from " + r.Date
	}
	text += report.Either(r.FalsePositive, ", false positive", "")
	return text
}

// coverageOf says which findings an acknowledgement covers.
func coverageOf(e ack.Entry) string {
	switch {
	case e.Path != "":
		return "all in " + e.Path
	case len(e.Tests) > 0:
		return strings.Join(report.Truncate(e.Tests, 5), ", ")
	case e.UpTo != nil:
		return fmt.Sprintf("this finding, up to %v", *e.UpTo)
	case e.Finding != "":
		return "this finding"
	}
	return "all of the rule"
}
