package recovery

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/approval"
)

// sameAtMost is how many attempts in a row may be undone for the same finding. The
// last of them is told to leave alone what was refused: it is not the same work again.
const sameAtMost = 3

// again corrects the step of a rejected iteration that was undone for the same finding
// as the one before. Either the agent does not understand the finding or the finding is
// wrong, and no further retry settles which. A person is asked, whatever the cause.
// Where there is none, one more attempt leaves alone what was refused, so that the rest
// of the task can be had; then the loop ends.
func again(step Step, s State, c Case, o Options) (Step, State) {
	same := repeated(c.Assessment.Alerts, c.Refused)
	if len(same) == 0 {
		s.RepeatedFindings = 0
		return step, s
	}
	s.RepeatedFindings++
	step.Ask, step.Why = approval.Regression, "the retry brought the same finding: "+same[0].Message()
	step.Strategy, step.Advice = LeaveAlone, leaveAlone(c)
	step.Phases = slices.Clone(step.Phases)
	step.Phases[len(step.Phases)-1].Text = string(LeaveAlone)
	if s.RepeatedFindings+1 >= sameAtMost {
		step.Why = fmt.Sprintf("%d attempts brought the same finding: %s", s.RepeatedFindings+1, same[0].Message())
		s.Retries = max(s.Retries, o.MaxRetries+1)
	}
	return step, s
}

// repeated returns the findings that undo an iteration and undid the one before. Tests
// that fail are none of them: code that is not right yet deserves all its retries.
func repeated(is, was []detector.Alert) []detector.Alert {
	return slices.DeleteFunc(slices.Clone(is), func(a detector.Alert) bool {
		return !refuses(a) || !slices.ContainsFunc(was, func(b detector.Alert) bool { return refuses(b) && sameFinding(a, b) })
	})
}

func refuses(a detector.Alert) bool {
	return a.Severity == detector.Critical && a.Action == detector.AlertAndRollback && a.Acknowledged == nil &&
		a.Type != "functionality_loss" && !a.IsAboutHiddenTests()
}

// sameFinding reports whether two findings are of one rule and about the same tests or
// files. Another attempt may touch more or fewer of them.
func sameFinding(a, b detector.Alert) bool {
	switch {
	case a.Rule != b.Rule:
		return false
	case a.ID() == b.ID():
		return true
	}
	return overlap(a.Tests, b.Tests) || overlap(a.Files, b.Files)
}

func overlap[T comparable](a, b []T) bool {
	return slices.ContainsFunc(a, func(x T) bool { return slices.Contains(b, x) })
}

// leaveAlone is what the next prompt says after the same finding came twice.
func leaveAlone(c Case) string {
	what := "what was refused"
	if files := c.Evidence.Refused; len(files) > 0 {
		const most = 5
		what = strings.Join(files[:min(len(files), most)], ", ")
		if len(files) > most {
			what += " and the other files that were refused"
		}
	}
	return "Two attempts in a row were undone for the same finding. " +
		"Leave " + what + " exactly as it is now, and do the rest of the task. " +
		"If the task cannot be done so, or what was refused has to change, change nothing and say why with `supervise blocked`."
}
