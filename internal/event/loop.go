package event

import (
	"fmt"
	"time"

	"supervise/internal/approval"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/selector"
)

// Started is the data of loop_started.
type Started struct {
	Dir           string       `json:"dir"`
	Plan          measure.Plan `json:"plan"`
	Agent         []string     `json:"agent"`
	MaxIterations int          `json:"max_iterations"`
	Settings      string       `json:"settings_sha256"` // of settings.json
	Steps         *int         `json:"steps,omitempty"` // maximum iterations of this process; nil means all
}

// Resumed is the data of loop_resumed: a new process continues the loop.
type Resumed struct {
	Dir       string       `json:"dir"`
	Plan      measure.Plan `json:"plan"`
	Agent     []string     `json:"agent"`
	Iteration int          `json:"iteration"` // the first one of this process
	From      string       `json:"from"`      // its first action, in words
	Max       int          `json:"max_iterations"`
	Steps     *int         `json:"steps,omitempty"` // maximum iterations of this process; nil means all

	History []ledger.Iteration `json:"-"`
}

// Orphans is the data of orphans_killed: processes that a dead supervisor left running.
type Orphans struct {
	Names []string `json:"names"`
}

// Damage is the data of log_damaged.
type Damage struct {
	Problems []string `json:"problems"`
}

// TreeChange is the data of tree_changed: the tree differed from what the loop had left. It
// is kept as the snapshot Kept, and Restored is restored.
type TreeChange struct {
	Kept     string `json:"kept_snapshot"`
	Restored string `json:"restored_snapshot"`
	Files    int    `json:"files"`
}

// Crash is the data of crash_found: an earlier loop of this tree was killed.
type Crash struct {
	LoopID    string           `json:"loop_id"`
	Iteration int              `json:"iteration"`
	Restored  bool             `json:"restored"`       // an interrupted restore is finished now
	LoopEnded bool             `json:"over,omitempty"` // the loop had ended, and its rollback was killed
	Trees     RecoverableTrees `json:"trees"`          // snapshots of what is no longer in the tree
}

// RecoverableTrees are the snapshots of a killed loop that may contain lost work, by name (sN). "" means none.
type RecoverableTrees struct {
	Before string `json:"before,omitempty"` // before the last iteration, or before the loop
	Left   string `json:"left,omitempty"`   // left by the agent
	Kept   string `json:"kept,omitempty"`   // before an interrupted restore
}

// Commands returns a line for each tree: what it contains, and the command that restores it.
func (t RecoverableTrees) Commands(self, loop string) (out []string) {
	for _, row := range []struct{ name, what string }{{t.Before, "the tree before it"}, {t.Left, "what the agent left"}, {t.Kept, "what was there before the restore"}} {
		if row.name != "" {
			out = append(out, fmt.Sprintf("%s: %s rollback %s %s", row.what, self, loop, row.name))
		}
	}
	return out
}

// Interruption is the data of iteration_interrupted.
type Interruption struct {
	Kept      string           `json:"kept_snapshot"`
	Changed   int              `json:"changed_files"`
	Iteration ledger.Iteration `json:"-"`
}

// Check is the data of check_started and check_finished.
type Check struct {
	Name       string `json:"name"`
	Command    string `json:"command"`
	Done       bool   `json:"done"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"`
	Why        string `json:"why,omitempty"` // why it counts as not measured
}

// Baseline is the data of baseline_measured.
type Baseline struct {
	Progress       ledger.Progress   `json:"metrics"`
	Criterion      string            `json:"criterion"`
	Files          int               `json:"files"`         // in the snapshot
	Skipped        []string          `json:"skipped"`       // files not in the snapshot, each with the reason
	NotKept        []string          `json:"not_kept"`      // ignored files not in the snapshot, because tools regenerate them
	CheckOutputs   []string          `json:"check_outputs"` // files that the checks write
	Flaky          []string          `json:"flaky"`         // tests with two outcomes
	UnusedSettings []string          `json:"settings_without_effect"`
	Uncommitted    []string          `json:"uncommitted_tests,omitempty"` // findings in changes since HEAD
	Checks         []ledger.CheckRun `json:"checks"`
	Iteration      ledger.Iteration  `json:"-"`
}

// SealedTests is the data of tests_sealed: a share of the failing tests was taken out of the tree.
type SealedTests struct {
	Tests     int `json:"tests"`
	Failing   int `json:"failing"`              // before
	Files     int `json:"files"`                // they were in
	InHistory int `json:"in_history,omitempty"` // files that git has at HEAD with the sealed tests
}

// RestoredTests is the data of sealed_restored: the sealed tests are in the tree again.
type RestoredTests struct {
	LoopID string   `json:"loop_id,omitempty"` // the loop that sealed them; "" for this one
	Tests  int      `json:"tests"`
	Files  []string `json:"files,omitempty"` // they were restored into
	Kept   []string `json:"kept,omitempty"`  // originals of files that were rewritten or deleted, next to these
	Found  []string `json:"found,omitempty"` // files into which the agent had restored them itself
	// Uncommitted is how many files HEAD had with the sealed tests before the loop and has without them.
	Uncommitted int `json:"uncommitted,omitempty"`
}

// LevelChange is the data of reinforcement_changed.
type LevelChange struct {
	From string `json:"from_level"` // "" before the first iteration
	To   string `json:"to_level"`
	Why  string `json:"reason"`
}

// IterationStart is the data of iteration_started.
type IterationStart struct {
	Max   int    `json:"max_iterations"`
	Level string `json:"reinforcement_level"`
	Why   string `json:"why"`
	// Points are the reminders that the prompt contains in addition to the task.
	Points []string `json:"points"`
	Hints  []string `json:"hints,omitempty"` // from a person
	Budget Budget   `json:"-"`
}

// Budget is what a loop may use in total, and what it has used so far. A zero limit means no
// limit.
type Budget struct {
	Deadline   time.Time
	MaxCost    float64 // in US dollars
	MaxTokens  int64
	UsedCost   *float64 // nil if the agent reports none
	UsedTokens *int64
	MaxWindow  float64 // share of a usage window of the agent's service, in percent
	UsedWindow *float64
}

// IterationEnd is the data of iteration_finished.
type IterationEnd struct {
	Progress  ledger.Progress  `json:"metrics"`
	Rejected  bool             `json:"rejected"`
	Verified  bool             `json:"verified"`
	Changed   int              `json:"changed_files"`
	ElapsedMS int64            `json:"elapsed_ms"`
	Next      string           `json:"next"` // continue, retry, stop, escalate
	Reason    string           `json:"reason"`
	Iteration ledger.Iteration `json:"-"`
}

// Rejection is the data of iteration_rejected.
type Rejection struct {
	Reasons  []string `json:"reasons"`
	Tests    []string `json:"tests"`
	Kept     string   `json:"kept_snapshot"` // snapshot of the rejected tree
	Restored int      `json:"restored_iteration"`
	Retry    int      `json:"retry"`
	Max      int      `json:"max_retries"`
	Cause    string   `json:"diagnosis"`
}

// SelectedOutput is the data of output_selected.
type SelectedOutput struct {
	Choice  selector.Selection `json:"selection"`
	Applied bool               `json:"applied"`
}

// SelectionChange is the data of selection_changed: a user made another choice.
type SelectionChange struct {
	Choice   selector.Selection `json:"selection"`
	Previous *int               `json:"selected_before"` // nil if there was no selection
	By       string             `json:"by"`              // user name
	// Weights replace those of the loop.
	Weights map[string]float64 `json:"weights,omitempty"`
}

// Automatic returns the choice if it follows from the settings of the loop, otherwise nil.
func (c SelectionChange) Automatic() *selector.Selection {
	isManual := c.Choice.Override != nil && c.Choice.Override.Kind != selector.UseBest
	if isManual || len(c.Weights) > 0 {
		return nil
	}
	return &c.Choice
}

// AppliedSelection is the data of selection_applied: a user restored the selected tree.
type AppliedSelection struct {
	Snapshot string `json:"snapshot"`
	Kept     string `json:"kept_snapshot"` // the tree before the restore
	By       string `json:"by"`
}

// LoopEnd is the data of loop_finished.
type LoopEnd struct {
	Reason   Reason `json:"reason"`
	Text     string `json:"text"`
	ExitCode int    `json:"exit_code"`
	Report   string `json:"report,omitempty"`
	// Iterations is the number of iterations of the loop. Best is the selected iteration, or
	// the best so far, and Score its score in [0,1]; both are nil if there is none. In a loop
	// of candidates, candidates take the place of iterations.
	Iterations int      `json:"iterations"`
	Best       *int     `json:"best_iteration,omitempty"`
	Score      *float64 `json:"quality_score,omitempty"`
	// Safe is the name (sN) of the snapshot that a further iteration starts from, "" if there
	// is none.
	Safe string `json:"safe_snapshot,omitempty"`
	// Spending is nil if the agent reported none.
	Spending *ledger.Spending `json:"spending,omitempty"`
	// Declared are findings that the user allowed in advance, for a person to read.
	Declared ledger.Declarations `json:"declared,omitempty"`
	// Tree is nil if nothing was restored at the end.
	Tree *TreeState `json:"tree,omitempty"`
}

// ApprovalRequest is the data of approval_requested: the loop waits for a person.
type ApprovalRequest struct {
	Question approval.Question `json:"question"`
	Terminal bool              `json:"terminal"` // the question is also asked on the terminal
	Self     string            `json:"-"`        // the command line that calls supervise
}

// Refusal is the data of approval_answer_refused: an invalid answer.
type Refusal struct {
	Why string `json:"why"`
}
