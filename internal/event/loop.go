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
	Steps         *int         `json:"steps,omitempty"` // iterations that this process does at most; nil: all
}

// Resumed is the data of loop_resumed: the loop goes on after its supervisor
// ended.
type Resumed struct {
	Dir       string       `json:"dir"`
	Plan      measure.Plan `json:"plan"`
	Agent     []string     `json:"agent"`
	Iteration int          `json:"iteration"` // that it goes on with
	From      string       `json:"from"`      // what it does first
	Max       int          `json:"max_iterations"`
	Steps     *int         `json:"steps,omitempty"` // iterations that this process does at most; nil: all

	History []ledger.Iteration `json:"-"`
}

// Orphans is the data of orphans_killed: what a dead supervisor had left
// running.
type Orphans struct {
	Names []string `json:"names"`
}

// Damage is the data of log_damaged.
type Damage struct {
	Problems []string `json:"problems"`
}

// TreeChange is the data of tree_changed: the tree was not what the loop had
// left, and is put back to Restored. What it was is kept.
type TreeChange struct {
	Kept     string `json:"kept_snapshot"`
	Restored string `json:"restored_snapshot"`
	Files    int    `json:"files"`
}

// Crash is the data of crash_found: an earlier loop of this tree was killed.
type Crash struct {
	LoopID    string           `json:"loop_id"`
	Iteration int              `json:"iteration"`
	Restored  bool             `json:"restored"`       // a restore was interrupted, which is finished now
	LoopEnded bool             `json:"over,omitempty"` // the loop was over: a rollback was interrupted
	Trees     RecoverableTrees `json:"trees"`          // how to get back what is not in the tree
}

// RecoverableTrees are the snapshots of a killed loop, as sN, that may hold what its tree does not; "" where there is none.
type RecoverableTrees struct {
	Before string `json:"before,omitempty"` // the last iteration, or the loop
	Left   string `json:"left,omitempty"`   // by the agent
	Kept   string `json:"kept,omitempty"`   // from before a restore that was interrupted
}

// Commands are the commands that restore them, with what they give.
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
	Skipped        []string          `json:"skipped"`       // not in the snapshot, and why
	NotKept        []string          `json:"not_kept"`      // ignored, and not in the snapshot, since tools make it anew
	CheckOutputs   []string          `json:"check_outputs"` // files that the checks themselves make
	Flaky          []string          `json:"flaky"`         // tests with two outcomes
	UnusedSettings []string          `json:"settings_without_effect"`
	Checks         []ledger.CheckRun `json:"checks"`
	Iteration      ledger.Iteration  `json:"-"`
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
	// Points are what the prompt says beside the task.
	Points []string `json:"points"`
	Hints  []string `json:"hints,omitempty"` // of a person
	Budget Budget   `json:"-"`
}

// Budget is what a loop may use in all, zero without a limit, and has used so far.
type Budget struct {
	Deadline   time.Time // zero: no limit of time
	MaxCost    float64   // in US dollars
	MaxTokens  int64
	UsedCost   *float64 // nil where the agent reports none
	UsedTokens *int64
	MaxWindow  float64 // of a window of the agent's service, in percent
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
	Kept     string   `json:"kept_snapshot"` // where the rejected tree can be found
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

// SelectionChange is the data of selection_changed: somebody chose anew.
type SelectionChange struct {
	Choice   selector.Selection `json:"selection"`
	Previous *int               `json:"selected_before"` // nil when nothing was
	By       string             `json:"by"`              // user name
	// Weights are those that somebody wanted instead of the loop's.
	Weights map[string]float64 `json:"weights,omitempty"`
}

// Automatic is the choice if it follows from the settings of the loop, else nil.
func (r SelectionChange) Automatic() *selector.Selection {
	if o := r.Choice.Override; len(r.Weights) > 0 || o != nil && o.Kind != selector.UseBest {
		return nil
	}
	return &r.Choice
}

// AppliedSelection is the data of selection_applied: the tree of the selection was put
// back by hand.
type AppliedSelection struct {
	Snapshot string `json:"snapshot"`
	Kept     string `json:"kept_snapshot"` // the tree as it was
	By       string `json:"by"`
}

// Verification is the data of output_verified: whether the selected tree gave
// the same numbers when it was measured anew.
type Verification struct {
	Confirmed   bool     `json:"confirmed"`
	Differences []string `json:"differences"`
	// Goals is nil where nothing about tests changed in the loop.
	Goals *ledger.Goals `json:"goals,omitempty"`
	// Hidden is nil where the loop has no hidden tests.
	Hidden *ledger.Hidden `json:"hidden_tests,omitempty"`
}

// LoopEnd is the data of loop_finished.
type LoopEnd struct {
	Reason   Reason `json:"reason"`
	Text     string `json:"text"`
	ExitCode int    `json:"exit_code"`
	Report   string `json:"report,omitempty"`
	// Iterations is how many the loop has done in all, and Best the one that was selected, or
	// is the best so far, with its score in [0,1]; nil where there is none. Of a loop of
	// candidates these are the candidates.
	Iterations int      `json:"iterations"`
	Best       *int     `json:"best_iteration,omitempty"`
	Score      *float64 `json:"quality_score,omitempty"`
	// Safe is the snapshot, as sN, that a further iteration starts from; "" where none was taken.
	Safe string `json:"safe_snapshot,omitempty"`
	// Spending is nil where the agent reported none.
	Spending *ledger.Spending `json:"spending,omitempty"`
	// Declared are findings that the user let happen, for a person to read.
	Declared ledger.Declarations `json:"declared,omitempty"`
	// Tree is nil where nothing was restored at the end.
	Tree *TreeState `json:"tree,omitempty"`
}

// ApprovalRequest is the data of approval_requested: the loop waits for a person.
type ApprovalRequest struct {
	Question approval.Question `json:"question"`
	Terminal bool              `json:"terminal"` // it is asked there as well
	Self     string            `json:"-"`
}

// Refusal is the data of approval_answer_refused: an answer that did not count.
type Refusal struct {
	Why string `json:"why"`
}
