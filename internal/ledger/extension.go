package ledger

import (
	"time"

	"supervise/detector"
)

// Failure is an error in an iteration.
type Failure struct {
	Timestamp time.Time `json:"timestamp"`
	Iteration int       `json:"iteration"`
	Type      string    `json:"error_type"` // agent, build, reported
	Message   string    `json:"error_message"`
}

// CompletionCheck records whether the criterion was met after an iteration.
type CompletionCheck struct {
	Timestamp time.Time `json:"timestamp"`
	Iteration int       `json:"iteration"`
	Met       bool      `json:"met"`
}

// Extension is the part of a state about errors, tool calls and detection.
type Extension struct {
	Detection  bool              `json:"detection_enabled"` // the loop is active and rules apply
	Recovering bool              `json:"recovery_in_progress"`
	Stuck      bool              `json:"stuck_loop_detected"`
	ErrorCount int               `json:"error_count"`
	LastError  *Failure          `json:"last_error"`
	Errors     []Failure         `json:"error_history"`
	Completion []CompletionCheck `json:"completion_checks"`
	Risky      []ToolCall        `json:"risky_actions"`
	ToolCalls  []ToolCall        `json:"tool_call_history"`
	ReportPath string            `json:"completion_report_path,omitempty"`
}

// addIteration adds the errors and the completion check of an iteration.
func (x *Extension) addIteration(it Iteration) {
	x.Stuck = x.Stuck || it.Assessment.Stuck != nil
	if kind, text := it.failure(); text != "" {
		x.ErrorCount++
		x.LastError = &Failure{it.EndedAt, it.Number, kind, text}
		x.Errors = append(x.Errors, *x.LastError)
	}
	if d := it.Decision; d != nil && d.Criterion != nil {
		x.Completion = append(x.Completion, CompletionCheck{it.EndedAt, it.Number, *d.Criterion})
	}
}

// failure returns the kind and text of the error of the iteration, "" if it had none.
func (it Iteration) failure() (kind, text string) {
	switch b := it.Set.Build; {
	case it.Recorded != nil && it.Recorded.Error != "":
		return "reported", it.Recorded.Error
	case it.Agent != nil && it.Agent.effectiveExitCode() != 0:
		return "agent", it.Agent.LastOutput
	case b != nil && b.FirstError != "":
		return "build", b.FirstError
	}
	return "", ""
}

// withDerived returns the state with the fields that follow from the others. report is the
// path of the completion report, "" if there is none.
func (s State) withDerived(report string) State {
	over := s.Status.IsOver()
	s.Detection = !over && s.Config.Mode != string(detector.ModeOff)
	n := len(s.History)
	s.Recovering = !over && n > 0 && s.History[n-1].Rejected
	s.ReportPath = ""
	if over {
		s.ReportPath = report
	}
	s.Errors, s.Completion = append([]Failure{}, keepLatest(s.Errors)...), append([]CompletionCheck{}, keepLatest(s.Completion)...)
	return s
}
