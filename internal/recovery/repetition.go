package recovery

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/approval"
)

// maxSameFinding is how many consecutive attempts may be rolled back for the same finding.
// The prompt of the last one tells the agent not to touch the refused files.
const maxSameFinding = 3

// handleRepeatedFinding corrects the step of an iteration that is rejected for the same
// finding as the previous one. Either the agent does not understand the finding or the
// finding is wrong, and further retries cannot settle which. So a person is asked, whatever
// the cause. Without a person, one more attempt leaves the refused files unchanged to do the
// remaining task; then the loop ends.
func handleRepeatedFinding(step Step, s State, c Case, o Options) (Step, State) {
	same := repeatedAlerts(c.Assessment.Alerts, c.Refused)
	if len(same) == 0 {
		s.RepeatedFindings = 0
		return step, s
	}
	s.RepeatedFindings++
	step.Ask, step.Why = approval.Regression, "the retry brought the same finding: "+same[0].Message()
	step.Strategy, step.Advice = LeaveAlone, leaveAloneAdvice(c)
	step.Phases = slices.Clone(step.Phases)
	step.Phases[len(step.Phases)-1].Text = string(LeaveAlone)
	if s.RepeatedFindings+1 >= maxSameFinding {
		step.Why = fmt.Sprintf("%d attempts brought the same finding: %s", s.RepeatedFindings+1, same[0].Message())
		s.Retries = max(s.Retries, o.MaxRetries+1)
	}
	return step, s
}

// repeatedAlerts returns the findings that roll back an iteration and rolled back the
// previous one. Failing tests are excluded: unfinished code deserves all its retries.
func repeatedAlerts(current, previous []detector.Alert) []detector.Alert {
	return slices.DeleteFunc(slices.Clone(current), func(a detector.Alert) bool {
		return !causesRollback(a) || !slices.ContainsFunc(previous, func(b detector.Alert) bool { return causesRollback(b) && sameFinding(a, b) })
	})
}

// causesRollback reports whether a finding rolls back an iteration for another reason than
// failing or hidden tests.
func causesRollback(a detector.Alert) bool {
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
	return haveCommon(a.Tests, b.Tests) || haveCommon(a.Files, b.Files)
}

func haveCommon[T comparable](a, b []T) bool {
	return slices.ContainsFunc(a, func(x T) bool { return slices.Contains(b, x) })
}

// leaveAloneAdvice returns the advice after two equal findings.
func leaveAloneAdvice(c Case) string {
	what := "what was refused"
	if files := c.Evidence.Refused; len(files) > 0 {
		const most = 5
		what = strings.Join(files[:min(len(files), most)], ", ")
		if len(files) > most {
			what += " and the other files that were refused"
		}
	}
	return "Two attempts in a row were rolled back for the same finding. " +
		"Leave " + what + " exactly as it is now, and do the rest of the task. " +
		"If the task cannot be done so, or what was refused has to change, change nothing and say why with `supervise blocked`."
}
