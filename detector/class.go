package detector

import (
	"supervise/metric"
)

// Severity is that of an alert.
type Severity = metric.Severity

// The severities, in ascending order.
const (
	Info     = metric.Info
	Low      = metric.Low
	Medium   = metric.Medium
	High     = metric.High
	Critical = metric.Critical
)

// Class is the classification of an iteration.
type Class uint8

// The classes of an iteration.
const (
	Baseline   Class = iota + 1 // measured before any agent ran
	Forward                     // better than before
	Plateau                     // neither better nor worse
	Regression                  // worse than before
	Stalled                     // the last of several plateaus in a row
)

var classNames = metric.Names{Baseline: "baseline", Forward: "forward", Plateau: "plateau", Regression: "regression", Stalled: "stalled"}

// String returns the class in lower case.
func (c Class) String() string { return classNames.Name(int(c)) }

// MarshalText writes the class by name; it never fails.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a class by name. An unknown name is a
// [metric.UnknownNameError].
func (c *Class) UnmarshalText(text []byte) error {
	return classNames.Parse("classification", text, (*uint8)(c))
}

// Action is the reaction that an alert asks for.
type Action string

// The actions of the rules. AlertAndRollback rolls the iteration back if the alert is
// [Critical]. ForceTerminate and AskHuman end the loop. The others are informational.
const (
	AlertAndRollback Action = "immediate_alert_and_rollback"
	AlertAndFlag     Action = "alert_and_flag_iteration"
	AlertRegression  Action = "alert_regression"
	AlertAndReview   Action = "alert_and_review"
	AlertComplexity  Action = "alert_complexity"
	ForceTerminate   Action = "force_terminate"
	AskHuman         Action = "escalate"
	Note             Action = "note"
	Off              Action = "off" // the rule does not fire
)

// Actions lists the actions that a rule may have.
func Actions() []Action {
	return []Action{AlertAndRollback, AlertAndFlag, AlertRegression, AlertAndReview, AlertComplexity, ForceTerminate, AskHuman, Note, Off}
}

// RecommendedAction is what an assessment advises the loop to do.
type RecommendedAction string

// The recommendations.
const (
	Continue RecommendedAction = "continue"
	Stop     RecommendedAction = "stop"
	Rollback RecommendedAction = "rollback"
	Escalate RecommendedAction = "escalate"
)

// RollbackTarget says which tree a rollback returns to.
type RollbackTarget string

// The targets of a rollback.
const (
	ToStart RollbackTarget = "started" // the tree from which the iteration started
	ToBest  RollbackTarget = "best"    // the best tree so far, if there is one
)
