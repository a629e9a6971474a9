package detector

import "supervise/metric"

// The rules about faults in the lines of a change that tests do not notice.
const (
	ChangeUnguarded    = "change_unguarded"
	TestsNoticeNothing = "tests_notice_nothing"
	GoalNoticesNothing = "goal_notices_nothing"
)

// Unguarded is a finding about mutants of changed lines that tests do not notice.
type Unguarded struct {
	Rule  string      `json:"rule"`
	Tests []metric.ID `json:"tests,omitempty"`
	Files []string    `json:"files"`
	Why   string      `json:"why"`
	// AcceptedBefore says that an earlier, accepted iteration has the same finding, which is open.
	AcceptedBefore bool `json:"known,omitempty"`
}

// unguarded makes the findings of a rule about mutants of the change.
func unguarded(j *judge, _ comparison, r appliedRule) []finding {
	var out []finding
	for _, x := range j.in.Unguarded {
		if x.Rule == r.Name && !x.AcceptedBefore {
			out = append(out, finding{tests: x.Tests, files: x.Files, values: Values{Why: x.Why}})
		}
	}
	return out
}
